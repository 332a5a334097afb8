// The response: status, time, size, headers and body. The body never runs: it is shown as text, as a picture, or offered as a file.
var mostBytes = 20e6;
/** @typedef {{ response: Response, bytes: Uint8Array<ArrayBuffer>, isWhole: boolean, milliseconds: number }} ApiAnswer */
/** Reads up to 20 MB. If reading ends early, the received bytes are kept. @param {Response} response @returns {Promise<{ bytes: Uint8Array<ArrayBuffer>, isWhole: boolean }>} */
async function bodyOf(response) {
  /** @type {Uint8Array[]} */
  var chunks = [];
  var length = 0;
  var isWhole = true;
  if (response.body) {
    var reader = response.body.getReader();
    try {
      for (var next = await reader.read(); !next.done; next = await reader.read()) {
        chunks.push(next.value);
        length += next.value.length;
        if (length > mostBytes) {
          isWhole = false;
          reader.cancel().catch(function () {});
          break;
        }
      }
    } catch (error) {
      // A connection that fails before the first byte is an error.
      if (length === 0) throw error;
      isWhole = false;
    }
  }
  var bytes = new Uint8Array(length);
  var at = 0;
  chunks.forEach(function (chunk) {
    bytes.set(chunk, at);
    at += chunk.length;
  });
  return { bytes: bytes, isWhole: isWhole };
}
/** @param {number} value @param {string} unit */
function measured(value, unit) {
  var digits = unit === 'kilobyte' || unit === 'megabyte' ? 1 : 0;
  var format = { style: 'unit', unit: unit, unitDisplay: 'short', maximumFractionDigits: digits };
  return new Intl.NumberFormat(document.documentElement.lang, /** @type {any} */ (format)).format(value);
}
/** @param {number} bytes */
function sizeOf(bytes) {
  if (bytes < 1000) return measured(bytes, 'byte');
  return bytes < 1e6 ? measured(bytes / 1000, 'kilobyte') : measured(bytes / 1e6, 'megabyte');
}
/** @param {ApiAnswer} answer @returns {HTMLElement[]} */
function answerElements(answer) {
  var response = answer.response;
  var line = make('p', 'playground-status');
  var kind = response.status < 300 ? 'good' : response.status < 400 ? 'warn' : 'bad';
  var status = make('bdi', 'playground-code-of-status ' + kind, (response.status + ' ' + response.statusText).trim());
  line.append(
    status,
    make('span', '', measured(answer.milliseconds, 'millisecond')),
    make('span', '', sizeOf(answer.bytes.length)),
  );
  if (response.redirected) {
    var place = make('bdi', 'playground-place', '→ ' + response.url);
    place.dir = 'ltr';
    line.append(place);
  }
  return [line, headersOf(response), ...bodyElements(answer)];
}
/** @param {Response} response */
function headersOf(response) {
  var details = make('details', 'playground-headers');
  var table = make('table');
  response.headers.forEach(function (value, name) {
    var row = make('tr');
    var head = make('th', '', name);
    head.scope = 'row';
    row.append(head, make('td', '', value));
    table.append(row);
  });
  details.append(make('summary', '', words.headers), table, make('p', 'playground-help', words.visibleHeaders));
  return details;
}
/** @param {ApiAnswer} answer @returns {HTMLElement[]} */
function bodyElements(answer) {
  var bytes = answer.bytes;
  if (bytes.length === 0) return [make('p', 'playground-help', words.noBody)];
  var type = answer.response.headers.get('content-type') || '';
  var mimeType = type.split(';')[0].trim().toLowerCase();
  var note = answer.isWhole ? [] : [make('p', 'playground-help', words.onlyBeginning)];
  var download = downloadLink(bytes, mimeType, answer.response.url);
  if (/^image\/(png|jpeg|gif|webp|avif|svg\+xml)$/.test(mimeType) && answer.isWhole && bytes.length < 5e6) {
    var picture = make('img', 'playground-picture');
    picture.alt = words.response;
    var reader = new FileReader();
    reader.onload = function () {
      picture.src = /** @type {string} */ (reader.result);
    };
    reader.readAsDataURL(new Blob([bytes], { type: mimeType }));
    return [...note, picture, download];
  }
  var text = textOf(bytes, type);
  if (text === undefined) return [...note, download];
  var shown = shownText(text);
  if (!shown.isWhole) note = [make('p', 'playground-help', words.onlyBeginning)];
  var block = codeBlock();
  if (/json/.test(mimeType) || /^\s*[[{]/.test(text)) colourJson(block.code, shown.text);
  else block.code.textContent = shown.text;
  return [...note, block.element, download];
}
/** The bytes as text; undefined if they are not text. @param {Uint8Array} bytes @param {string} type */
function textOf(bytes, type) {
  var isText = /^\s*text\/|json|xml|javascript|yaml|urlencoded|graphql/i.test(type);
  var charset = /;\s*charset="?([\w.:-]+)/i.exec(type);
  try {
    return decoderOf(charset ? charset[1] : 'utf-8', !isText).decode(bytes);
  } catch (_) {
    return undefined;
  }
}
/** @param {string} charset @param {boolean} fatal */
function decoderOf(charset, fatal) {
  try {
    return new TextDecoder(charset, { fatal: fatal });
  } catch (_) {
    return new TextDecoder('utf-8', { fatal: fatal });
  }
}
/** @param {Uint8Array<ArrayBuffer>} bytes @param {string} mimeType @param {string} address */
function downloadLink(bytes, mimeType, address) {
  var button = make('button', 'playground-quiet', words.download);
  button.type = 'button';
  button.addEventListener('click', function () {
    // This type prevents the browser from opening the file as a page.
    var url = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
    var link = make('a');
    link.href = url;
    var name = decodeURIComponentOr(address.split(/[?#]/)[0].split('/').pop()).replace(/[^\p{L}\p{N}._-]+/gu, '-');
    var ending = /json/.test(mimeType) ? '.json' : '';
    link.download = (name || 'response') + (name.includes('.') ? '' : ending);
    link.click();
    setTimeout(function () {
      URL.revokeObjectURL(url);
    }, 60000);
  });
  return button;
}
/** @param {string} text */
function decodeURIComponentOr(text) {
  try {
    return decodeURIComponent(text);
  } catch (_) {
    return text;
  }
}
/** A code block with a copy button. */
function codeBlock() {
  var element = make('div', 'playground-block');
  var pre = make('pre');
  pre.tabIndex = 0;
  pre.dir = 'ltr';
  var code = make('code');
  var button = make('button', 'icon-button playground-copy');
  button.type = 'button';
  button.setAttribute('aria-label', words.copy);
  button.append(drawn(icons.copy));
  button.addEventListener('click', function () {
    copyText(code.textContent, button);
  });
  pre.append(code);
  element.append(pre, button);
  return { element: element, code: code };
}

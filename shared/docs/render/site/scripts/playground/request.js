// Builds the request from the entered values. Values that cannot be sent are reported in `problems`.
/** @typedef {import('../../playground-form.ts').FormCredential} FormCredential */
/** @typedef {import('../../playground-form.ts').FormBody} FormBody */
/** @typedef {{ body: FormBody, text: string, files: File[], values: [FormField, string, File[]][] }} EnteredBody */
/** @typedef {{ server: string, values: [FormField, string][], credentials: [FormCredential, string, string][], body?: EnteredBody }} Entered */
/** @typedef {{ name: string, text?: string, mimeType?: string, file?: File }} Part */
/** @typedef {{ method: string, url: string, headers: [string, string][], text?: string, file?: File, parts?: Part[], mimeType?: string, hidden: { headers: [string, string][], body: boolean }, hasCredentials: boolean, problems: string[] }} BuiltRequest */
var words = window.binderyPlaygroundTexts;
var siteConfig = window.binderyConfig;
/** @param {string} text @param {Record<string, string>} values */
function filledIn(text, values) {
  return text.replace(/\{(\w+)\}/g, function (written, name) {
    return Object.prototype.hasOwnProperty.call(values, name) ? values[name] : written;
  });
}
/** Address of a server, by http or https; undefined if it is invalid. @param {string} written @returns {URL | undefined} */
function serverUrl(written) {
  try {
    var isWhole = /^[a-z][a-z\d+.-]*:/i.test(written);
    var site = (siteConfig && siteConfig.siteUrl) || '';
    if (!written || (!isWhole && !site)) return undefined;
    var url = isWhole ? new URL(written) : new URL(written, site.replace(/\/?$/, '/'));
    return /^https?:$/.test(url.protocol) && !url.username && !url.password ? url : undefined;
  } catch (_) {
    return undefined;
  }
}
/** The entered text of a field as a value; undefined if nothing is sent. @param {FormField} field @param {string} text @param {string[]} problems @returns {any} */
function enteredValue(field, text, problems) {
  if (text.trim() === '') return undefined;
  if (field.kind === 'list') return text.split(/\r?\n/).filter((line) => line.trim() !== '');
  if (field.kind !== 'object') return text;
  try {
    return JSON.parse(text);
  } catch (_) {
    problems.push(filledIn(words.badJson, { name: field.name }));
    return undefined;
  }
}
/** Headers that browsers do not let a page send. */
var unsent =
  /^(accept-charset|accept-encoding|access-control-request-.*|connection|content-length|cookie2?|date|dnt|expect|host|keep-alive|origin|referer|set-cookie|te|trailer|transfer-encoding|upgrade|user-agent|via|proxy-.*|sec-.*)$/i;
/** @param {PlaygroundForm} form @param {Entered} entered @returns {BuiltRequest} */
function builtRequest(form, entered) {
  /** @type {string[]} */
  var problems = [];
  /** @type {string[]} */
  var query = [];
  /** @type {Map<string, [string, string]>} */
  var headers = new Map();
  /** @type {string[]} */
  var cookies = [];
  /** @type {Map<string, string>} */
  var inPath = new Map();
  /** @param {string} name @param {string} value */
  function setHeader(name, value) {
    var text = value.trim();
    if (/^[!#$%&'*+.^_`|~\w-]+$/.test(name) && /^[\t\x20-\x7e]+$/.test(text))
      headers.set(name.toLowerCase(), [name, text]);
    else problems.push(filledIn(words.badHeader, { name: name }));
  }
  entered.values.forEach(function (pair) {
    var field = pair[0];
    var value = enteredValue(field, pair[1], problems);
    if (value === undefined) {
      if (field.in === 'path' && pair[1].trim() === '') problems.push(filledIn(words.fillIn, { name: field.name }));
    } else if (field.in === 'path') inPath.set(field.name, pathPart(value, field));
    else if (field.in === 'query') query.push(...queryParts(field.name, value, field));
    else if (field.in === 'header') setHeader(field.name, headerText(value, field));
    else if (field.in === 'cookie') cookies.push(queryParts(field.name, value, field).join('; '));
  });
  entered.credentials.forEach(function (given) {
    var credential = given[0];
    if (!given[1] && !given[2]) return;
    if (credential.kind === 'basic') {
      setHeader(credential.name, 'Basic ' + btoa(unescape(encodeURIComponent(given[1] + ':' + given[2]))));
    } else if (credential.kind === 'token') {
      var start = credential.scheme + ' ';
      var hasStart = given[1].trim().toLowerCase().startsWith(start.toLowerCase());
      setHeader(credential.name, (hasStart ? '' : start) + given[1].trim());
    } else if (credential.in === 'header') setHeader(credential.name, given[1]);
    else if (credential.in === 'query')
      query.push(encodeURIComponent(credential.name) + '=' + encodeURIComponent(given[1]));
    else cookies.push(encodeURIComponent(credential.name) + '=' + encodeURIComponent(given[1]));
  });
  if (cookies.length > 0) setHeader('Cookie', cookies.join('; '));

  /** @type {BuiltRequest} */
  var made = {
    method: form.method,
    url: '',
    headers: [],
    hidden: { headers: [], body: false },
    hasCredentials: entered.credentials.some((given) => given[1] || given[2]),
    problems: problems,
  };
  made.url = wholeUrl(form.path, entered.server, inPath, query, problems);
  if (entered.body) addBody(made, entered.body);
  if (made.mimeType && !made.parts) setHeader('Content-Type', made.mimeType);
  headers.forEach(function (header) {
    (unsent.test(header[0]) ? made.hidden.headers : made.headers).push(header);
  });
  made.hidden.body = /^(GET|HEAD)$/.test(form.method) && hasBody(made);
  if (/^(TRACE|CONNECT)$/.test(form.method)) problems.push(filledIn(words.methodNotSent, { method: form.method }));
  var isLocal = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:|\/|$)/.test(made.url);
  if (location.protocol === 'https:' && made.url.startsWith('http:') && !isLocal) problems.push(words.needsHttps);
  return made;
}
/** @param {BuiltRequest} request */
function hasBody(request) {
  return request.text !== undefined || request.file !== undefined || request.parts !== undefined;
}
/** @param {string} path @param {string} server @param {Map<string, string>} inPath @param {string[]} query @param {string[]} problems */
function wholeUrl(path, server, inPath, query, problems) {
  var base = serverUrl(server);
  if (!base) {
    problems.unshift(words.enterServer);
    return '';
  }
  /** @type {string[]} */
  var last = [];
  var below = path
    .replace(/#.*$/, '')
    .replace(/^\/?/, '/')
    .replace(/\{([^{}]+)\}/g, function (written, name) {
      if (!inPath.has(name)) return written;
      last.push(name);
      return inPath.get(name);
    });
  // Browsers resolve such segments as relative steps, which would change the path.
  if (below.split(/[/?]/).some((step) => /^(\.|%2e){1,2}$/i.test(step)))
    problems.push(filledIn(words.badValue, { name: last.join(', ') || path }));
  var search = [base.search.slice(1), ...query].filter(Boolean).join('&');
  var text = base.origin + base.pathname.replace(/\/+$/, '') + below;
  return new URL(text + (search ? (below.includes('?') ? '&' : '?') + search : '')).href;
}
/** @param {BuiltRequest} request @param {EnteredBody} entered */
function addBody(request, entered) {
  var body = entered.body;
  if (body.file) {
    if (entered.files.length === 0) return;
    request.file = entered.files[0];
  } else if (!body.fields) {
    if (entered.text.trim() === '') return;
    request.text = entered.text;
  } else if (/form-urlencoded/i.test(body.mimeType)) {
    /** @type {string[]} */
    var pairs = [];
    entered.values.forEach(function (given) {
      var field = given[0];
      var value = enteredValue(field, given[1], request.problems);
      var isWhole = field.kind === 'object' && field.style === undefined;
      if (value !== undefined) pairs.push(...queryParts(field.name, isWhole ? JSON.stringify(value) : value, field));
    });
    if (pairs.length === 0) return;
    request.text = pairs.join('&');
  } else {
    request.parts = entered.values.flatMap((given) => formParts(given, request.problems));
    if (request.parts.length === 0) {
      delete request.parts;
      return;
    }
  }
  request.mimeType = body.mimeType;
}
/** @param {[FormField, string, File[]]} given @param {string[]} problems @returns {Part[]} */
function formParts(given, problems) {
  var field = given[0];
  if (field.kind === 'file' || field.kind === 'files')
    return given[2].map((file) => ({ name: field.name, file: file }));
  var value = enteredValue(field, given[1], problems);
  if (value === undefined) return [];
  var items = Array.isArray(value) && field.kind === 'list' ? value : [value];
  var mimeType = field.mimeType || (field.kind === 'object' ? 'application/json' : undefined);
  return items.map((item) => ({ name: field.name, text: shown(item), mimeType: mimeType }));
}
/** The body of the request, and its media type. The parts of a form are written here, because browsers add a file name to every part with a type. */
/** @param {BuiltRequest} request @returns {{ body?: BodyInit, mimeType?: string }} */
function sentBody(request) {
  if (!request.parts) return { body: request.file || request.text, mimeType: request.mimeType };
  var boundary = 'bindery-' + crypto.getRandomValues(new Uint32Array(4)).join('');
  /** @param {string} name */
  function quoted(name) {
    return '"' + name.replace(/"/g, '%22').replace(/\r\n|\r|\n/g, '%0D%0A') + '"';
  }
  /** @type {BlobPart[]} */
  var pieces = [];
  request.parts.forEach(function (part) {
    var type = part.file ? part.file.type || 'application/octet-stream' : part.mimeType;
    pieces.push(
      '--' + boundary + '\r\nContent-Disposition: form-data; name=' + quoted(part.name),
      part.file ? '; filename=' + quoted(part.file.name) : '',
      type ? '\r\nContent-Type: ' + type : '',
      '\r\n\r\n',
      part.file || part.text,
      '\r\n',
    );
  });
  pieces.push('--' + boundary + '--\r\n');
  return { body: new Blob(pieces), mimeType: request.mimeType + '; boundary=' + boundary };
}

// Parses a line of Markdown: marks, code and links. Each character is read once. Marks that are not closed are text.
/** @typedef {{ kind: string, text?: string, to?: string, children?: InlineNode[] }} InlineNode */
var ordinaryText = /[^\\`<h![\]*_~\n]+/y;
var bareAddress = /https?:\/\/[^\s<>"'`|\\]{1,1000}/iy;
var angledAddress = /<(https?:\/\/[^\s<>]{1,1000})>/iy;
var linkAddress =
  /\(\s*(?:<([^<>\n]{0,1000})>|([^\s()<>]{0,1000}(?:\([^\s()<>]{0,200}\)[^\s()<>]{0,200}){0,5}))(?:\s+(?:"[^"\n]{0,200}"|'[^'\n]{0,200}'))?\s*\)/y;
/** @param {RegExp} form sticky @param {string} text @param {number} at */
function matchAt(form, text, at) {
  form.lastIndex = at;
  return form.exec(text);
}

/** `isGrowing`: open marks at the end count as closed, and incomplete addresses are not shown. @param {string} text @param {boolean} isGrowing @returns {InlineNode[]} */
function inlineNodes(text, isGrowing) {
  /** Open marks, outermost first. @type {{ kind: string, sign: string, children: InlineNode[] }[]} */
  var frames = [{ kind: '', sign: '', children: [] }];
  var plain = '';
  /** Lengths of runs of backticks without a closing run. @type {Record<number, boolean>} */
  var unclosed = {};
  function innermost() {
    return frames[frames.length - 1];
  }
  function flush() {
    if (plain !== '') innermost().children.push({ kind: 'text', text: plain });
    plain = '';
  }
  /** @param {InlineNode} node */
  function add(node) {
    flush();
    innermost().children.push(node);
  }
  /** @param {string} kind @param {string} sign */
  function open(kind, sign) {
    flush();
    if (frames.length > deepestMark) plain += sign;
    else frames.push({ kind: kind, sign: sign, children: [] });
  }
  /** Converts the innermost mark back to text. @param {boolean} [isShown] */
  function giveUp(isShown) {
    flush();
    var frame = frames.pop();
    if (isShown !== false) innermost().children.push({ kind: 'text', text: frame.sign });
    frame.children.forEach((node) => innermost().children.push(node));
  }
  /** @param {(frame: { kind: string, sign: string }) => boolean} isWanted */
  function lastFrame(isWanted) {
    for (var at = frames.length - 1; at > 0; at--) if (isWanted(frames[at])) return at;
    return -1;
  }
  /** Closes a mark, and drops the unclosed marks inside it. @param {number} at @param {InlineNode} node */
  function close(at, node) {
    while (frames.length > at + 1) giveUp();
    flush();
    node.children = frames.pop().children;
    innermost().children.push(node);
  }

  for (var at = 0; at < text.length; ) {
    var run = matchAt(ordinaryText, text, at);
    if (run) {
      plain += run[0];
      at += run[0].length;
      continue;
    }
    var character = text[at];
    if (character === '\\' && /[!-/:-@[-`{-~]/.test(text[at + 1] || '')) {
      plain += text[at + 1];
      at += 2;
    } else if (character === '\n' || (character === '\\' && text[at + 1] === '\n')) {
      var isBreak = character === '\\' || plain.endsWith('  ');
      plain = plain.trimEnd();
      if (isBreak) add({ kind: 'break' });
      else plain += ' ';
      at += character === '\n' ? 1 : 2;
    } else if (character === '`') at = readCode(at);
    else if (character === '*' || character === '_' || character === '~') at = readMark(at);
    else if (character === '[' || (character === '!' && text[at + 1] === '[')) {
      var sign = character === '[' ? '[' : '![';
      open('link', sign);
      at += sign.length;
    } else if (character === ']') at = readLinkEnd(at);
    else {
      var address = character === '<' ? matchAt(angledAddress, text, at) : null;
      if (!address && /^h$/i.test(character) && !/[\p{L}\p{N}]/u.test(text[at - 1] || '')) {
        address = lastFrame((frame) => frame.kind === 'link') < 0 ? matchAt(bareAddress, text, at) : null;
        if (address) address[0] = address[0].replace(/[.,;:!?)\]*_~]{1,20}$/, '');
      }
      if (address)
        add({
          kind: 'link',
          to: address[1] || address[0],
          children: [{ kind: 'text', text: address[1] || address[0] }],
        });
      else plain += character;
      at += address ? address[0].length : 1;
    }
  }
  while (frames.length > 1) {
    var left = innermost();
    if (isGrowing && left.kind !== 'link' && left.kind !== '' && (plain !== '' || left.children.length > 0))
      close(frames.length - 1, { kind: left.kind });
    else giveUp(!isGrowing || left.kind === '');
  }
  flush();
  return frames[0].children;

  /** @param {number} from */
  function readCode(from) {
    var end = from;
    while (text[end] === '`') end++;
    var size = end - from;
    for (var to = unclosed[size] ? -1 : text.indexOf('`', end); to >= 0; ) {
      var after = to;
      while (text[after] === '`') after++;
      if (after - to === size) {
        var code = text.slice(end, to).replace(/\n/g, ' ');
        if (/^ .*[^ ].* $/.test(code)) code = code.slice(1, -1);
        add({ kind: 'code', text: code });
        return after;
      }
      to = text.indexOf('`', after);
    }
    unclosed[size] = true;
    if (isGrowing && size === 1 && text.indexOf('\n', end) < 0 && end < text.length) {
      add({ kind: 'code', text: text.slice(end) });
      return text.length;
    }
    if (!isGrowing || end < text.length) plain += text.slice(from, end);
    return end;
  }

  /** @param {number} from */
  function readMark(from) {
    var sign = text[from];
    var end = from;
    while (text[end] === sign) end++;
    var size = end - from;
    var before = text[from - 1] || ' ';
    var after = text[end] || ' ';
    var isWordBefore = /[\p{L}\p{N}]/u.test(before);
    var canOpen = !/\s/.test(after) && !(sign === '_' && isWordBefore);
    var canClose = !/\s/.test(before) && !(sign === '_' && /[\p{L}\p{N}]/u.test(after));
    var isMark = sign === '~' ? size === 2 : size <= 3;
    if (!isMark) canClose = false;
    while (size > 0) {
      if (!canClose) break;
      var found = lastFrame((frame) => frame.sign[0] === sign && frame.kind !== '' && frame.sign.length <= size);
      if (found < 0) break;
      size -= frames[found].sign.length;
      close(found, { kind: frames[found].kind });
    }
    if (size === 0) return end;
    // A mark at the end of a growing text may still change.
    if (isGrowing && end === text.length) return end;
    if (!isMark || !canOpen) plain += sign.repeat(size);
    else {
      if (size >= 2) open(sign === '~' ? 'deleted' : 'strong', sign + sign);
      if (size % 2 === 1) open('emphasis', sign);
    }
    return end;
  }

  /** @param {number} from */
  function readLinkEnd(from) {
    var frame = lastFrame((one) => one.kind === 'link');
    if (frame < 0) {
      plain += ']';
      return from + 1;
    }
    var address = text[from + 1] === '(' ? matchAt(linkAddress, text, from + 1) : null;
    if (address) {
      close(frame, { kind: 'link', to: address[1] !== undefined ? address[1] : address[2] });
      // Links cannot be nested.
      frames.forEach((one) => {
        if (one.kind === 'link') one.kind = '';
      });
      return from + 1 + address[0].length;
    }
    var isHalf =
      isGrowing &&
      /^(?:\([^\s)]{0,1000}(?:\s+["'][^"'\n]{0,200})?)?$/.test(text.slice(from + 1, from + 1300)) &&
      text.length < from + 1300;
    if (isHalf) return text.length;
    if (frame === frames.length - 1) giveUp();
    else frames[frame].kind = '';
    plain += ']';
    return from + 1;
  }
}

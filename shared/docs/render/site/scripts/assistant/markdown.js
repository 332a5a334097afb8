// Parses the Markdown of an answer to a tree of few kinds, in linear time. HTML is shown as text.
/** @typedef {{ kind: string, text?: string, level?: number, children?: MarkdownNode[], items?: MarkdownNode[][], isLoose?: boolean, start?: number, rows?: string[][], aligned?: string[], key?: string }} MarkdownNode */
var deepestBlock = 6;
var deepestMark = 16;
var blockFence = /^ {0,3}(`{3,}|~{3,})[ ]*([^`\s]*)[^`]*$/;
var blockHeading = /^ {0,3}(#{1,6})(?= |$)/;
var blockRule = /^ {0,3}([-*_]) *(?:\1 *){2,}$/;
var blockQuote = /^ {0,3}> ?/;
var listMarker = /^( *)([-*+]|\d{1,9}[.)])(?:( +)|$)/;
var tableLine = /^ {0,3}\|? *:?-+:? *(?:\| *:?-+:? *)*\|? *$/;

/**
 * The blocks of a text, each with a key that changes with its content. The end of a growing text is left out while it could still become something
 * else.
 * @param {string} text @param {boolean} isGrowing @returns {MarkdownNode[]}
 */
function markdownBlocks(text, isGrowing) {
  var lines = text
    .replace(/\r\n?/g, '\n')
    .replace(/\0/g, '\ufffd')
    .split('\n')
    .map((line) => (line.indexOf('\t') < 0 ? line : line.replace(/^[\t ]+/, (start) => start.replace(/\t/g, '    '))));
  if (isGrowing) {
    if (lines[lines.length - 1] === '') lines.pop();
    var last = lines[lines.length - 1] || '';
    var isInTable = lines.length > 2 && lines[lines.length - 2].indexOf('|') >= 0;
    if (/^ *([-*+#>`~|=_]+|\d+[.)]?) *$/.test(last) || (/^ *\|/.test(last) && !isInTable)) lines.pop();
    else if (tableLine.test(last) && isInTable) lines.splice(-2);
    if (lines.length > 0 && /^ *\|/.test(lines[lines.length - 1]) && !isTableEnd(lines)) lines.pop();
  }
  return blocksOf(lines, 0);
}
/** True if the last line is a row of a table with a head. @param {string[]} lines */
function isTableEnd(lines) {
  for (var at = lines.length - 1; at > 0 && lines[at].indexOf('|') >= 0; at--)
    if (isTableAt(lines, at - 1)) return true;
  return false;
}

/** @param {string[]} lines @param {number} depth @returns {MarkdownNode[]} */
function blocksOf(lines, depth) {
  /** @type {MarkdownNode[]} */
  var blocks = [];
  for (var at = 0; at < lines.length; ) {
    if (lines[at].trim() === '') {
      at++;
      continue;
    }
    var read = blockAt(lines, at, depth);
    if (depth === 0) read.node.key = lines.slice(at, read.next).join('\n');
    blocks.push(read.node);
    at = read.next;
  }
  return blocks;
}

/** @param {string[]} lines @param {number} at @param {number} depth @returns {{ node: MarkdownNode, next: number }} */
function blockAt(lines, at, depth) {
  var line = lines[at];
  var fence = blockFence.exec(line);
  if (fence) return codeAt(lines, at, fence);
  var heading = blockHeading.exec(line);
  if (heading) {
    var title = line.slice(heading[0].length).trim();
    var end = title.length;
    while (title[end - 1] === '#') end--;
    if (end === 0 || title[end - 1] === ' ') title = title.slice(0, end).trim();
    return { node: { kind: 'heading', level: heading[1].length, text: title }, next: at + 1 };
  }
  if (blockRule.test(line)) return { node: { kind: 'rule' }, next: at + 1 };
  if (depth < deepestBlock && blockQuote.test(line)) {
    /** @type {string[]} */
    var quoted = [];
    while (at < lines.length && (blockQuote.test(lines[at]) || (lines[at].trim() !== '' && !startsBlock(lines[at]))))
      quoted.push(lines[at++].replace(blockQuote, ''));
    return { node: { kind: 'quote', children: blocksOf(quoted, depth + 1) }, next: at };
  }
  if (depth < deepestBlock && listMarker.test(line)) return listAt(lines, at, depth);
  if (isTableAt(lines, at)) return tableAt(lines, at);
  var from = at;
  do at++;
  while (at < lines.length && lines[at].trim() !== '' && !interruptsText(lines[at]) && !isTableAt(lines, at));
  return {
    node: {
      kind: 'paragraph',
      text: lines
        .slice(from, at)
        .map((part) => part.trimStart())
        .join('\n')
        .trimEnd(),
    },
    next: at,
  };
}

/** @param {string} line */
function startsBlock(line) {
  return [blockFence, blockHeading, blockRule, blockQuote, listMarker].some((form) => form.test(line));
}
/** A line that begins with a year does not begin a list. @param {string} line */
function interruptsText(line) {
  return startsBlock(line) && (!listMarker.test(line) || /^ *([-*+]|1[.)]) +\S/.test(line) || blockRule.test(line));
}
/** @param {string} line */
function indentOf(line) {
  return line.length - line.trimStart().length;
}

/** @param {string[]} lines @param {number} at @param {RegExpExecArray} fence */
function codeAt(lines, at, fence) {
  var indent = indentOf(lines[at]);
  /** @type {string[]} */
  var body = [];
  for (at++; at < lines.length; at++) {
    var closing = lines[at].trim();
    if (indentOf(lines[at]) < 4 && closing.length >= fence[1].length && closing === fence[1][0].repeat(closing.length))
      break;
    body.push(lines[at].slice(Math.min(indent, indentOf(lines[at]))));
  }
  return { node: { kind: 'code', text: body.join('\n') }, next: at + 1 };
}

/** @param {string[]} lines @param {number} at @param {number} depth */
function listAt(lines, at, depth) {
  var first = listMarker.exec(lines[at]);
  var base = first[1].length;
  var sign = first[2].slice(-1);
  /** @type {MarkdownNode[][]} */
  var items = [];
  var isLoose = false;
  while (at < lines.length) {
    var found = listMarker.exec(lines[at]);
    if (!found || found[2].slice(-1) !== sign || found[1].length > base + 3 || blockRule.test(lines[at])) break;
    var inner = found[1].length + found[2].length + (found[3] && found[3].length <= 4 ? found[3].length : 1);
    var own = [lines[at++].slice(inner)];
    while (at < lines.length) {
      var next = at;
      while (next < lines.length && lines[next].trim() === '') next++;
      if (next > at) {
        if (next === lines.length || indentOf(lines[next]) < inner) break;
        for (; at < next; at++) own.push('');
      }
      var indent = indentOf(lines[at]);
      // Models often indent nested lists by two spaces.
      if (indent >= inner || indent >= base + 2) own.push(lines[at++].slice(Math.min(indent, inner)));
      else if (startsBlock(lines[at])) break;
      else own.push(lines[at++]);
    }
    items.push(blocksOf(own, depth + 1));
    var after = at;
    while (after < lines.length && lines[after].trim() === '') after++;
    if (after === at) continue;
    var goesOn = after < lines.length && listMarker.exec(lines[after]);
    if (!goesOn || goesOn[2].slice(-1) !== sign) break;
    isLoose = true;
    at = after;
  }
  var start = /\d/.test(first[2]) ? parseInt(first[2], 10) : undefined;
  return { node: { kind: 'list', items: items, isLoose: isLoose, start: start }, next: at };
}

/** @param {string[]} lines @param {number} at */
function isTableAt(lines, at) {
  var under = lines[at + 1];
  if (under === undefined || lines[at].indexOf('|') < 0 || under.length > 1000 || !tableLine.test(under)) return false;
  return cellsOf(lines[at]).length === cellsOf(under).length;
}
/** @param {string[]} lines @param {number} at */
function tableAt(lines, at) {
  var rows = [cellsOf(lines[at])];
  var aligned = cellsOf(lines[at + 1]).map((cell) =>
    /^:.*:$/.test(cell) ? 'center' : cell.slice(-1) === ':' ? 'end' : '',
  );
  for (at += 2; at < lines.length && lines[at].indexOf('|') >= 0 && !startsBlock(lines[at]); at++)
    rows.push(cellsOf(lines[at]).slice(0, aligned.length));
  return { node: { kind: 'table', rows: rows, aligned: aligned }, next: at };
}
/** @param {string} line */
function cellsOf(line) {
  var cells = [''];
  var trimmed = line.trim();
  for (var at = trimmed[0] === '|' ? 1 : 0; at < trimmed.length; at++) {
    if (trimmed[at] === '\\' && trimmed[at + 1] === '|') cells[cells.length - 1] += trimmed[++at];
    else if (trimmed[at] === '|') {
      if (at < trimmed.length - 1) cells.push('');
    } else cells[cells.length - 1] += trimmed[at];
  }
  return cells.slice(0, 20).map((cell) => cell.trim());
}

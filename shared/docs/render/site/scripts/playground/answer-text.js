// The text of a response for display: indented, coloured JSON, limited to what a browser can lay out.
var mostShown = 300000;
var mostLines = 10000;
/** Limit of the indentation of nested lines. */
var deepestIndent = 40;
/** @param {string} text @returns {{ text: string, isWhole: boolean }} */
function shownText(text) {
  if (text.length <= mostShown && /^\s*[[{]/.test(text) && isJson(text)) return indentedJson(text);
  var end = Math.min(text.length, mostShown);
  for (var at = -1, lines = 0; lines < mostLines; lines++) {
    at = text.indexOf('\n', at + 1);
    if (at < 0 || at >= end) return { text: text.slice(0, end), isWhole: end === text.length };
  }
  return { text: text.slice(0, at), isWhole: false };
}
var jsonParts = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},:]|[^\s"[\]{},:]+/g;
/** Indents complete JSON. The tokens stay unchanged; parsed values would lose digits and duplicate names. @param {string} text */
function indentedJson(text) {
  var parts = text.match(jsonParts);
  var made = '';
  var depth = 0;
  var lines = 1;
  /** @param {number} change */
  function nextLine(change) {
    depth += change;
    lines += 1;
    made += '\n' + '  '.repeat(Math.min(depth, deepestIndent));
  }
  for (var at = 0; at < parts.length; at++) {
    if (lines > mostLines || made.length > mostShown) return { text: made, isWhole: false };
    var part = parts[at];
    var isOpening = part === '{' || part === '[';
    if (isOpening && /^[\]}]$/.test(parts[at + 1])) made += part + parts[++at];
    else if (isOpening) {
      made += part;
      nextLine(1);
    } else if (part === '}' || part === ']') {
      nextLine(-1);
      made += part;
    } else if (part === ',') {
      made += part;
      nextLine(0);
    } else made += part === ':' ? ': ' : part;
  }
  return { text: made, isWhole: true };
}
var jsonTokens = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** @param {HTMLElement} place @param {string} text */
function colourJson(place, text) {
  var from = 0;
  var made = document.createDocumentFragment();
  // Each colour is an element, and more of them would take seconds.
  var most = 20000;
  for (var found = jsonTokens.exec(text); found && most > 0; found = jsonTokens.exec(text), most -= 1) {
    made.append(text.slice(from, found.index));
    var word = found[1] || found[0];
    made.append(make('span', found[2] ? 'json-name' : found[1] ? 'json-text' : 'json-value', word));
    from = found.index + word.length;
  }
  jsonTokens.lastIndex = 0;
  made.append(text.slice(from));
  place.replaceChildren(made);
}

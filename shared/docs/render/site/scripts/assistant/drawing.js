// Draws Markdown while it grows. Unchanged blocks stay, so that nothing flickers and selections persist. Only our own elements are made.
var mostNodes = 4000;
/** @typedef {{ key: string, node: MarkdownNode, drawn: HTMLElement, count: number }} DrawnBlock */

/**
 * Returns a function that draws a text, and can be called again when the text has grown. That function returns false if not everything fits. @param
 * {HTMLElement} into @param {(code: string, button: HTMLElement) => void} copyCode @returns {(text: string, isGrowing: boolean) => boolean}
 */
function markdownView(into, copyCode) {
  /** @type {DrawnBlock[]} */
  var kept = [];
  return function (text, isGrowing) {
    var blocks = markdownBlocks(text, isGrowing);
    var same = 0;
    while (same < kept.length && same < blocks.length - 1 && kept[same].key === blocks[same].key) same++;
    var used = kept.slice(0, same).reduce((sum, block) => sum + block.count, 0);
    var old = kept[same];
    var grown = blocks[same];
    if (old && grown && same === blocks.length - 1 && old.node.kind === 'code' && grown.kind === 'code') {
      // The element is kept, so that the scroll position of the code block stays.
      var code = old.drawn.querySelector('code');
      if (code.textContent !== grown.text) code.textContent = grown.text;
      kept[same] = { key: grown.key, node: grown, drawn: old.drawn, count: old.count };
      return true;
    }
    kept.splice(same).forEach((block) => block.drawn.remove());
    for (var at = same; at < blocks.length; at++) {
      var room = { left: mostNodes - used, isGrowing: isGrowing && at === blocks.length - 1, copyCode: copyCode };
      if (room.left <= 0) return false;
      var drawn = drawnBlock(blocks[at], room);
      used = mostNodes - room.left;
      // The last block is drawn again, because it may have been incomplete.
      kept.push({ key: room.isGrowing ? undefined : blocks[at].key, node: blocks[at], drawn: drawn, count: 1 });
      kept[at].count = used - kept.slice(0, at).reduce((sum, block) => sum + block.count, 0);
      into.append(drawn);
    }
    return used < mostNodes;
  };
}

/** @typedef {{ left: number, isGrowing: boolean, copyCode: (code: string, button: HTMLElement) => void }} DrawingRoom */
/** @param {MarkdownNode} block @param {DrawingRoom} room @returns {HTMLElement} */
function drawnBlock(block, room) {
  room.left--;
  if (block.kind === 'code') return drawnCode(block, room);
  if (block.kind === 'list') return drawnList(block, room);
  if (block.kind === 'table') return drawnTable(block, room);
  if (block.kind === 'rule') return make('hr');
  if (block.kind === 'quote') {
    var quote = make('blockquote');
    drawBlocks(quote, block.children, room);
    return quote;
  }
  // Headings of the page use the levels above.
  var level = /** @type {'h3'} */ ('h' + Math.min(6, (block.level || 1) + 2));
  var made = make(block.kind === 'heading' ? level : 'p');
  made.dir = 'auto';
  drawInline(made, inlineNodes(block.text, room.isGrowing), room);
  return made;
}
/** @param {HTMLElement} into @param {MarkdownNode[]} blocks @param {DrawingRoom} room */
function drawBlocks(into, blocks, room) {
  for (var at = 0; at < blocks.length && room.left > 0; at++) into.append(drawnBlock(blocks[at], room));
}
/** @param {MarkdownNode} block @param {DrawingRoom} room */
function drawnCode(block, room) {
  var made = make('div', 'code-block');
  var pre = make('pre');
  pre.tabIndex = 0;
  pre.dir = 'ltr';
  pre.append(make('code', '', block.text));
  var button = make('button', 'copy-button icon-button');
  button.type = 'button';
  button.setAttribute('aria-label', texts.copy);
  button.append(drawn(icons.copy));
  button.addEventListener('click', () => room.copyCode(pre.textContent, button));
  made.append(pre, button);
  return made;
}
/** Sets the direction of the first letter, also for the numbers and columns, which `auto` leaves where the page has them. @param {HTMLElement} made */
function setDirection(made) {
  var first = /\p{L}/u.exec(made.textContent);
  if (first) made.dir = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(first[0]) ? 'rtl' : 'ltr';
}
/** @param {MarkdownNode} block @param {DrawingRoom} room */
function drawnList(block, room) {
  var isOrdered = block.start !== undefined;
  var list = make(isOrdered ? 'ol' : 'ul');
  if (isOrdered && block.start !== 1) list.setAttribute('start', String(block.start));
  for (var at = 0; at < block.items.length && room.left > 0; at++) {
    var item = make('li');
    room.left--;
    var blocks = block.items[at];
    if (!block.isLoose && blocks[0] && blocks[0].kind === 'paragraph') {
      drawInline(item, inlineNodes(blocks[0].text, room.isGrowing), room);
      blocks = blocks.slice(1);
    }
    drawBlocks(item, blocks, room);
    list.append(item);
  }
  setDirection(list);
  return list;
}
/** @param {MarkdownNode} block @param {DrawingRoom} room */
function drawnTable(block, room) {
  var frame = make('div', 'assistant-table');
  frame.tabIndex = 0;
  var table = make('table');
  var head = make('thead');
  var body = make('tbody');
  for (var at = 0; at < block.rows.length && room.left > 0; at++) {
    var row = make('tr');
    room.left--;
    for (var column = 0; column < block.aligned.length && room.left > 0; column++) {
      var cell = make(at === 0 ? 'th' : 'td');
      room.left--;
      if (block.aligned[column]) cell.style.textAlign = block.aligned[column];
      drawInline(cell, inlineNodes(block.rows[at][column] || '', room.isGrowing), room);
      row.append(cell);
    }
    (at === 0 ? head : body).append(row);
  }
  table.append(head, body);
  setDirection(table);
  frame.append(table);
  return frame;
}
var inlineElements = { code: 'code', strong: 'strong', emphasis: 'em', deleted: 'del', break: 'br' };
/** @param {HTMLElement} into @param {InlineNode[]} nodes @param {DrawingRoom} room */
function drawInline(into, nodes, room) {
  for (var at = 0; at < nodes.length && room.left > 0; at++) {
    var node = nodes[at];
    room.left--;
    if (node.kind === 'text') {
      into.append(node.text);
      continue;
    }
    var name = /** @type {Record<string, string>} */ (inlineElements)[node.kind];
    var made = name ? document.createElement(name) : answerLink(node.to);
    if (node.kind === 'code') made.textContent = node.text;
    else drawInline(made, node.children || [], room);
    into.append(made);
  }
}
/** A link, or plain text if the address is not allowed. @param {string} to @returns {HTMLElement} */
function answerLink(to) {
  var target = answerTarget(to);
  if (!target) return make('span');
  var link = make('a');
  link.href = target.href;
  if (!target.isOwn) {
    link.target = '_blank';
    link.rel = 'noopener noreferrer';
  }
  return link;
}

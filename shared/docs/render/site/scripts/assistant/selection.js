// A button beside a selected text, to ask about it.
var about = make('button', 'assistant-about');
about.type = 'button';
about.hidden = true;
about.append(drawn(icons.sparkles), make('span', '', panelWords.askSelection));
document.body.append(about);
// Pressing the button must not clear the selection.
about.addEventListener('pointerdown', (event) => event.preventDefault());
about.addEventListener('click', function () {
  var found = selectedText();
  about.hidden = true;
  if (found) window.binderyOpenAssistant({ selection: found.selection }).catch((error) => console.warn(error));
});
function selectedText() {
  var chosen = getSelection();
  var value = String(chosen).trim();
  if (chosen.rangeCount === 0 || value.length < 3) return undefined;
  var range = chosen.getRangeAt(0);
  var around = range.commonAncestorContainer;
  var element = /** @type {Element} */ (around.nodeType === 1 ? around : around.parentNode);
  if (!element.closest('.mdx-content, .page-header, .page-aside')) return undefined;
  /** @type {'code' | 'textSelection'} */
  var type = element.closest('pre') ? 'code' : 'textSelection';
  return { selection: { type: type, value: value.slice(0, 4000), path: root.dataset.currentPath }, range: range };
}
function showBeside() {
  var found = selectedText();
  about.hidden = !found;
  if (!found) return;
  var lines = found.range.getClientRects();
  var last = lines[lines.length - 1] || found.range.getBoundingClientRect();
  var left = Math.min(Math.max(8, last.right - about.offsetWidth), root.clientWidth - about.offsetWidth - 8);
  about.style.left = Math.max(8, left) + scrollX + 'px';
  about.style.top = last.bottom + 8 + scrollY + 'px';
}
/** @type {ReturnType<typeof setTimeout>} */
var settling;
function showSoon() {
  clearTimeout(settling);
  settling = setTimeout(showBeside, 250);
}
document.addEventListener('selectionchange', showSoon);
// This script is loaded because the reader has selected something.
showSoon();

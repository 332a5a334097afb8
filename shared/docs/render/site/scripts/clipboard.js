/**
 * Copies a text, marks the button for 1.5 s, and calls `told`. Where there is no clipboard (over http) or the browser refuses it, the text is copied
 * from a field beside the button, because elements outside an open dialog cannot be selected.
 * @param {string} text @param {HTMLElement} button @param {() => void} [told]
 */
function copyText(text, button, told) {
  async function run() {
    try {
      await navigator.clipboard.writeText(text);
    } catch (_) {
      if (!copyFromField()) return;
    }
    button.classList.add('done');
    setTimeout(() => button.classList.remove('done'), 1500);
    if (told) told();
  }
  function copyFromField() {
    var area = make('textarea', 'sr-only');
    area.value = text;
    button.after(area);
    area.select();
    var isCopied = document.execCommand('copy');
    area.remove();
    button.focus();
    return isCopied;
  }
  void run();
}

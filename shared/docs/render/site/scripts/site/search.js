(function () {
  // Opens the search, if config.js switches it on. Its files are loaded when the reader is about to use it.
  /** @type {HTMLElement} */
  var entry = document.querySelector('.search-entry');
  if (!entry || config.features.search === 'off') return;
  entry.hidden = false;
  var prompt = entry.querySelector('span').textContent;
  var isOpening = false;
  async function openSearch() {
    if (isOpening) return;
    isOpening = true;
    // Keys that are typed before the dialog has loaded are kept for it.
    var typed = '';
    /** @param {KeyboardEvent} event */
    function keep(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === 'Backspace') typed = typed.slice(0, -1);
      else if (event.key.length === 1) typed += event.key;
      else return;
      event.preventDefault();
      event.stopPropagation();
    }
    addEventListener('keydown', keep, true);
    try {
      await load('search.js');
      window.binderySearch.open(prompt, typed);
    } catch (error) {
      console.warn(error);
    } finally {
      removeEventListener('keydown', keep, true);
      isOpening = false;
    }
  }
  ['pointerenter', 'focus'].forEach((about) =>
    entry.addEventListener(about, () => void load('search.js').catch(() => {}), { once: true }),
  );
  entry.addEventListener('click', () => void openSearch());
  document.addEventListener('keydown', function (event) {
    var typing =
      // @ts-expect-error on a page of HTML it is an HTMLElement
      /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName) || document.activeElement.isContentEditable;
    var isSlash = event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!isSlash && !(event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey))) return;
    if (document.querySelector('dialog[open]:not(.search-dialog, .assistant-panel.is-beside)')) return;
    event.preventDefault();
    void openSearch();
  });
})();

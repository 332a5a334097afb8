(function () {
  // Opens the search, where config.js switches it on. What it takes is loaded when somebody is about to use it.
  /** @type {HTMLElement} */
  var entry = document.querySelector('.search-entry');
  if (!entry || config.features.search === 'off') return;
  entry.hidden = false;
  var prompt = entry.querySelector('span').textContent;
  function openSearch() {
    load('search.js').then(
      () => window.binderySearch.open(prompt),
      (error) => console.warn(error),
    );
  }
  ['pointerenter', 'focus'].forEach((about) =>
    entry.addEventListener(about, () => void load('search.js').catch(() => {}), { once: true }),
  );
  entry.addEventListener('click', openSearch);
  document.addEventListener('keydown', function (event) {
    var typing =
      // @ts-expect-error on a page of HTML it is an HTMLElement
      /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName) || document.activeElement.isContentEditable;
    var isSlash = event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!isSlash && !(event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey))) return;
    if (document.querySelector('dialog[open]:not(.search-dialog)')) return;
    event.preventDefault();
    openSearch();
  });
})();

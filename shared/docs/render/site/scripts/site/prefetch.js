// With a server, prefetches the page of a link under the pointer, and adds the canonical address that config.js states.
if (/^https?:/.test(location.protocol)) {
  /** @type {Record<string, true>} */
  var fetched = {};
  document.addEventListener('pointerover', function (event) {
    /** @type {HTMLAnchorElement} */
    // @ts-expect-error a pointer is over an element
    var link = event.target.closest && event.target.closest('a[href]');
    if (!link || link.origin !== location.origin || fetched[link.pathname] || link.pathname === location.pathname)
      return;
    fetched[link.pathname] = true;
    var hint = make('link');
    hint.rel = 'prefetch';
    hint.href = link.href;
    document.head.append(hint);
  });
  if (config.siteUrl && !document.querySelector('link[rel=canonical]')) {
    var canonical = make('link');
    canonical.rel = 'canonical';
    canonical.href =
      String(config.siteUrl).replace(/\/$/, '') + (root.dataset.currentPath || '/').replace(/(^|\/)index$/, '$1');
    document.head.append(canonical);
  }
}

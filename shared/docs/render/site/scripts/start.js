// Runs before the first paint and the style sheets: sets the appearance, marks that scripts run, and preloads fonts. From a folder browsers refuse to
// preload fonts.
(function () {
  var root = document.documentElement;
  root.classList.add('js');
  var chosen = null;
  try {
    chosen = localStorage.getItem('bindery-theme');
  } catch (_) {}
  var preset = root.dataset.appearance;
  if (root.hasAttribute('data-strict')) chosen = null;
  var wanted = chosen || preset;
  var dark = wanted === 'dark' || (wanted !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  root.classList.toggle('dark', dark);
  var dismissed = null;
  try {
    dismissed = sessionStorage.getItem('bindery-banner');
  } catch (_) {}
  if (dismissed) root.classList.add('no-banner');
  if (root.dataset.fonts && /^https?:/.test(location.protocol))
    root.dataset.fonts.split(' ').forEach(function (address) {
      var hint = document.createElement('link');
      hint.rel = 'preload';
      hint.as = 'font';
      hint.type = 'font/woff2';
      hint.crossOrigin = 'anonymous';
      hint.href = address;
      document.head.appendChild(hint);
    });
})();

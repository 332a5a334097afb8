// Before the first paint: which of light and dark, and that scripts run.
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
})();

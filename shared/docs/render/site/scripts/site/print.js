// For printing, all content is expanded, and the appearance is light.
var wasDark = false;
addEventListener('beforeprint', function () {
  wasDark = wasDark || root.classList.contains('dark');
  root.classList.remove('dark');
  all('.mdx-content details').forEach(function (details) {
    if (!details.open) {
      details.dataset.closed = '';
      details.open = true;
    }
  });
});
addEventListener('afterprint', function () {
  root.classList.toggle('dark', wasDark);
  wasDark = false;
  all('details[data-closed]').forEach(function (details) {
    details.open = false;
    delete details.dataset.closed;
  });
});

// Print: everything is open.
addEventListener('beforeprint', function () {
  all('.mdx-content details').forEach(function (details) {
    if (!details.open) {
      details.dataset.closed = '';
      details.open = true;
    }
  });
});
addEventListener('afterprint', function () {
  all('details[data-closed]').forEach(function (details) {
    details.open = false;
    delete details.dataset.closed;
  });
});

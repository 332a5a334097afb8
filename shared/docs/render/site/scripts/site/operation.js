// The operation of the page: its address to copy, or the form that sends requests, if config.js allows that.
all('.page-header .copy-endpoint').forEach(function (button) {
  button.hidden = false;
  button.addEventListener('click', function () {
    copy(button.dataset.copy, button);
  });
});
all('.page-header .try-operation').forEach(function (button) {
  var form = all('.page-header script.playground-form')[0];
  if (!form || config.features.playground !== true) return;
  button.hidden = false;
  button.addEventListener('click', function () {
    load('playground/' + form.dataset.texts + '.js')
      .then(() => load('playground.js'))
      .then(
        () => window.binderyPlayground(JSON.parse(form.textContent)),
        function () {},
      );
  });
});

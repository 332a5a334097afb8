// Adds one list from which a reader chooses a view, above the first view.
var views = all('.view');
if (views.length > 1) {
  var names = views
    .map(function (view) {
      return view.dataset.view;
    })
    .filter(function (name, at, list) {
      return list.indexOf(name) === at;
    });
  var select = make('select', 'view-select');
  select.setAttribute('aria-label', texts.view);
  names.forEach(function (name) {
    select.append(new Option(name, name));
  });
  var showView = function () {
    views.forEach(function (view) {
      view.hidden = view.dataset.view !== select.value;
    });
  };
  select.addEventListener('change', showView);
  views[0].before(select);
  root.classList.add('has-views');
  showView();
}

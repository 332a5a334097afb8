// Filters changelogs by tag.
var updates = all('.update[data-tags]');
if (updates.length > 1) {
  var tags = updates
    .flatMap(function (update) {
      return update.dataset.tags.split(',');
    })
    .filter(function (tag, at, list) {
      return list.indexOf(tag) === at;
    });
  if (tags.length > 1) {
    var filters = make('div', 'changelog-filters');
    var chosen = (new URLSearchParams(location.search).get('tags') || '').split(',').filter(Boolean);
    var filter = function () {
      updates.forEach(function (update) {
        var own = update.dataset.tags.split(',');
        update.hidden =
          chosen.length > 0 &&
          !own.some(function (tag) {
            return chosen.includes(tag);
          });
      });
    };
    tags.forEach(function (tag) {
      var button = make('button', 'badge', tag);
      button.type = 'button';
      button.dataset.color = 'gray';
      button.setAttribute('aria-pressed', String(chosen.includes(tag)));
      button.addEventListener('click', function () {
        chosen = chosen.includes(tag)
          ? chosen.filter(function (other) {
              return other !== tag;
            })
          : chosen.concat(tag);
        button.setAttribute('aria-pressed', String(chosen.includes(tag)));
        filter();
      });
      filters.append(button);
    });
    updates[0].before(filters);
    filter();
  }
}

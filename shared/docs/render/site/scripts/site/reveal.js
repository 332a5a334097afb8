// Opens the elements that contain the target of the address's anchor.
function reveal() {
  var id = idIn(location.hash);
  var target = elementNamed(id);
  if (!target) return;
  for (var at = target; at; at = at.parentElement) {
    if (at.tagName === 'DETAILS') at.open = true;
    if (at.classList.contains('tab-panel') && at.parentElement) {
      var position = panelsOf(at.parentElement).indexOf(at);
      if (position >= 0 && sets.includes(at.parentElement)) activate(at.parentElement, position);
    }
    if (at.classList.contains('view') && at.hidden && select) {
      select.value = at.dataset.view;
      showView();
    }
  }
  target.scrollIntoView();
  target.classList.add('targeted');
  setTimeout(function () {
    target.classList.remove('targeted');
  }, 1600);
}
addEventListener('hashchange', reveal);
if (location.hash) reveal();
// Only a reader's click changes the address: browsers also report elements that are open initially, and would scroll to them.
all('details.accordion > summary').forEach(function (summary) {
  summary.addEventListener('click', function () {
    var accordion = summary.parentElement;
    if (!accordion.open && accordion.id && location.hash !== '#' + accordion.id)
      history.replaceState(null, '', '#' + encodeURIComponent(accordion.id));
  });
});

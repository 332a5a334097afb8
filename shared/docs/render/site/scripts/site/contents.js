// Marks the current section in the table of contents.
/** @type {HTMLAnchorElement[]} */
var entries = all('.table-of-contents .toc a');
var targets = entries
  .map(function (entry) {
    return document.getElementById(idIn(entry.hash));
  })
  .filter(Boolean);
if (targets.length > 0) {
  var waiting = false;
  var mark = function () {
    waiting = false;
    var current = targets[0];
    targets.forEach(function (target) {
      if (target.offsetParent !== null && target.getBoundingClientRect().top < 140) current = target;
    });
    if (innerHeight + scrollY >= document.body.scrollHeight - 4) current = targets[targets.length - 1];
    entries.forEach(function (entry) {
      var isHere = idIn(entry.hash) === current.id;
      entry.toggleAttribute('data-active', isHere);
      if (isHere) entry.setAttribute('aria-current', 'location');
      else entry.removeAttribute('aria-current');
    });
  };
  addEventListener(
    'scroll',
    function () {
      if (!waiting) requestAnimationFrame(mark);
      waiting = true;
    },
    { passive: true },
  );
  mark();
}
all('.toc-inline a').forEach(function (entry) {
  entry.addEventListener('click', function () {
    entry.closest('details').open = false;
  });
});

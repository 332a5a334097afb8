// The sidebar as a drawer on small screens.
/** @type {HTMLElement} */
var sidebar = document.querySelector('.sidebar');
/** @type {HTMLElement} */
var menu = document.querySelector('.menu-button');
if (sidebar && menu) {
  var veil = make('div', 'veil');
  veil.hidden = true;
  document.body.append(veil);
  /** @param {boolean} open */
  var setOpen = function (open) {
    root.classList.toggle('menu-open', open);
    menu.setAttribute('aria-expanded', String(open));
    menu.setAttribute('aria-label', open ? texts.closeNavigation : texts.openNavigation);
    veil.hidden = !open;
    if (open) {
      /** @type {HTMLElement} */
      var first = sidebar.querySelector('[aria-current="page"]') || sidebar.querySelector('a, summary');
      if (first) first.focus();
    } else if (sidebar.contains(document.activeElement)) menu.focus();
  };
  menu.addEventListener('click', function () {
    setOpen(!root.classList.contains('menu-open'));
  });
  veil.addEventListener('click', function () {
    setOpen(false);
  });
  document.addEventListener('keydown', function (event) {
    if (!root.classList.contains('menu-open')) return;
    if (event.key === 'Escape') setOpen(false);
    if (event.key !== 'Tab') return;
    /** @type {HTMLElement[]} */
    var stops = [menu].concat(
      all('a, summary', sidebar).filter(function (stop) {
        return stop.offsetParent !== null;
      }),
    );
    // @ts-expect-error any element may have the focus
    var at = stops.indexOf(document.activeElement);
    var next = event.shiftKey ? at - 1 : at + 1;
    if (at === -1 || next < 0 || next >= stops.length) {
      event.preventDefault();
      stops[next < 0 ? stops.length - 1 : 0].focus();
    }
  });
  matchMedia('(min-width: 1024px)').addEventListener('change', function () {
    setOpen(false);
  });
}

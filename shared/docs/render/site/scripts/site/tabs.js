// Tabs. A choice applies to all sets with a tab of the same title, here and on other pages.
var KEY = 'bindery-tabs';
/** @returns {string[]} */
function chosenTitles() {
  try {
    return JSON.parse(recall(localStorage, KEY) || '[]');
  } catch (_) {
    return [];
  }
}
/** @param {Element} set @returns {HTMLElement[]} */
function panelsOf(set) {
  return Array.prototype.filter.call(set.children, function (child) {
    return child.classList.contains('tab-panel');
  });
}
/** @param {Element} set */
function buttonsOf(set) {
  return all('.tabs-item', set.firstElementChild);
}
/** @param {Element} set @param {number} position */
function activate(set, position) {
  buttonsOf(set).forEach(function (button, at) {
    button.setAttribute('aria-selected', String(at === position));
    button.tabIndex = at === position ? 0 : -1;
  });
  panelsOf(set).forEach(function (panel, at) {
    panel.toggleAttribute('data-active', at === position);
  });
}
var sets = all('.tabs, .code-group').filter(function (set) {
  return set.querySelector(':scope > .tabs-list');
});
/** @param {Element} set @param {number} position @param {boolean} [focus] */
function choose(set, position, focus) {
  var button = buttonsOf(set)[position];
  var before = button.getBoundingClientRect().top;
  var title = panelsOf(set)[position].dataset.title;
  activate(set, position);
  if (set.hasAttribute('data-sync')) {
    sets.forEach(function (other) {
      if (other === set || !other.hasAttribute('data-sync')) return;
      var at = panelsOf(other).findIndex(function (panel) {
        return panel.dataset.title === title;
      });
      if (at >= 0) activate(other, at);
    });
    var titles = chosenTitles().filter(function (known) {
      return known !== title;
    });
    remember(localStorage, KEY, JSON.stringify([title].concat(titles).slice(0, 20)));
  }
  // Keeps the clicked tab at its place on the screen, although sets above it may have changed their height.
  window.scrollBy(0, button.getBoundingClientRect().top - before);
  if (focus) button.focus();
}
sets.forEach(function (set, number) {
  var buttons = buttonsOf(set);
  var panels = panelsOf(set);
  panels.forEach(function (panel, at) {
    if (!panel.id) panel.id = 'tab-' + number + '-' + at;
    panel.setAttribute('role', 'tabpanel');
    buttons[at].setAttribute('aria-controls', panel.id);
  });
  buttons.forEach(function (button, at) {
    button.addEventListener('click', function () {
      choose(set, at);
    });
    button.addEventListener('keydown', function (event) {
      /** @type {number | undefined} */
      var step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      var to =
        event.key === 'Home'
          ? 0
          : event.key === 'End'
            ? buttons.length - 1
            : step && (at + step + buttons.length) % buttons.length;
      if (to === undefined) return;
      event.preventDefault();
      choose(set, to, true);
    });
  });
  if (!set.hasAttribute('data-sync')) return;
  var titles = panels.map(function (panel) {
    return panel.dataset.title;
  });
  var wanted = chosenTitles().find(function (title) {
    return titles.includes(title);
  });
  if (wanted !== undefined) activate(set, titles.indexOf(wanted));
});

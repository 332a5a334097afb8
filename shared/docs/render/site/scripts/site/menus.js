// A menu closes on a click outside it.
document.addEventListener('click', function (event) {
  all('.switcher[open]').forEach(function (menuOpen) {
    // @ts-expect-error a click is on an element
    if (!menuOpen.contains(event.target)) menuOpen.open = false;
  });
});
document.addEventListener('keydown', function (event) {
  if (event.key !== 'Escape') return;
  all('.switcher[open]').forEach(function (menuOpen) {
    menuOpen.open = false;
    menuOpen.querySelector('summary').focus();
  });
});
// The menu of a page. Entries that cannot work stay hidden: the assistant if it is off, other sites in an air-gapped copy, and
// services that need the address of the page if it is unknown.
all('.page-menu').forEach(function (menu) {
  // An author's element with that class could make any address.
  if (menu.closest('.mdx-content, .aside-content')) return;
  /** @type {HTMLLinkElement} */
  var alternate = document.querySelector('link[rel="alternate"][type="text/markdown"]');
  var isServed = /^https?:$/.test(location.protocol);
  function close() {
    if (menu.open) menu.open = false;
  }
  /** The Markdown of the page. When the site is read from a folder, scripts may not read files, so the visible text is used. */
  function markdown() {
    var shown = all('.page-header h1, .mdx-content')
      .map(function (part, at) {
        return (at === 0 ? '# ' : '') + part.innerText;
      })
      .join('\n\n');
    if (!isServed) return Promise.resolve(shown);
    return fetch(alternate.href).then(function (answer) {
      return answer.ok ? answer.text() : shown;
    });
  }
  /**
   * Makes an entry copy a text, and say so.
   * @param {HTMLElement} entry
   * @param {() => string | Promise<string>} textOf
   */
  function copies(entry, textOf) {
    entry.parentElement.hidden = false;
    var label = entry.querySelector('span');
    var words = label.textContent;
    function toldOf() {
      label.textContent = texts.copied;
      setTimeout(function () {
        label.textContent = words;
        close();
      }, 1200);
    }
    entry.addEventListener('click', function () {
      Promise.resolve(textOf())
        .then((text) => copy(text, entry, toldOf))
        .catch(console.warn);
    });
  }
  all('[data-menu]:not([data-client])', menu).forEach(function (entry) {
    var kind = entry.dataset.menu;
    var item = entry.parentElement;
    if (kind === 'copy') {
      copies(entry, markdown);
      return;
    }
    if (kind === 'assistant') {
      item.hidden = !config.features.assistant;
      entry.addEventListener('click', function () {
        close();
        window.binderyOpenAssistant({}).catch(function (error) {
          console.warn(error);
        });
      });
      return;
    }
    entry.addEventListener('click', close);
    var isWalled = config.deployment === 'air-gapped';
    if (kind !== 'service') {
      item.hidden = isWalled;
      return;
    }
    if (isServed && item.hidden)
      entry.setAttribute(
        'href',
        entry.dataset.base + encodeURIComponent(entry.dataset.question.replace('{address}', alternate.href)),
      );
    item.hidden = isWalled || (item.hidden && !isServed);
  });
  // A menu without working entries is hidden.
  if (!menu.querySelector('li:not([hidden])')) menu.hidden = true;
  if (isServed && menu.querySelector('[data-client]'))
    load('agents.js')
      .then(() => window.binderyAgents(menu, config, copies))
      .catch(console.warn);
});

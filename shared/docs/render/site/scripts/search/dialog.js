// The search dialog: a field that controls a list of results, operated mainly by keyboard.
var root = document.documentElement;
var texts = window.binderyTexts;
var recentName = 'bindery-searches:' + config.domain;
/** @type {HTMLDialogElement} */
var dialog = make('dialog', 'search-dialog');
dialog.setAttribute('aria-label', texts.search);
var input = make('input', 'search-input');
var list = make('div', 'search-results');
var note = make('p', 'search-note');
var announced = make('div', 'sr-only');
/** @type {HTMLElement[]} */
var options = [];
var active = -1;
var everywhere = false;
var isScrolled = false;
/** Increases with every change of the query. Answers to earlier queries are discarded. */
var turn = 0;
/** @type {ReturnType<typeof setTimeout>} */
var debounce;
/** Backoff: the platform is not queried before this time, in milliseconds of `Date.now()`. */
var awayUntil = 0;

function buildDialog() {
  var head = make('div', 'search-head');
  input.type = 'search';
  input.autocomplete = 'off';
  input.spellcheck = false;
  input.setAttribute('enterkeyhint', 'go');
  input.setAttribute('role', 'combobox');
  input.setAttribute('aria-autocomplete', 'list');
  input.setAttribute('aria-controls', 'search-results');
  input.setAttribute('aria-expanded', 'false');
  input.setAttribute('aria-label', texts.search);
  list.id = 'search-results';
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', texts.search);
  announced.setAttribute('role', 'status');
  var close = make('button', 'search-close');
  close.type = 'button';
  close.setAttribute('aria-label', texts.searchClose);
  close.append(make('kbd', '', 'esc'), drawn(icons.x));
  close.addEventListener('click', () => dialog.close());
  head.append(drawn(icons.search), input, close);
  dialog.append(head, note, list, announced);
  document.body.append(dialog);
  input.addEventListener('input', () => ask(false));
  dialog.addEventListener('keydown', onKey);
  dialog.addEventListener('click', function (event) {
    if (event.target === dialog) dialog.close();
  });
  list.addEventListener('scroll', function () {
    isScrolled = true;
  });
  list.addEventListener('mousemove', function (event) {
    // @ts-expect-error it is an element
    var option = event.target.closest('[role=option]');
    if (option) activate(options.indexOf(option), false);
  });
}

/** @param {number} at @param {boolean} isMoved by the keyboard, so it must come into view */
function activate(at, isMoved) {
  if (options[active]) options[active].setAttribute('aria-selected', 'false');
  active = at;
  var option = options[at];
  if (!option) {
    input.removeAttribute('aria-activedescendant');
    return;
  }
  option.setAttribute('aria-selected', 'true');
  input.setAttribute('aria-activedescendant', option.id);
  if (!isMoved) return;
  option.scrollIntoView({ block: 'nearest' });
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  // Input methods for Chinese and Japanese use these keys, too.
  if (event.isComposing) return;
  var step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && options.length > 0) {
    event.preventDefault();
    activate((active + step + options.length) % options.length, true);
  } else if (event.key === 'Escape') {
    // By default, Escape would only clear a field of this type.
    event.preventDefault();
    dialog.close();
  } else if (event.key === 'Enter' && event.target === input && options[active]) {
    event.preventDefault();
    options[active].dispatchEvent(
      new MouseEvent('click', { bubbles: true, cancelable: true, ctrlKey: event.ctrlKey, metaKey: event.metaKey }),
    );
  }
}

/** @type {Partial<Record<keyof typeof icons, Element>>} */
var signs = {};
/** @param {string} kind @param {keyof typeof icons} sign @param {string} [href] */
function option(kind, sign, href) {
  var made = make('a', 'search-result search-' + kind);
  made.id = 'search-result-' + options.length;
  made.tabIndex = -1;
  made.setAttribute('role', 'option');
  made.setAttribute('aria-selected', 'false');
  if (href) made.href = href;
  signs[sign] = signs[sign] || drawn(icons[sign]);
  made.append(signs[sign].cloneNode(true));
  options.push(made);
  return made;
}

/** @param {string} path @param {string} anchor */
function addressOf(path, anchor) {
  return pageAddress(path) + (anchor ? '#' + encodeURIComponent(anchor) : '');
}

/** @param {FoundPage} page @param {QueryWord[]} words */
function pageGroup(page, words) {
  var group = make('div', 'search-group');
  group.setAttribute('role', 'group');
  group.setAttribute('aria-label', page.title);
  /** @param {HTMLAnchorElement} to @param {string} title @param {string} text @param {string} [above] */
  function fill(to, title, text, above) {
    var body = make('span', 'search-body');
    if (above) {
      body.append(make('span', 'search-trail', above));
      to.classList.add('has-trail');
    }
    var name = make('span', 'search-title');
    name.append(markedText(title, words));
    body.append(name);
    var short = snippet(text, words);
    if (short) {
      var line = make('span', 'search-text');
      line.append(markedText(short, words));
      body.append(line);
    }
    to.append(body);
    to.addEventListener('click', choose);
    group.append(to);
  }
  fill(option('page', 'file-text', addressOf(page.path, '')), page.title, page.text, page.trail);
  page.sections.forEach((section) =>
    fill(option('section', 'hash', addressOf(page.path, section.anchor)), section.heading, section.text),
  );
  return group;
}

/** @param {MouseEvent} event */
function choose(event) {
  rememberSearch(input.value.trim());
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  dialog.close();
}

/** @returns {string[]} */
function recentSearches() {
  try {
    var found = JSON.parse(localStorage.getItem(recentName));
    return Array.isArray(found) ? found.filter((text) => typeof text === 'string').slice(0, 5) : [];
  } catch (_) {
    return [];
  }
}
/** @param {string} query */
function rememberSearch(query) {
  if (!query) return;
  var kept = [query].concat(recentSearches().filter((text) => text !== query)).slice(0, 5);
  try {
    localStorage.setItem(recentName, JSON.stringify(kept));
  } catch (_) {}
}

function clear() {
  // Reading or setting the scroll position forces a layout.
  if (isScrolled) list.scrollTop = 0;
  isScrolled = false;
  options = [];
  active = -1;
  list.replaceChildren();
  input.removeAttribute('aria-activedescendant');
}
/** @param {string} text */
function setNote(text) {
  note.textContent = text;
  note.hidden = !text;
}

function showStart() {
  clear();
  setNote(texts.searchHint);
  announced.textContent = '';
  var recent = recentSearches();
  if (recent.length > 0) {
    var title = make('div', 'search-heading', texts.searchRecent);
    title.setAttribute('role', 'presentation');
    list.append(title);
    recent.forEach(function (query) {
      var row = option('recent', 'history');
      row.append(make('span', 'search-body', query));
      row.addEventListener('click', function () {
        input.value = query;
        input.focus();
        ask(true);
      });
      list.append(row);
    });
  }
  input.setAttribute('aria-expanded', String(options.length > 0));
}

/** @param {string} query @param {Answer} answer @param {string} problem a sentence about the answer's source or limits, or '' */
function show(query, answer, problem) {
  clear();
  answer.pages.forEach((page) => list.append(pageGroup(page, answer.words)));
  var count = options.length;
  var isNarrowed = !everywhere && (root.dataset.language || root.dataset.version);
  if (isNarrowed) addRow('everywhere', 'globe', texts.searchAll, searchEverywhere);
  if (window.binderyOpenAssistant) {
    var label = texts.assistant.askQuery.replace('{query}', () => query);
    addRow('ask', 'sparkles', label, function () {
      rememberSearch(query);
      dialog.close();
      void window.binderyOpenAssistant(query).catch((error) => console.warn(error));
    });
  }
  var none = count === 0 && answer.isWhole ? texts.searchNone.replace('{query}', () => query) : '';
  setNote([problem, none].filter(Boolean).join(' '));
  announced.textContent = count > 0 ? counted(count) : none;
  var first = answer.pages[0];
  // Enter opens the first result, or its section if neither the page's title nor its text has the words.
  var isBelow = first && first.sections.length > 0 && !first.text && rangesOf(first.title, answer.words).length === 0;
  if (count > 0) activate(isBelow ? 1 : 0, false);
  input.setAttribute('aria-expanded', String(options.length > 0));
}
/** @param {'everywhere' | 'ask'} kind @param {keyof typeof icons} sign @param {string} text @param {() => void} run */
function addRow(kind, sign, text, run) {
  var row = option(kind, sign);
  row.append(make('span', 'search-body', text));
  row.addEventListener('click', run);
  list.append(row);
}
function searchEverywhere() {
  everywhere = true;
  input.focus();
  ask(true);
}
/** @param {number} count */
function counted(count) {
  var forms = texts.results;
  var form = forms[new Intl.PluralRules(root.lang).select(count)] || forms.other;
  return form.replace('{count}', count.toLocaleString(root.lang));
}

/** @param {boolean} atOnce */
function ask(atOnce) {
  var query = input.value.trim();
  turn += 1;
  clearTimeout(debounce);
  if (!query) {
    everywhere = false;
    dialog.classList.remove('is-busy');
    showStart();
    return;
  }
  var asked = turn;
  if (config.features.search !== 'server' || Date.now() < awayUntil) {
    askBundle(query, asked, '');
    return;
  }
  dialog.classList.add('is-busy');
  debounce = setTimeout(
    function () {
      void askServer(query, asked);
    },
    atOnce ? 0 : 140,
  );
}
/** @param {string} query @param {number} asked */
async function askServer(query, asked) {
  try {
    var answer = await askPlatform(query, everywhere);
    if (asked !== turn) return;
    dialog.classList.remove('is-busy');
    show(query, answer, '');
  } catch (error) {
    if (asked !== turn) return;
    awayUntil = Date.now() + 20000;
    askBundle(query, asked, problemOf(/** @type {{ status?: number }} */ (error).status));
  }
}
/** @param {number} [code] of HTTP */
function problemOf(code) {
  if (code === 429) return texts.searchBusy;
  return code === 401 || code === 403 ? texts.searchRefused : texts.searchFailed;
}
/** @param {string} query @param {number} asked @param {string} problem */
function askBundle(query, asked, problem) {
  function showArrived() {
    if (asked !== turn) return;
    var answer = askIndex(query, everywhere);
    if (answer.isWhole) dialog.classList.remove('is-busy');
    if (answer.isWhole || answer.pages.length > 0) show(query, answer, problem && problem + ' ' + texts.searchHere);
  }
  dialog.classList.add('is-busy');
  if (engine) showArrived();
  openIndex(everywhere, showArrived).then(showArrived, function () {
    if (asked !== turn) return;
    dialog.classList.remove('is-busy');
    show(query, { pages: [], words: [], isWhole: false }, problem || texts.searchFailed);
  });
}

window.binderySearch = {
  open: function (placeholder, typed) {
    if (!dialog.isConnected) buildDialog();
    if (dialog.open) return;
    input.placeholder = placeholder;
    dialog.showModal();
    if (typed) input.value = typed;
    input.focus();
    if (!typed) input.select();
    ask(true);
    if (config.features.search === 'bundle') openIndex(false, () => {}).catch(() => {});
  },
};

// The script that `bindery dev` adds to each page. It listens for changes and applies them to the page without loading it again.
(function () {
  var own = /** @type {HTMLScriptElement} */ (document.currentScript);
  var page = own.dataset.page;
  var key = own.dataset.key || '';
  var base = own.src.replace(/[^/]*$/, '');
  var root = document.documentElement;
  var stateName = 'bindery-dev-state';
  /** Number of the last refreshed file, for addresses that the browser has not cached. */
  var count = 0;

  /*
   * The page as the server wrote it, without anything that scripts have done to it since: this script runs when the content is parsed and the scripts
   * of the site have not run. A new version of the page is merged into this copy, and each change of the copy is repeated on the page. So elements
   * that scripts added stay, and so does everything that is the same in both versions, with its state.
   */
  var copy = document.implementation.createHTMLDocument('');
  /** Nodes of the copy and the nodes of the page that they stand for. @type {WeakMap<Node, Node>} */
  var liveOf = new WeakMap();
  /** @type {WeakMap<Node, Node>} */
  var copyOf = new WeakMap();
  /** Classes that scripts set on the element of the page. */
  var ofScripts = ['js', 'dark', 'no-banner', 'menu-open', 'has-views'];
  /** @type {string[]} */
  var rootClasses = [];
  /** @type {string[]} */
  var scripts = [];
  /** @type {string} */
  var policy;

  /** @param {Node} made @param {Node} live */
  function pair(made, live) {
    liveOf.set(made, live);
    copyOf.set(live, made);
    var a = made.firstChild;
    var b = live.firstChild;
    for (; a && b; a = a.nextSibling, b = b.nextSibling) pair(a, b);
  }

  /** A copy of the page without its sidebar, which may have 25,000 links. @param {Node} live */
  function copied(live) {
    var made = copy.importNode(live, false);
    liveOf.set(made, live);
    copyOf.set(live, made);
    if (live instanceof Element && live.classList.contains('sidebar-content')) return made;
    for (var one = live.firstChild; one; one = one.nextSibling) made.appendChild(copied(one));
    return made;
  }

  function begin() {
    var made = /** @type {HTMLElement} */ (copied(root));
    copy.replaceChild(made, copy.documentElement);
    rootClasses = Array.from(root.classList).filter((name) => !ofScripts.includes(name));
    policy = policyOf(copy);
    restoreHeader();
    withoutParts(copy);
  }

  /** On small screens, the script of the sidebar has moved parts of the header there. */
  function restoreHeader() {
    var row = copy.querySelector('.navbar-row');
    var right = row && row.querySelector('.topbar-right');
    if (!row || !right) return;
    var switchers = copy.querySelector('.sidebar > .switchers');
    var links = copy.querySelector('.sidebar > .navbar-links');
    var primary = copy.querySelector('.sidebar > .navbar-primary');
    if (switchers) row.insertBefore(switchers, row.querySelector('.search-entry'));
    if (primary) right.prepend(primary);
    if (links) right.prepend(links);
  }

  /** Removes the parts that are not merged: scripts of the frame, and the sidebar, which a script makes. @param {Document} from */
  function withoutParts(from) {
    from.querySelectorAll('head > script:not([type]), body > script, .layout > script').forEach((one) => one.remove());
    from.querySelectorAll('.sidebar-content').forEach((one) => one.replaceChildren());
  }

  /** @param {Document} from */
  function policyOf(from) {
    var meta = from.querySelector('meta[http-equiv="Content-Security-Policy"]');
    return meta ? meta.getAttribute('content') : '';
  }
  /** Addresses of the scripts of a page in their order, without this one. @param {Document} from */
  function scriptsOf(from) {
    return Array.from(from.querySelectorAll('body script[src]'), (one) => one.getAttribute('src') || '').filter(
      (address) => !address.includes('_bindery/dev/') && !address.includes('_bindery/navigation/'),
    );
  }
  /** @param {Document} from */
  function sidebarOf(from) {
    var script = from.querySelector('.layout > script[src*="_bindery/navigation/"]');
    return script ? script.getAttribute('src') : '';
  }

  // State that survives a load of the page: scroll, open elements, chosen tabs, form fields.

  function saveState() {
    var state = {
      address: location.pathname,
      scroll: [scrollX, scrollY],
      open: Array.from(document.querySelectorAll('main details'), (one) => one.open),
      tabs: Array.from(document.querySelectorAll('main .tabs-item'), (one) => one.getAttribute('aria-selected')),
      fields: Array.from(fields(), (one) => [one.name, one.type === 'password' ? '' : one.value, one.checked]),
      focus: Array.from(fields()).indexOf(/** @type {any} */ (document.activeElement)),
    };
    try {
      sessionStorage.setItem(stateName, JSON.stringify(state));
    } catch (_) {}
  }
  /** @returns {NodeListOf<HTMLInputElement>} */
  function fields() {
    return document.querySelectorAll('main input, main textarea, main select');
  }
  function restoreState() {
    /** @type {any} */
    var state = null;
    try {
      state = JSON.parse(sessionStorage.getItem(stateName) || 'null');
      sessionStorage.removeItem(stateName);
    } catch (_) {}
    if (!state || state.address !== location.pathname) return;
    var details = document.querySelectorAll('main details');
    if (details.length === state.open.length) details.forEach((one, at) => (one.open = state.open[at]));
    var tabs = document.querySelectorAll('main .tabs-item');
    if (tabs.length === state.tabs.length)
      tabs.forEach((one, at) => state.tabs[at] === 'true' && /** @type {HTMLElement} */ (one).click());
    var inputs = fields();
    if (inputs.length === state.fields.length)
      inputs.forEach(function (one, at) {
        var known = state.fields[at];
        if (one.name !== known[0] || one.type === 'file' || one.type === 'password') return;
        one.value = known[1];
        one.checked = known[2];
      });
    if (state.focus >= 0 && inputs[state.focus]) inputs[state.focus].focus();
    scrollTo(state.scroll[0], state.scroll[1]);
  }
  /** @param {string} [to] */
  function reload(to) {
    if (to !== undefined) location.replace(to);
    else {
      saveState();
      location.reload();
    }
  }

  // Merging a new version.

  /** @type {Promise<void> | undefined} */
  var tools;
  /** Loads the library that merges, and the parts of the site's scripts that new elements need. */
  function loadTools() {
    if (tools === undefined)
      tools = Promise.all(['idiomorph.js', 'parts.js'].map((name) => loadScript(base + name))).then(() => undefined);
    return tools;
  }
  /** @param {string} address */
  function loadScript(address) {
    return new Promise(function (resolve, reject) {
      var script = document.createElement('script');
      script.src = address;
      script.onload = resolve;
      script.onerror = () => reject(new Error(address + ' could not be loaded'));
      document.head.append(script);
    }).then(() => undefined);
  }

  /** Components that a script has set up as a whole. They are made again when their structure changes. */
  var components = '.tabs, .code-group, .code-block, .prompt, .tooltip, .page-menu, figure.mermaid, .expandable-code';
  var keyed =
    '.tabs, .code-group, .code-block, .prompt, figure.mermaid, details, form, input, textarea, select, .card, iframe, video';

  /**
   * Gives components an id by which the library finds them again, from their titles or their first words. The ids exist only in the two versions that
   * are merged. @param {Document} from
   */
  function withIds(from) {
    /** @type {Record<string, number>} */
    var seen = {};
    from.querySelectorAll(keyed).forEach(function (one) {
      if (one.id && !one.id.startsWith('dev~')) return;
      var name = nameOf(one);
      seen[name] = (seen[name] || 0) + 1;
      one.id = 'dev~' + name + '~' + seen[name];
    });
  }
  /** @param {Element} one */
  function nameOf(one) {
    var title = one.querySelector('.tabs-item, summary, .code-block-title, .card-title');
    var words = (title ? title.textContent : '') || one.getAttribute('name') || '';
    return one.tagName + ' ' + one.classList[0] + ' ' + words.trim().slice(0, 60);
  }
  /** @param {ParentNode} from */
  function withoutIds(from) {
    from.querySelectorAll('[id^="dev~"]').forEach((one) => one.removeAttribute('id'));
  }

  /** @param {string} html @returns {boolean} False if the page has to be loaded again. */
  function merge(html) {
    var next = new DOMParser().parseFromString(html, 'text/html');
    if (policyOf(next) !== policy || scriptsOf(next).join() !== scripts.join()) return false;
    var islands = '[data-island]';
    var before = Array.from(copy.querySelectorAll(islands), (one) => one.outerHTML).join();
    var after = Array.from(next.querySelectorAll(islands), (one) => one.outerHTML).join();
    var lists = '.view, .update[data-tags]';
    var listed = (/** @type {Document} */ from) =>
      Array.from(from.querySelectorAll(lists), (one) => [
        one.getAttribute('data-view'),
        one.getAttribute('data-tags'),
      ]).join();
    if (before !== after || listed(copy) !== listed(next)) return false;
    var sidebar = sidebarOf(next);
    mergeRoot(next.documentElement);
    withoutParts(next);
    withIds(copy);
    withIds(next);
    var observer = new MutationObserver(function () {});
    observer.observe(copy, {
      attributes: true,
      attributeOldValue: true,
      childList: true,
      characterData: true,
      subtree: true,
    });
    var Idiomorph = /** @type {any} */ (window).Idiomorph;
    var how = { morphStyle: 'innerHTML', restoreFocus: false, head: { style: 'morph' } };
    // The library skips equal nodes, which are most of the page.
    var callbacks = { beforeNodeMorphed: (/** @type {Node} */ a, /** @type {Node} */ b) => !a.isEqualNode(b) };
    Idiomorph.morph(copy.head, Array.from(next.head.childNodes), Object.assign({ callbacks: callbacks }, how));
    Idiomorph.morph(copy.body, Array.from(next.body.childNodes), Object.assign({ callbacks: callbacks }, how));
    var records = observer.takeRecords();
    observer.disconnect();
    repeat(records);
    withoutIds(copy);
    if (sidebar && sidebar !== sidebarAddress) sidebarAddress = sidebar;
    return true;
  }

  /** @param {HTMLElement} next */
  function mergeRoot(next) {
    var classes = Array.from(next.classList);
    rootClasses.forEach((name) => !classes.includes(name) && root.classList.remove(name));
    classes.forEach((name) => root.classList.add(name));
    rootClasses = classes;
    Array.from(copy.documentElement.attributes).forEach(function (one) {
      if (one.name !== 'class' && !next.hasAttribute(one.name)) root.removeAttribute(one.name);
    });
    Array.from(next.attributes).forEach(function (one) {
      if (one.name !== 'class' && copy.documentElement.getAttribute(one.name) !== one.value)
        root.setAttribute(one.name, one.value);
    });
    Array.from(copy.documentElement.attributes).forEach((one) => copy.documentElement.removeAttribute(one.name));
    Array.from(next.attributes).forEach((one) => copy.documentElement.setAttribute(one.name, one.value));
  }

  /** Repeats changes of the copy on the page. @param {MutationRecord[]} records */
  function repeat(records) {
    /** Nodes of the copy that are new on the page: they are inserted as they are in the end. @type {Set<Node>} */
    var made = new Set();
    /** Components of the copy that are made again. @type {Set<Element>} */
    var anew = new Set();
    /** @type {Element[]} */
    var fresh = [];
    records.forEach(function (record) {
      if (made.has(record.target)) return;
      note(record, anew);
      var live = liveOf.get(record.target);
      if (!live) return;
      if (record.type === 'characterData') {
        live.nodeValue = record.target.nodeValue;
        return;
      }
      if (record.type === 'attributes') {
        setAttribute(/** @type {Element} */ (record.target), /** @type {Element} */ (live), record);
        return;
      }
      record.removedNodes.forEach(function (node) {
        var gone = liveOf.get(node);
        // A node that was moved is inserted again by a later record.
        if (gone && gone.parentNode) gone.parentNode.removeChild(gone);
      });
      record.addedNodes.forEach(function (node) {
        if (!copy.contains(node) || node.parentNode !== record.target) return;
        var there = liveOf.get(node);
        if (!there) {
          there = cloned(node);
          mark(node, made);
          if (there instanceof Element) fresh.push(there);
        }
        insert(live, there, record);
      });
    });
    anew.forEach(function (one) {
      if (!copy.contains(one) || made.has(one)) return;
      if (one.parentElement && Array.from(anew).some((other) => other !== one && other.contains(one))) return;
      var there = renew(one);
      if (there) fresh.push(there);
    });
    if (records.length > 0) setUp(fresh);
  }

  /** Notes components whose structure changed. @param {MutationRecord} record @param {Set<Element>} anew */
  function note(record, anew) {
    var at = record.target.nodeType === 1 ? /** @type {Element} */ (record.target) : record.target.parentElement;
    for (
      var one = at && at.closest(components);
      one;
      one = one.parentElement && one.parentElement.closest(components)
    ) {
      var isDiagram = one.matches('figure.mermaid');
      var isStructure = record.type === 'childList' && !isInside(record.target, one);
      if (isDiagram || isStructure) anew.add(one);
    }
  }
  /** True for places in a component that its script does not look at. @param {Node} target @param {Element} component */
  function isInside(target, component) {
    var at = /** @type {Element} */ (target);
    if (component.matches('.tabs, .code-group')) {
      var panel = at.closest('.tab-panel');
      return panel !== null && component.contains(panel);
    }
    if (component.matches('.code-block, .prompt, .expandable-code')) return at.closest('code') !== null;
    return false;
  }

  /** @param {Element} from @param {Element} live @param {MutationRecord} record */
  function setAttribute(from, live, record) {
    var name = record.attributeName;
    if (name === 'id' && (from.id.startsWith('dev~') || (record.oldValue || '').startsWith('dev~')) && !live.id) return;
    var value = from.getAttribute(name);
    if (name === 'class') {
      // Scripts add classes of their own.
      var now = (value || '').split(/\s+/).filter(Boolean);
      (record.oldValue || '')
        .split(/\s+/)
        .filter(Boolean)
        .forEach((one) => !now.includes(one) && live.classList.remove(one));
      now.forEach((one) => live.classList.add(one));
    } else if (value === null) live.removeAttribute(name);
    else live.setAttribute(name, value);
    if (name === 'value' && 'value' in live && live !== document.activeElement)
      /** @type {any} */ (live).value = value || '';
  }

  /** A node of the page for a new node of the copy. @param {Node} node */
  function cloned(node) {
    var live = document.importNode(node, true);
    if (live instanceof Element) {
      if (live.id.startsWith('dev~')) live.removeAttribute('id');
      withoutIds(live);
    }
    pair(node, live);
    return live;
  }
  /** @param {Node} node @param {Set<Node>} made */
  function mark(node, made) {
    made.add(node);
    node.childNodes.forEach((one) => mark(one, made));
  }
  /** Inserts a node beside the nodes beside which it is in the copy. @param {Node} parent @param {Node} node @param {MutationRecord} record */
  function insert(parent, node, record) {
    for (var next = record.nextSibling; next; next = next.nextSibling) {
      var live = liveOf.get(next);
      if (live && live.parentNode === parent) {
        parent.insertBefore(node, live);
        return;
      }
    }
    for (var last = record.previousSibling; last; last = last.previousSibling) {
      var before = liveOf.get(last);
      if (before && before.parentNode === parent) {
        parent.insertBefore(node, before.nextSibling);
        return;
      }
    }
    parent.appendChild(node);
  }

  /** Replaces a component by a new one with the same chosen tabs and open parts. @param {Element} one */
  function renew(one) {
    var old = /** @type {Element} */ (liveOf.get(one));
    if (!old || !old.parentNode) return undefined;
    var titles = Array.from(old.querySelectorAll('.tab-panel[data-active]'), (panel) =>
      panel.getAttribute('data-title'),
    );
    var open = Array.from(old.querySelectorAll('details'), (each) => each.open);
    var values = Array.from(old.querySelectorAll('input, textarea, select'), (each) => /** @type {any} */ (each).value);
    var live = /** @type {Element} */ (cloned(one));
    old.parentNode.replaceChild(live, old);
    chosen.push({ inside: live, titles: titles });
    var details = live.querySelectorAll('details');
    if (details.length === open.length) details.forEach((each, at) => (each.open = open[at]));
    var inputs = live.querySelectorAll('input, textarea, select');
    if (inputs.length === values.length) inputs.forEach((each, at) => Object.assign(each, { value: values[at] }));
    return live;
  }
  /** Tabs to choose again in new components. @type {{ inside: Element, titles: (string | null)[] }[]} */
  var chosen = [];

  /** @type {AbortController | undefined} */
  var listening;
  /** Runs the scripts of the site on new elements. @param {Element[]} fresh */
  function setUp(fresh) {
    /** @param {string} selector @returns {Element[]} */
    function found(selector) {
      // The table of contents follows all headings.
      if (selector.startsWith('.table-of-contents')) return Array.from(document.querySelectorAll(selector));
      return Array.from(document.querySelectorAll(selector)).filter((one) => fresh.some((part) => part.contains(one)));
    }
    var parts = /** @type {any} */ (window).binderyDevParts;
    if (listening) listening.abort();
    listening = new AbortController();
    var signal = listening.signal;
    var scope = scopedDocument(found);
    var here = { hash: '', search: location.search, protocol: location.protocol, pathname: location.pathname };
    /** @param {string} type @param {any} listener */
    function listen(type, listener) {
      if (type === 'scroll') window.addEventListener(type, listener, { passive: true, signal: signal });
    }
    run(() => parts.page(scope, listen, quietMedia, here));
    if (fresh.some((one) => one.matches('figure.mermaid') || one.querySelector('figure.mermaid')))
      run(() => parts.diagrams(scope));
    chosen.splice(0).forEach(function (one) {
      one.inside.querySelectorAll('.tab-panel').forEach(function (panel) {
        if (one.titles.includes(panel.getAttribute('data-title')) && panel.parentElement)
          activate(panel.parentElement, panel);
      });
    });
  }
  /** @param {() => void} work */
  function run(work) {
    try {
      work();
    } catch (error) {
      console.warn(error);
    }
  }
  /** @param {string} query */
  function quietMedia(query) {
    return { matches: matchMedia(query).matches, addEventListener: function () {} };
  }
  /** A document whose queries find only new elements. @param {(selector: string) => Element[]} found */
  function scopedDocument(found) {
    return {
      documentElement: root,
      head: document.head,
      // A script adds an element for screen readers to the body once; its dialogs are added when they open.
      body: { append: (/** @type {Element} */ one) => one.className !== 'sr-only' && document.body.append(one) },
      currentScript: { getAttribute: () => (root.dataset.root || './') + '_bindery/site.js', dataset: {} },
      get activeElement() {
        return document.activeElement;
      },
      addEventListener: function () {},
      createElement: document.createElement.bind(document),
      createElementNS: document.createElementNS.bind(document),
      createDocumentFragment: document.createDocumentFragment.bind(document),
      createTextNode: document.createTextNode.bind(document),
      getElementById: document.getElementById.bind(document),
      querySelectorAll: found,
      querySelector: (/** @type {string} */ selector) => found(selector)[0] || null,
    };
  }

  /** Shows a panel of a set of tabs, as the script of tabs does. @param {Element} set @param {Element} panel */
  function activate(set, panel) {
    var panels = Array.from(set.children).filter((one) => one.classList.contains('tab-panel'));
    var at = panels.indexOf(panel);
    panels.forEach((one, place) => one.toggleAttribute('data-active', place === at));
    var list = set.firstElementChild;
    if (!list) return;
    list.querySelectorAll('.tabs-item').forEach(function (one, place) {
      one.setAttribute('aria-selected', String(place === at));
      /** @type {HTMLElement} */ (one).tabIndex = place === at ? 0 : -1;
    });
  }
  // Sets that were made at different times do not know each other, so a choice is passed on to all of them.
  document.addEventListener('click', function (event) {
    var target = /** @type {Element} */ (event.target);
    var button = target.closest && target.closest('.tabs-item');
    var set = button && button.closest('.tabs, .code-group');
    if (!set || !set.hasAttribute('data-sync')) return;
    var panel = Array.from(set.children).find((one) => one.matches('.tab-panel[data-active]'));
    var title = panel && panel.getAttribute('data-title');
    document.querySelectorAll('.tabs[data-sync], .code-group[data-sync]').forEach(function (other) {
      var twin = Array.from(other.children).find(
        (one) => one.matches('.tab-panel') && one.getAttribute('data-title') === title,
      );
      if (other !== set && twin && !twin.hasAttribute('data-active')) activate(other, twin);
    });
  });

  // Files that changed.

  var sidebarAddress = '';
  /** @param {string} address of a file of the site, as it is written */
  function pathOf(address) {
    try {
      var url = new URL(address, location.href);
      return url.origin === location.origin ? decodeURIComponent(url.pathname.slice(1)) : '';
    } catch (_) {
      return '';
    }
  }
  /** @param {string} address */
  function again(address) {
    count += 1;
    var url = new URL(address, location.href);
    url.searchParams.set('dev', Date.now() + '-' + count);
    return url.href;
  }
  /** @param {string[]} files */
  function refresh(files) {
    document.querySelectorAll('link[rel="stylesheet"]').forEach(function (link) {
      var address = link.getAttribute('href') || '';
      if (!files.includes(pathOf(address))) return;
      var next = /** @type {HTMLLinkElement} */ (link.cloneNode());
      next.href = again(address);
      // The old style sheet stays until the new one is there, so that the page is never without one.
      next.onload = next.onerror = function () {
        link.remove();
      };
      var made = copyOf.get(link);
      if (made) {
        liveOf.set(made, next);
        copyOf.set(next, made);
      }
      link.after(next);
    });
    document
      .querySelectorAll('img[src], source[src], video[src], video[poster], link[rel="icon"]')
      .forEach(function (one) {
        ['src', 'href', 'poster'].forEach(function (name) {
          var address = one.getAttribute(name);
          if (address && files.includes(pathOf(address))) one.setAttribute(name, again(address));
        });
      });
    if (files.includes(pathOf(sidebarAddress))) void loadSidebar();
  }
  async function loadSidebar() {
    await loadTools();
    var place = document.querySelector('.sidebar');
    var content = document.querySelector('.sidebar-content');
    if (!place || !content) return;
    await loadScript(again(sidebarAddress));
    var title = (/** @type {Element} */ one) => (one.querySelector('summary') || one).textContent;
    var open = Array.from(content.querySelectorAll('details'))
      .filter((one) => one.open)
      .map(title);
    var scroll = place.scrollTop;
    run(() => /** @type {any} */ (window).binderyDevParts.sidebar(wholeDocument(), quietMedia));
    content.querySelectorAll('details').forEach((one) => open.includes(title(one)) && (one.open = true));
    place.scrollTop = scroll;
  }
  function wholeDocument() {
    return scopedDocument((selector) => Array.from(document.querySelectorAll(selector)));
  }

  // Problems.

  /** @typedef {{ severity: string, code: string, message: string, file: string, line?: number, column?: number, lines: { number: number, text: string, isPlace: boolean }[] }} Problem */
  /** @type {HTMLElement | undefined} */
  var overlay;
  /** @type {Problem[]} */
  var shown = [];
  /** True for a problem that changes what the page shows. @param {Problem} problem */
  function isBroken(problem) {
    return problem.severity === 'error' || problem.code.startsWith('mdx-');
  }
  /**
   * Shows problems: open over the page if something is broken, else as a button with their number. @param {Problem[]} problems @param {boolean} [isOpen]
   */
  function showProblems(problems, isOpen) {
    if (overlay) overlay.remove();
    overlay = undefined;
    if (problems.length === 0) return;
    overlay = document.createElement('bindery-problems');
    var shadow = overlay.attachShadow({ mode: 'open' });
    // A style element would be against the policy of the page.
    var sheet = new CSSStyleSheet();
    sheet.replaceSync(overlayStyle);
    shadow.adoptedStyleSheets = [sheet];
    document.body.append(overlay);
    var count = problems.length === 1 ? '1 problem' : problems.length + ' problems';
    if (!isOpen) {
      var button = element('button', 'pill', count);
      button.addEventListener('click', () => showProblems(problems, true));
      shadow.append(button);
      return;
    }
    var box = element('div', 'box');
    box.setAttribute('role', 'alert');
    var head = element('div', 'head');
    head.append(element('strong', '', count));
    var close = element('button', '', 'Close');
    close.addEventListener('click', () => showProblems(problems));
    shown = problems;
    head.append(close);
    box.append(head);
    problems.forEach(function (problem) {
      var one = element('section', '');
      var place = [problem.file, problem.line, problem.column].filter((part) => part !== undefined && part !== '');
      one.append(element('p', 'place', place.join(':')), element('p', 'message', problem.message));
      if (problem.lines.length > 0) {
        var code = element('pre', '');
        problem.lines.forEach(function (line) {
          code.append(
            element(
              'span',
              line.isPlace ? 'line here' : 'line',
              String(line.number).padStart(4) + '  ' + line.text + '\n',
            ),
          );
          if (line.isPlace && problem.column !== undefined && problem.column <= line.text.length + 1)
            code.append(element('span', 'line caret', ' '.repeat(5 + problem.column) + '^\n'));
        });
        one.append(code);
      }
      box.append(one);
    });
    box.append(element('p', 'foot', 'Escape closes this. It goes away when the files are repaired.'));
    shadow.append(box);
  }
  /** @param {string} tag @param {string} className @param {string} [text] */
  function element(tag, className, text) {
    var made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }
  document.addEventListener('keydown', function (event) {
    if (event.key === 'Escape' && overlay) showProblems(shown);
  });
  var overlayStyle = `
    .pill { position: fixed; z-index: 2147483647; right: 16px; bottom: 16px; color: #e6e8ec; background: #16181d; border-color: #f59e0b; }
    .box { position: fixed; z-index: 2147483647; inset: auto 16px 16px 16px; margin: auto; max-width: 56rem; max-height: 60vh; overflow: auto;
      box-sizing: border-box; padding: 16px 20px; border: 1px solid #f43f5e66; border-top: 4px solid #f43f5e; border-radius: 10px; background: #16181d; color: #e6e8ec;
      font: 14px/22px system-ui, sans-serif; box-shadow: 0 12px 48px #0008; }
    .head { display: flex; justify-content: space-between; align-items: center; }
    button { font: inherit; color: inherit; background: #ffffff14; border: 1px solid #ffffff26; border-radius: 6px; padding: 2px 10px; cursor: pointer; }
    button.pill { font: 13px/20px system-ui, sans-serif; color: #e6e8ec; background: #16181d; border-color: #f59e0b; }
    section { margin-top: 12px; border-top: 1px solid #ffffff1a; padding-top: 12px; }
    p { margin: 0 0 6px; } .place { font: 13px/20px ui-monospace, monospace; color: #fda4af; overflow-wrap: anywhere; } .foot { margin: 14px 0 0; color: #9aa1ad; font-size: 13px; }
    pre { margin: 6px 0 0; padding: 10px 0; overflow: auto; background: #0d0f13; border-radius: 6px; font: 13px/20px ui-monospace, monospace; }
    .line { display: block; padding: 0 12px; white-space: pre; color: #9aa1ad; } .here { background: #f43f5e26; color: #fff; } .caret { color: #fb7185; }
  `;

  // The connection. A hidden page has none: browsers open only a few for each server, and the page is brought up to date when it is shown again.

  /** @type {EventSource | undefined} */
  var stream;
  /** Messages are handled one after the other. @type {Promise<void>} */
  var last = Promise.resolve();
  function connect() {
    if (stream || document.visibilityState === 'hidden') return;
    var query = new URLSearchParams({ target: location.pathname + location.search, key: key });
    if (page !== undefined) query.set('page', page);
    stream = new EventSource(base + 'events?' + query);
    stream.onmessage = function (event) {
      var message = JSON.parse(event.data);
      last = last.then(() => receive(message)).catch((error) => console.warn(error));
    };
    // The browser would connect again with the first key. A new connection tells the server what the page shows now.
    stream.onerror = function () {
      disconnect();
      setTimeout(connect, 300);
    };
  }
  function disconnect() {
    if (stream) stream.close();
    stream = undefined;
  }
  /** @param {any} message */
  async function receive(message) {
    if (message.kind === 'problems') {
      shown = message.problems;
      showProblems(shown, shown.some(isBroken));
    } else if (message.kind === 'reload') reload(message.to);
    else if (message.kind === 'files') refresh(message.files);
    else if (message.kind === 'page') {
      if (message.files.some((/** @type {string} */ file) => file.startsWith('_bindery/islands/'))) return reload();
      await loadTools();
      if (page === undefined || !merge(message.html)) return reload();
      refresh(message.files);
      key = message.key;
      document.dispatchEvent(new CustomEvent('bindery-dev', { detail: message.key }));
    }
  }
  document.addEventListener('visibilitychange', function () {
    if (document.visibilityState === 'hidden') disconnect();
    else connect();
  });
  addEventListener('pagehide', disconnect);
  addEventListener('pageshow', (event) => event.persisted && connect());

  begin();
  addEventListener('DOMContentLoaded', function () {
    scripts = scriptsOf(document);
    sidebarAddress = sidebarOf(document);
    connect();
  });
  addEventListener('load', function () {
    restoreState();
    void loadTools().catch((error) => console.warn(error));
  });
})();

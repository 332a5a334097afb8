/** Builds the sidebar. This script is joined with `elements` into one function. */
(function () {
  /** @typedef {import('../page-globals.ts').SidebarEntry} SidebarEntry */
  var navigation = window.binderyNavigation;
  var place = document.querySelector('.sidebar-content');
  if (!navigation || !place) return;
  var current = (document.documentElement.dataset.currentPath || '').slice(1);

  /** @param {string} name */
  function icon(name) {
    if (!navigation.icons || !Object.prototype.hasOwnProperty.call(navigation.icons, name)) return null;
    var known = navigation.icons[name];
    if ('shapes' in known) return drawn(navigation.frames[known.frame] + known.shapes + '</svg>');
    var made = make('picture' in known ? 'img' : 'span', 'picture' in known ? 'icon' : 'icon emoji');
    if ('picture' in known) {
      made.setAttribute('alt', '');
      made.setAttribute(
        'src',
        /^(https|data):/.test(known.picture) ? known.picture : filesRoot() + fileHref(known.picture),
      );
    } else {
      made.setAttribute('aria-hidden', 'true');
      made.textContent = known.text;
    }
    return made;
  }

  /** @param {string} path */
  function fileHref(path) {
    return path.split('/').map(encodeURIComponent).join('/');
  }

  /** @param {SidebarEntry} entry */
  function label(entry) {
    /** @type {Element[]} */
    var parts = [];
    var sign = entry.i && icon(entry.i);
    if (sign) parts.push(sign);
    parts.push(make('span', 'sidebar-title', entry.t));
    if (entry.g) parts.push(make('span', 'sidebar-tag', entry.g));
    return parts;
  }

  /** @param {SidebarEntry} entry @param {string} [path] */
  function link(entry, path) {
    var a = make('a', 'sidebar-link');
    a.href = path === undefined ? entry.h : pageAddress(path);
    if (path === undefined && /^https?:/.test(entry.h)) {
      a.target = '_blank';
      a.rel = 'noopener noreferrer';
    }
    if (path !== undefined && path === current) a.setAttribute('aria-current', 'page');
    a.append.apply(a, label(entry));
    return a;
  }

  /** @param {SidebarEntry} entry @returns {boolean} */
  function holds(entry) {
    return entry.p === current || entry.r === current || (entry.c || []).some(holds);
  }

  /** @param {SidebarEntry} entry @returns {string | undefined} */
  function firstPage(entry) {
    var found = entry.r === undefined ? entry.p : entry.r;
    (entry.c || []).forEach(function (inner) {
      if (found === undefined) found = firstPage(inner);
    });
    return found;
  }

  /** @param {SidebarEntry[]} entries @param {number} depth */
  function list(entries, depth) {
    var ul = make('ul', 'sidebar-list');
    entries.forEach(function (entry) {
      var li = make('li');
      if (entry.c) li.append(group(entry, depth + 1));
      else if (entry.p !== undefined) li.append(link(entry, entry.p));
      else if (entry.h !== undefined) li.append(link(entry));
      ul.append(li);
    });
    return ul;
  }

  /** @param {SidebarEntry} entry @param {number} depth @returns {HTMLElement} */
  function group(entry, depth) {
    if (depth === 0) {
      var section = make('div', 'sidebar-group');
      var head = entry.r === undefined ? make('p', 'sidebar-group-header') : link(entry, entry.r);
      if (entry.r === undefined) head.append.apply(head, label(entry));
      section.append(head, list(entry.c, 0));
      return section;
    }
    var details = make('details', 'sidebar-folder');
    details.open = entry.x === 1 || holds(entry);
    var summary = make('summary', 'sidebar-link');
    if (entry.r === current) summary.setAttribute('aria-current', 'page');
    summary.append.apply(summary, label(entry));
    var chevron = drawn(icons['chevron-right']);
    chevron.classList.add('chevron');
    summary.append(chevron);
    // @ts-expect-error the page of a group is an entry as the others
    var inside = entry.r === undefined ? entry.c : [{ t: entry.t, p: entry.r }].concat(entry.c);
    details.append(summary, list(inside, depth));
    if (navigation.drilldown)
      summary.addEventListener('click', function () {
        var first = firstPage(entry);
        if (!details.open && first !== undefined && !holds(entry)) location.href = pageAddress(first);
      });
    return details;
  }

  var made = document.createDocumentFragment();
  if (navigation.links.length > 0) {
    var anchors = list(navigation.links, 0);
    anchors.classList.add('sidebar-anchors');
    made.append(anchors);
  }
  /** @type {SidebarEntry[]} */
  var loose = [];
  function flush() {
    if (loose.length > 0) {
      var section = make('div', 'sidebar-group');
      section.append(list(loose, 0));
      made.append(section);
    }
    loose = [];
  }
  navigation.entries.forEach(function (entry) {
    if (!entry.c) {
      loose.push(entry);
      return;
    }
    flush();
    made.append(group(entry, 0));
  });
  flush();
  place.replaceChildren(made);

  // On small screens, the drawer contains parts that do not fit into the header.
  var sidebar = place.closest('.sidebar');
  var header = document.querySelector('.navbar-row');
  var narrow = matchMedia('(max-width: 767px)');
  var movable = ['.switchers', '.navbar-links', '.navbar-primary'].map(function (selector) {
    var part = header && header.querySelector(selector);
    return part && { part: part, home: part.parentNode, before: part.nextSibling, first: selector === '.switchers' };
  });
  function arrange() {
    movable.filter(Boolean).forEach(function (one) {
      if (!narrow.matches) one.home.insertBefore(one.part, one.before);
      else if (one.first) sidebar.prepend(one.part);
      else sidebar.append(one.part);
    });
  }
  if (sidebar) {
    arrange();
    narrow.addEventListener('change', arrange);
  }

  /** @type {HTMLElement} */
  var tab = document.querySelector('.nav-tabs-item[data-active]');
  if (tab) {
    var tabs = tab.parentElement;
    var edges = tabs.getBoundingClientRect();
    var mark = tab.getBoundingClientRect();
    tabs.scrollLeft += mark.left + mark.width / 2 - edges.left - edges.width / 2;
  }

  /** @type {HTMLElement} */
  var active = place.querySelector('[aria-current="page"]');
  if (sidebar && active && active.offsetParent !== null) {
    var box = active.getBoundingClientRect();
    var frame = sidebar.getBoundingClientRect();
    if (box.bottom > frame.bottom - 80) sidebar.scrollTop += box.top - frame.top - frame.height / 3;
  }
})();

// What a page can do once it is there. Classic script, no modules and no fetch: it runs from a folder as from a server.
(function () {
  var root = document.documentElement;
  var config = window.binderyConfig || { features: {} };

  function all(selector, inside) {
    return Array.prototype.slice.call((inside || document).querySelectorAll(selector));
  }
  function make(tag, className, text) {
    var made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }
  function remember(store, key, value) {
    try {
      store.setItem(key, value);
    } catch (_) {}
  }
  function recall(store, key) {
    try {
      return store.getItem(key);
    } catch (_) {
      return null;
    }
  }

  var live = make('div', 'sr-only');
  live.setAttribute('aria-live', 'polite');
  document.body.append(live);
  function say(text) {
    live.textContent = '';
    requestAnimationFrame(function () {
      live.textContent = text;
    });
  }

  // Light and dark.
  all('.theme-switch').forEach(function (button) {
    button.addEventListener('click', function () {
      var dark = root.classList.toggle('dark');
      remember(localStorage, 'bindery-theme', dark ? 'dark' : 'light');
      say(dark ? 'Dark theme' : 'Light theme');
    });
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', function (event) {
    if (!recall(localStorage, 'bindery-theme') && root.dataset.appearance === 'system')
      root.classList.toggle('dark', event.matches);
  });
  all('.banner-close').forEach(function (button) {
    button.addEventListener('click', function () {
      root.classList.add('no-banner');
      remember(sessionStorage, 'bindery-banner', '1');
    });
  });

  // The sidebar as a drawer on small screens.
  var sidebar = document.querySelector('.sidebar');
  var menu = document.querySelector('.menu-button');
  if (sidebar && menu) {
    var veil = make('div', 'veil');
    veil.hidden = true;
    document.body.append(veil);
    var setOpen = function (open) {
      root.classList.toggle('menu-open', open);
      menu.setAttribute('aria-expanded', String(open));
      menu.setAttribute('aria-label', open ? 'Close navigation' : 'Open navigation');
      veil.hidden = !open;
      if (open) {
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
      var stops = [menu].concat(
        all('a, summary', sidebar).filter(function (stop) {
          return stop.offsetParent !== null;
        }),
      );
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

  // Menus close when the reader turns elsewhere.
  document.addEventListener('click', function (event) {
    all('.switcher[open]').forEach(function (menuOpen) {
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

  // Copying.
  function copy(text, button, done) {
    function told() {
      button.classList.add('done');
      say('Copied');
      if (done) done();
      setTimeout(function () {
        button.classList.remove('done');
      }, 1500);
    }
    if (navigator.clipboard && window.isSecureContext) {
      navigator.clipboard.writeText(text).then(told, function () {});
      return;
    }
    var area = make('textarea', 'sr-only');
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
    told();
  }
  function shape(path) {
    var ns = 'http://www.w3.org/2000/svg';
    var svg = document.createElementNS(ns, 'svg');
    var attributes = {
      class: 'icon',
      viewBox: '0 0 24 24',
      fill: 'none',
      stroke: 'currentColor',
      'aria-hidden': 'true',
    };
    for (var key in attributes) svg.setAttribute(key, attributes[key]);
    var line = document.createElementNS(ns, 'path');
    line.setAttribute('d', path);
    svg.append(line);
    return svg;
  }
  all('.code-block:not([data-nocopy]), .prompt[data-copy]').forEach(function (block) {
    var code = block.querySelector('pre code');
    if (!code) return;
    var button = make('button', 'copy-button code-block-copy-button icon-button');
    button.type = 'button';
    button.setAttribute('aria-label', 'Copy');
    button.append(shape('M9 9h11v11H9zM5 15H4V4h11v1'));
    button.addEventListener('click', function () {
      copy(code.textContent.replace(/\n$/, ''), button);
    });
    block.append(button);
  });
  all('.expandable-code').forEach(function (block) {
    var button = make('button', 'expand-button', 'Show all lines');
    button.type = 'button';
    button.addEventListener('click', function () {
      block.classList.add('expanded');
      button.remove();
    });
    block.append(button);
  });

  // Tabs: the choice holds for all with the same title, here and on other pages.
  var KEY = 'bindery-tabs';
  function chosenTitles() {
    try {
      return JSON.parse(recall(localStorage, KEY) || '[]');
    } catch (_) {
      return [];
    }
  }
  function panelsOf(set) {
    return Array.prototype.filter.call(set.children, function (child) {
      return child.classList.contains('tab-panel');
    });
  }
  function buttonsOf(set) {
    return all('.tabs-item', set.firstElementChild);
  }
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
    // What the reader looks at stays where it is, although tabs above it may have changed their height.
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

  // Views: one list to choose from, above the first of them.
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
    select.setAttribute('aria-label', 'View');
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

  // An address with an anchor opens what it points into.
  function reveal() {
    var id = decodeURIComponent(location.hash.slice(1));
    var target = id && document.getElementById(id);
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
  all('details.accordion').forEach(function (accordion) {
    accordion.addEventListener('toggle', function () {
      if (accordion.open && accordion.id && location.hash !== '#' + accordion.id)
        history.replaceState(null, '', '#' + encodeURIComponent(accordion.id));
    });
  });

  // On this page: where the reader is.
  var entries = all('.table-of-contents .toc a');
  var targets = entries
    .map(function (entry) {
      return document.getElementById(decodeURIComponent(entry.hash.slice(1)));
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
        var isHere = decodeURIComponent(entry.hash.slice(1)) === current.id;
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

  // Pictures open on click.
  if (typeof HTMLDialogElement === 'function') {
    all('.mdx-content img').forEach(function (image) {
      if (
        image.hasAttribute('data-no-zoom') ||
        image.closest('a, .card, .icon, .tooltip') ||
        image.classList.contains('icon')
      )
        return;
      image.classList.add('zoomable');
      image.addEventListener('click', function () {
        var dialog = make('dialog', 'zoom');
        var large = image.cloneNode();
        large.removeAttribute('width');
        large.removeAttribute('height');
        large.className = '';
        dialog.append(large);
        document.body.append(dialog);
        dialog.addEventListener('click', function () {
          dialog.close();
        });
        dialog.addEventListener('close', function () {
          dialog.remove();
        });
        dialog.showModal();
      });
    });
  }

  // Changelogs: by tag.
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

  // Print: everything is open.
  addEventListener('beforeprint', function () {
    all('.mdx-content details').forEach(function (details) {
      if (!details.open) {
        details.dataset.closed = '';
        details.open = true;
      }
    });
  });
  addEventListener('afterprint', function () {
    all('details[data-closed]').forEach(function (details) {
      details.open = false;
      delete details.dataset.closed;
    });
  });

  // Next pages are on their way before they are asked for, where there is a server.
  if (/^https?:/.test(location.protocol)) {
    var fetched = {};
    document.addEventListener('pointerover', function (event) {
      var link = event.target.closest && event.target.closest('a[href]');
      if (!link || link.origin !== location.origin || fetched[link.pathname] || link.pathname === location.pathname)
        return;
      fetched[link.pathname] = true;
      var hint = make('link');
      hint.rel = 'prefetch';
      hint.href = link.href;
      document.head.append(hint);
    });
    if (config.siteUrl && !document.querySelector('link[rel=canonical]')) {
      var canonical = make('link');
      canonical.rel = 'canonical';
      canonical.href =
        String(config.siteUrl).replace(/\/$/, '') + (root.dataset.currentPath || '/').replace(/(^|\/)index$/, '$1');
      document.head.append(canonical);
    }
  }

  // Search in the index that is part of the bundle, where config.js switches it on.
  var entry = document.querySelector('.search-entry');
  if (!entry || config.features.search !== 'bundle') return;
  entry.hidden = false;
  var dialog;
  var loading = false;
  function withIndex(run) {
    if (window.binderySearchIndex) {
      run(window.binderySearchIndex);
      return;
    }
    if (loading) return;
    loading = true;
    var script = make('script');
    script.src = root.dataset.root + '_bindery/search-index.js';
    script.onload = function () {
      if (window.binderySearchIndex) run(window.binderySearchIndex);
    };
    document.head.append(script);
  }
  function find(index, query) {
    var words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return [];
    var found = [];
    index.sections.forEach(function (section) {
      var page = index.pages[section[0]];
      var title = page[1].toLowerCase();
      var heading = section[2].toLowerCase();
      var text = section[3].toLowerCase();
      var score = 0;
      for (var at = 0; at < words.length; at++) {
        var word = words[at];
        var points = (title.includes(word) ? 6 : 0) + (heading.includes(word) ? 4 : 0) + (text.includes(word) ? 1 : 0);
        if (title === word || heading === word) points += 6;
        if (points === 0) return;
        score += points;
      }
      found.push([score, section, page]);
    });
    return found
      .sort(function (a, b) {
        return b[0] - a[0];
      })
      .slice(0, 20);
  }
  function openSearch() {
    if (!dialog) {
      dialog = make('dialog', 'search-dialog');
      var input = make('input', 'search-input');
      input.type = 'search';
      input.placeholder = 'Search';
      input.setAttribute('aria-label', 'Search');
      var results = make('ul', 'search-results');
      dialog.append(input, results);
      document.body.append(dialog);
      var show = function () {
        withIndex(function (index) {
          var found = find(index, input.value);
          results.replaceChildren.apply(
            results,
            found.map(function (hit) {
              var li = make('li');
              var a = make('a', 'search-result');
              a.href =
                root.dataset.root +
                hit[2][0].split('/').map(encodeURIComponent).join('/') +
                '.html' +
                (hit[1][1] ? '#' + encodeURIComponent(hit[1][1]) : '');
              a.append(
                make('span', 'search-title', hit[2][1] + (hit[1][2] ? ' › ' + hit[1][2] : '')),
                make('span', 'search-text', hit[1][3].slice(0, 140)),
              );
              li.append(a);
              return li;
            }),
          );
          if (input.value.trim()) say(found.length + ' results');
        });
      };
      input.addEventListener('input', show);
      dialog.addEventListener('keydown', function (event) {
        if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
        var stops = [input].concat(all('a', results));
        var at = stops.indexOf(document.activeElement);
        event.preventDefault();
        stops[Math.min(stops.length - 1, Math.max(0, at + (event.key === 'ArrowDown' ? 1 : -1)))].focus();
      });
      input.addEventListener('keydown', function (event) {
        var first = results.querySelector('a');
        if (event.key === 'Enter' && first) location.href = first.href;
      });
      dialog.addEventListener('click', function (event) {
        if (event.target === dialog) dialog.close();
      });
    }
    dialog.showModal();
    dialog.querySelector('input').select();
    withIndex(function () {});
  }
  entry.addEventListener('click', openSearch);
  document.addEventListener('keydown', function (event) {
    var typing =
      /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName) || document.activeElement.isContentEditable;
    if ((event.key === '/' && !typing) || (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey))) {
      event.preventDefault();
      openSearch();
    }
  });
})();

(function () {
  // Search in the index that is part of the bundle, where config.js switches it on.
  /** @typedef {import('../../page-globals.ts').SearchIndex} SearchIndex */
  /** @type {HTMLElement} */
  var entry = document.querySelector('.search-entry');
  if (!entry || config.features.search !== 'bundle') return;
  entry.hidden = false;
  /** @type {HTMLDialogElement} */
  var dialog;
  var loading = false;
  /** @param {(index: SearchIndex) => void} run */
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
  /** @param {SearchIndex} index @param {string} query */
  function find(index, query) {
    var words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return [];
    /** @type {[score: number, section: SearchIndex['sections'][number][number], page: SearchIndex['pages'][number]][]} */
    var found = [];
    index.pages.forEach(function (page, number) {
      var title = page[1].toLowerCase();
      index.sections[number].forEach(function (section) {
        var heading = section[1].toLowerCase();
        var text = section[2].toLowerCase();
        var score = 0;
        for (var at = 0; at < words.length; at++) {
          var word = words[at];
          var points =
            (title.includes(word) ? 6 : 0) + (heading.includes(word) ? 4 : 0) + (text.includes(word) ? 1 : 0);
          if (title === word || heading === word) points += 6;
          if (points === 0) return;
          score += points;
        }
        found.push([score, section, page]);
      });
    });
    return found
      .sort(function (a, b) {
        return b[0] - a[0];
      })
      .slice(0, 20);
  }
  /** @param {number} count */
  function counted(count) {
    var forms = texts.results;
    var form = forms[new Intl.PluralRules(root.lang).select(count)] || forms.other;
    return form.replace('{count}', count.toLocaleString(root.lang));
  }
  function openSearch() {
    if (!dialog) {
      dialog = make('dialog', 'search-dialog');
      var input = make('input', 'search-input');
      input.type = 'search';
      input.placeholder = texts.search;
      input.setAttribute('aria-label', texts.search);
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
                (hit[1][0] ? '#' + encodeURIComponent(hit[1][0]) : '');
              a.append(
                make('span', 'search-title', hit[2][1] + (hit[1][1] ? ' › ' + hit[1][1] : '')),
                make('span', 'search-text', hit[1][2].slice(0, 140)),
              );
              li.append(a);
              return li;
            }),
          );
          if (input.value.trim()) say(counted(found.length));
        });
      };
      input.addEventListener('input', show);
      dialog.addEventListener('keydown', function (event) {
        if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
        var stops = [input].concat(all('a', results));
        // @ts-expect-error any element may have the focus
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
      // @ts-expect-error on a page of HTML it is an HTMLElement
      /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName) || document.activeElement.isContentEditable;
    if ((event.key === '/' && !typing) || (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey))) {
      event.preventDefault();
      openSearch();
    }
  });
})();

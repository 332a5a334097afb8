// A server shows this page under any address, so the root of the site must be found: the nearest folder above that has our theme. A documentation
// host states it.
(function () {
  var known = document.documentElement.dataset.root;
  var folders = (known || location.pathname).split('/').slice(0, -1);
  function attempt() {
    var root = folders.join('/') + '/';
    var link = document.createElement('link');
    link.rel = 'stylesheet';
    link.href = root + '_bindery/theme.css';
    link.onload = function () {
      document.querySelectorAll('a[data-file]').forEach(function (anchor) {
        // @ts-expect-error the selector finds links only
        anchor.href = root + anchor.dataset.file;
      });
    };
    link.onerror = function () {
      link.remove();
      if (folders.length > 1) {
        folders.pop();
        attempt();
      }
    };
    document.head.append(link);
  }
  if (matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.classList.add('dark');
  attempt();
})();

/** @type {Record<string, Promise<void>>} */
var asked = {};
/** Loads a script below `_bindery/` once. A failed load can be repeated. @param {string} name @param {string} [from] where the site's files are @returns {Promise<void>} */
function load(name, from) {
  if (asked[name] === undefined)
    asked[name] = new Promise(function (resolve, reject) {
      var script = make('script');
      script.src = (from || filesRoot()) + '_bindery/' + name;
      script.onload = function () {
        resolve();
      };
      script.onerror = function () {
        delete asked[name];
        reject(new Error(name + ' could not be loaded'));
      };
      document.head.append(script);
    });
  return asked[name];
}

var root = document.documentElement;
var config = usableConfig(window.binderyConfig);
window.binderyConfig = config;
var texts = window.binderyTexts;

/** @template {HTMLElement} [E=HTMLElement] @param {string} selector @param {ParentNode} [inside] @returns {E[]} */
function all(selector, inside) {
  return Array.prototype.slice.call((inside || document).querySelectorAll(selector));
}
/** The id in the hash of an address; the hash may be invalid. @param {string} hash */
function idIn(hash) {
  try {
    return decodeURIComponent(hash.slice(1));
  } catch (_) {
    return hash.slice(1);
  }
}
/** @param {Storage} store @param {string} key @param {string} value */
function remember(store, key, value) {
  try {
    store.setItem(key, value);
  } catch (_) {}
}
/** @param {Storage} store @param {string} key */
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
/** @param {string} text */
function say(text) {
  live.textContent = '';
  requestAnimationFrame(function () {
    live.textContent = text;
  });
}

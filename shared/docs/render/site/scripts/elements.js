/** @param {string} markup of our own @returns {Element} */
function drawn(markup) {
  var template = document.createElement('template');
  template.innerHTML = markup;
  return template.content.firstElementChild;
}
function siteRoot() {
  return document.documentElement.dataset.root || './';
}
/**
 * Folder of the files that pages load. On a documentation host it contains the version, so that an open page keeps loading files of its own version.
 */
function filesRoot() {
  return document.documentElement.dataset.files || siteRoot();
}
/** The address of a page, relative to the current page. On a documentation host it has no extension. @param {string} path */
function pageAddress(path) {
  var end = document.documentElement.dataset.pageEnd;
  return siteRoot() + path.split('/').map(encodeURIComponent).join('/') + (end === undefined ? '.html' : end);
}

// What an address points at: readers come with the anchors of other sluggers, and with those that pages had before.
/** Letters and digits of an anchor, which all sluggers agree about. @param {string} anchor */
function anchorKey(anchor) {
  return anchor
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '');
}
/**
 * The element with that id, or the only one of the content with the same letters and digits, as `AnchorNames` finds them for links inside a page.
 * @param {string} anchor @returns {HTMLElement | null | undefined}
 */
function elementNamed(anchor) {
  var found = document.getElementById(anchor) || onlyNamed(anchor);
  if (found || !anchor.startsWith('h-')) return found;
  return document.getElementById(anchor.slice(2)) || onlyNamed(anchor.slice(2));
}
/** @param {string} name @returns {HTMLElement | undefined} */
function onlyNamed(name) {
  var key = anchorKey(name);
  if (key === '') return undefined;
  var named = all('.mdx-content [id], .aside-content [id]');
  var alike = named.filter((element) => anchorKey(element.id) === key);
  if (alike.length > 0) return alike.length === 1 ? alike[0] : undefined;
  // A field of an answer, without its status.
  return named.find(function (element) {
    var field = /^response-2\d\d-(.+)$/.exec(element.id);
    return field !== null && anchorKey('response' + field[1]) === key;
  });
}

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
  var alike = all('.mdx-content [id], .aside-content [id]').filter(function (element) {
    return key !== '' && anchorKey(element.id) === key;
  });
  return alike.length === 1 ? alike[0] : undefined;
}

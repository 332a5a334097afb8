// Resolves the anchor of the address: links may have anchors of other sluggers, or anchors that pages had earlier.
/** Letters and digits of an anchor, which all sluggers keep. @param {string} anchor */
function anchorKey(anchor) {
  return anchor
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '');
}
/** Joins repeated hyphens as other sluggers do. @param {string} anchor */
function withSingleHyphens(anchor) {
  return anchor.replace(/-{2,}/g, '-');
}
/**
 * The element with this id, or the only one of the content with the same letters and digits. If several elements have them, it is the one that
 * differs only in repeated hyphens. `AnchorNames` resolves links inside a page in the same way.
 * @param {string} anchor @returns {HTMLElement | null | undefined}
 */
function elementNamed(anchor) {
  var found = document.getElementById(anchor) || onlyNamed(anchor);
  if (found || !/^(?:h|param|id)-./.test(anchor)) return found;
  var plain = anchor.slice(anchor.indexOf('-') + 1);
  return document.getElementById(plain) || onlyNamed(plain);
}
/** @param {string} name @returns {HTMLElement | undefined} */
function onlyNamed(name) {
  var key = anchorKey(name);
  if (key === '') return undefined;
  var named = all('.mdx-content [id], .aside-content [id]');
  var alike = named.filter((element) => anchorKey(element.id) === key);
  if (alike.length > 0) return alike.length === 1 ? alike[0] : onlyHyphenated(alike, name);
  // The anchor may be the name of a response field without its status.
  return named.find(function (element) {
    var field = /^response-2\d\d-(.+)$/.exec(element.id);
    return field !== null && anchorKey('response' + field[1]) === key;
  });
}
/** @param {HTMLElement[]} alike @param {string} name @returns {HTMLElement | undefined} */
function onlyHyphenated(alike, name) {
  var found = alike.filter((element) => withSingleHyphens(element.id) === withSingleHyphens(name));
  return found.length === 1 ? found[0] : undefined;
}

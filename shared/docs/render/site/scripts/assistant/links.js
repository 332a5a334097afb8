// Resolves links of an answer: pages of the site, other sites by http and https, and mail addresses. Other addresses are not linked.
/** The site of the answers: where it begins, its address, and the ending of its pages. @typedef {{ top: string, siteUrl: string, end: string }} AnsweringSite */
/** Undefined for an address that is not linked. @typedef {{ href: string, isOwn: boolean } | undefined} LinkTarget */
var fileEndings = /\.(pdf|zip|json|ya?ml|txt|xml|csv|png|jpe?g|gif|svg|webp|mp4|mp3)$/i;
/** @param {string} written @param {AnsweringSite} site @returns {LinkTarget} */
function linkTarget(written, site) {
  // Browsers drop some of these characters, and read others as slashes. Half of a pair has no encoding.
  if (written.length > 2000 || /[\0-\x20\x7f\\\ud800-\udfff]/u.test(written)) return undefined;
  var { top, siteUrl, end } = site;
  var path = siteUrl && written.indexOf(siteUrl + '/') === 0 ? written.slice(siteUrl.length) : written;
  if (/^https?:\/\//i.test(path)) return elsewhere(path);
  // Without the fields after the address, which would fill in a mail in the reader's name.
  var mail = /^mailto:([\w.+-]{1,100}@[a-z0-9.-]{1,200})(?:\?|$)/i.exec(path);
  if (mail) return { href: 'mailto:' + mail[1], isOwn: false };
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(path)) return undefined;
  var hash = path.split('#')[1];
  var names = path
    .split(/[?#]/)[0]
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .map(decodedName);
  if (names.some((name) => name === undefined || name === '..' || /[/\\]/.test(name))) return undefined;
  if (names.length === 0) names = ['index'];
  var file = names.map(encodeURIComponent).join('/');
  if (!fileEndings.test(file)) file = file.replace(/\.(html|md)$/, '') + end;
  if (file === 'index') file = '';
  var anchor = hash && decodedName(hash);
  return { href: top + file + (anchor ? '#' + encodeURIComponent(anchor) : ''), isOwn: true };
}
/** @param {string} address */
function elsewhere(address) {
  try {
    var url = new URL(address);
    return url.username || url.password ? undefined : { href: url.href, isOwn: false };
  } catch (_) {
    return undefined;
  }
}
/** @param {string} name @returns {string | undefined} */
function decodedName(name) {
  try {
    return decodeURIComponent(name);
  } catch (_) {
    return undefined;
  }
}

// Resolves links of an answer: pages of this site, relative to the current page, or other sites by http and https. Other addresses are not linked.
var fileEndings = /\.(pdf|zip|json|ya?ml|txt|xml|csv|png|jpe?g|gif|svg|webp|mp4|mp3)$/i;
/** @param {string} written @param {string} top where the site begins, as `data-root` has it @param {string} siteUrl @returns {{ href: string, isOwn: boolean } | undefined} */
function linkTarget(written, top, siteUrl) {
  // Browsers drop some of these characters, and read others as slashes.
  if (written.length > 2000 || /[\0-\x20\x7f\\]/.test(written)) return undefined;
  var path = siteUrl && written.indexOf(siteUrl + '/') === 0 ? written.slice(siteUrl.length) : written;
  if (/^https?:\/\//i.test(path)) return elsewhere(path);
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
  if (!fileEndings.test(file)) file = file.replace(/\.(html|md)$/, '') + '.html';
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

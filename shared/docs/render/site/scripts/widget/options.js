// Checks the options of a widget, and sets their default values.
/** @typedef {import('../../widget-types.ts').WidgetOptions} WidgetOptions */
var ownElement = /** @type {HTMLScriptElement} */ (document.currentScript);
/** Address of the folder that has this script's `_bindery`: a gateway or a site. Undefined in a bundle of an application. */
var scriptBase = ownElement && ownElement.src ? ownElement.src.replace(/\/_bindery\/[^]*$/, '') : undefined;
/** @param {string} value @param {string} name @param {string} otherwise */
function addressOf(value, name, otherwise) {
  if (value === undefined || value === '') return otherwise;
  var url;
  try {
    url = new URL(value, document.baseURI);
  } catch (_) {}
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash)
    throw new TypeError('BinderyWidget: ' + name + ' must be an address such as "https://docs.example.com".');
  return url.href.replace(/\/+$/, '');
}
/** Throws a TypeError with a sentence about the first invalid option. @param {WidgetOptions} given */
function usableOptions(given) {
  if (!given || typeof given.domain !== 'string' || !/^[a-z0-9-]{1,63}$/.test(given.domain))
    throw new TypeError('BinderyWidget: domain must be the name of the documentation on the platform.');
  if (given.key !== undefined && !/^svc_dsc_[0-9A-Za-z]{36}$/.test(given.key))
    throw new TypeError(
      'BinderyWidget: key must be an assistant key (svc_dsc_…). An admin key is secret and must not be in a page.',
    );
  var server = addressOf(given.server, 'server', scriptBase);
  if (!server) throw new TypeError('BinderyWidget: server must be the address of the gateway.');
  /** @type {Element} */
  var target;
  if (given.target) {
    target = typeof given.target === 'string' ? document.querySelector(given.target) : given.target;
    if (!target) throw new TypeError('BinderyWidget: target must be an element of the page, or a selector of one.');
  }
  // Without a key the server is the site itself, whose pages ask without one.
  var site = addressOf(given.site, 'site', given.key === undefined ? server : undefined);
  return Object.assign({}, given, { server: server, site: site, target: target });
}
/** The table of texts for a language: the last part of its code is dropped until there is one. @param {string} code @returns {string} */
function textsName(code) {
  var name = code.toLowerCase();
  name = widgetTexts.same[name] || name;
  if (widgetTexts.tables[name]) return name;
  var end = name.lastIndexOf('-');
  return end < 0 ? 'en' : textsName(name.slice(0, end));
}

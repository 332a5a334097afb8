// Facts about the page for a conversation in a widget. Each widget has these parts for itself.
/** @typedef {import('../../widget-types.ts').WidgetState} WidgetState */
/** @typedef {import('../../page-globals.ts').ScriptTexts} ScriptTexts */
var ending = new AbortController();
/** @type {AbortSignal} */
var ended = ending.signal;
/** @type {SiteConfig} */
var config = /** @type {any} */ ({ serverUrl: widgetOptions.server, domain: widgetOptions.domain });
var conversationName =
  'bindery-assistant:' + [config.domain, widgetOptions.name].filter(Boolean).join('/') + '@' + config.serverUrl;
var language = widgetOptions.language || document.documentElement.lang || navigator.language || 'en';
/** The texts of a table are in the order of their names. @type {string[]} */
var tableTexts = widgetTexts.tables[textsName(language)].split('|');
/** @type {ScriptTexts} */
var texts = /** @type {any} */ (Object.fromEntries(widgetTexts.names.map((name, at) => [name, tableTexts[at]])));
var panelWords = /** @type {import('../../page-globals.ts').AssistantTexts} */ (/** @type {any} */ (texts));
if (widgetOptions.title) panelWords.title = widgetOptions.title;
if (widgetOptions.label) panelWords.ask = widgetOptions.label;
var isRightToLeft = widgetTexts.rightToLeft.test(textsName(language));
/** @type {readonly string[]} */
var starters = widgetOptions.questions || [];
/** Address of the site without a slash at its end; empty while it is unknown. */
var siteAddress = widgetOptions.site || '';
/** @type {(to: string) => LinkTarget} */
var answerTarget = function (to) {
  var target = linkTarget(to, { top: siteAddress + '/', siteUrl: siteAddress, end: widgetOptions.pageEnd || '' });
  if (!target || !target.isOwn) return target;
  // Without the address of the site, its paths lead nowhere. A site beside the page opens in the same tab.
  return siteAddress ? { href: target.href, isOwn: new URL(siteAddress).origin === location.origin } : undefined;
};
/** @type {() => { currentPath?: string, filter?: object }} */
var askedFrom = () => ({ currentPath: widgetOptions.currentPath, filter: widgetOptions.filter });
/** @type {() => Promise<Record<string, string>>} */
var readerHeaders = async function () {
  /** @type {Record<string, string>} */
  var headers = {};
  if (widgetOptions.key) headers.authorization = 'Bearer ' + widgetOptions.key;
  var token = widgetOptions.userToken;
  if (typeof token === 'function') token = await token();
  if (token) headers['x-user-token'] = token;
  return headers;
};

// Facts about the page for a conversation in it. The widget has its own part in place of this one.
/** Name in the browser's storage. A host may have several sites, and another platform must not learn the key of a thread. */
var conversationName = 'bindery-assistant:' + config.domain + '@' + config.serverUrl;
/** Questions that a reader may begin with. @type {readonly string[]} */
var starters = [];
/** Aborts when the conversation ends. The page's lasts as long as the page. @type {AbortSignal} */
var ended;
/** The target of a link in an answer. @type {(to: string) => LinkTarget} */
var answerTarget = (to) => linkTarget(to, { top: root.dataset.root, siteUrl: config.siteUrl, end: '.html' });
/** The reader's place, which steers the answer. @type {() => { currentPath?: string, filter?: object }} */
var askedFrom = function () {
  var place = root.dataset;
  return {
    currentPath: place.currentPath.slice(0, 200),
    filter: place.language || place.version ? { language: place.language, version: place.version } : undefined,
  };
};
/** Headers that authenticate a question. @type {() => Promise<Record<string, string>>} */
var readerHeaders = () => Promise.resolve({ authorization: 'Bearer ' + config.assistantKey });

// `window.BinderyWidget`: makes widgets, also from the attributes of the script's element.
/** @typedef {import('../../widget-types.ts').Widget} Widget */
/** @typedef {{ options: ReturnType<typeof usableOptions>, host: Element, widget: Widget }} LiveWidget */
/** @type {LiveWidget[]} */
var liveWidgets = [];
/** @type {CSSStyleSheet} */
var sharedSheet;
function widgetSheet() {
  if (!sharedSheet) {
    sharedSheet = new CSSStyleSheet();
    sharedSheet.replaceSync(widgetStyles);
  }
  return sharedSheet;
}
/** @param {LiveWidget} live */
function endWidget(live) {
  liveWidgets = liveWidgets.filter((one) => one !== live);
  live.widget.destroy();
}
/** @param {WidgetOptions} given @returns {Widget} */
function initWidget(given) {
  var options = usableOptions(given);
  // A page may have removed the element of a widget without ending it.
  liveWidgets.filter((live) => !live.host.isConnected).forEach(endWidget);
  var known = liveWidgets.find((live) =>
    ['target', 'server', 'domain', 'name'].every(
      (name) => /** @type {any} */ (live.options)[name] === /** @type {any} */ (options)[name],
    ),
  );
  if (known) return known.widget;
  var made = makeWidget(options);
  made.buildFrame();
  /** @type {LiveWidget} */
  var live;
  var widget = Object.assign({}, made.shownWidget, {
    destroy: function () {
      if (liveWidgets.includes(live)) liveWidgets = liveWidgets.filter((one) => one !== live);
      made.shownWidget.destroy();
    },
  });
  live = { options: options, host: made.widgetHost, widget: widget };
  liveWidgets.push(live);
  return widget;
}
function newestWidget() {
  var live = liveWidgets[liveWidgets.length - 1];
  if (!live) throw new Error('BinderyWidget: there is no widget yet. Call init first.');
  return live.widget;
}
/** Makes the widget that the attributes of the script's element describe. @param {DOMStringMap} data */
function initFrom(data) {
  var { questions, ...rest } = data;
  /** @type {any} */
  var options = Object.assign(
    // The script of another gateway may have come first, and knows its own address only.
    { server: scriptBase },
    rest,
    questions && { questions: questions.split('|').map((text) => text.trim()) },
  );
  function run() {
    try {
      window.BinderyWidget.init(options);
    } catch (error) {
      console.error(error);
    }
  }
  if (document.readyState === 'loading' && options.target) document.addEventListener('DOMContentLoaded', run);
  else run();
}
// Frameworks that replace the page may run the script again.
if (!window.BinderyWidget)
  window.BinderyWidget = Object.freeze({
    version: widgetVersion,
    init: initWidget,
    /** @param {WidgetOptions} options */
    chat: function (options) {
      var made = makeWidget(usableOptions(options));
      made.resumeTurn();
      return made.chatOfWidget;
    },
    /** @param {string} [question] */
    open: (question) => newestWidget().open(question),
    close: () => newestWidget().close(),
    /** @param {string} question */
    ask: (question) => newestWidget().open(question),
    destroy: () => liveWidgets.slice().forEach(endWidget),
  });
if (ownElement && ownElement.dataset.domain) initFrom(ownElement.dataset);

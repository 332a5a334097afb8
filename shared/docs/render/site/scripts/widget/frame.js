// The elements of a widget in a shadow root: a button and a panel over the page, or a panel in it.
var widgetHost = document.createElement('bindery-widget');
var shadow = widgetHost.attachShadow({ mode: 'open' });
var frame = make('div', 'widget');
var isInline = Boolean(widgetOptions.target);
var box = /** @type {HTMLDialogElement} */ (make(isInline ? 'section' : 'dialog', 'assistant-panel'));
var launcher = make('button', 'launcher');
/** On phones the panel covers the page. */
var isNarrow = matchMedia('(max-width: 640px)');
var prefersDark = matchMedia('(prefers-color-scheme: dark)');
var theme = widgetOptions.theme || 'auto';
/** The colours of the site. @type {{ light: Record<string, string>, dark: Record<string, string> }} */
var siteColors;
/** The element with the focus before the panel opened. @type {Element} */
var openedBy;

function buildFrame() {
  shadow.adoptedStyleSheets = [widgetSheet()];
  frame.lang = language;
  frame.dir = isRightToLeft ? 'rtl' : 'ltr';
  if (widgetOptions.position === 'start') frame.classList.add('is-start');
  box.setAttribute('aria-label', panelWords.title);
  buildTalk(box, isInline ? undefined : closeBox);
  if (isInline) frame.classList.add('is-inline');
  else buildLauncher();
  frame.append(box);
  // The page must not take what a reader types for its own shortcuts: outside of the root, the field is no field.
  ['keydown', 'keyup', 'keypress'].forEach((type) => frame.addEventListener(type, (event) => event.stopPropagation()));
  box.addEventListener('keydown', function (event) {
    if (event.key !== 'Escape' || event.isComposing || isInline) return;
    event.preventDefault();
    closeBox();
  });
  box.addEventListener('cancel', function (event) {
    event.preventDefault();
    closeBox();
  });
  isNarrow.addEventListener('change', () => isBoxOpen() && placeBox(), { signal: ended });
  prefersDark.addEventListener('change', paint, { signal: ended });
  paint();
  if (widgetOptions.key && !(widgetOptions.color && widgetOptions.site)) void takeSettings();
  shadow.append(frame);
  // Outside of the body, which some frameworks replace when a reader goes to another page.
  (widgetOptions.target || document.documentElement).append(widgetHost);
}
function buildLauncher() {
  launcher.type = 'button';
  launcher.setAttribute('aria-haspopup', 'dialog');
  launcher.setAttribute('aria-label', panelWords.ask);
  launcher.append(drawn(icons.sparkles), make('span', '', panelWords.ask));
  launcher.addEventListener('click', () => (isBoxOpen() ? closeBox() : openBox()));
  showOpen();
  frame.append(launcher);
}
function showOpen() {
  launcher.setAttribute('aria-expanded', String(isBoxOpen()));
  frame.classList.toggle('is-open', isBoxOpen());
}
/** Sets the colours of the appearance: those of the site, or those of one colour. */
function paint() {
  var isDark = theme === 'dark' || (theme === 'auto' && prefersDark.matches);
  frame.classList.toggle('is-dark', isDark);
  var colors = siteColors
    ? siteColors[isDark ? 'dark' : 'light']
    : accentColors(widgetOptions.color || '#2563eb', isDark);
  Object.entries(colors).forEach(([name, value]) => frame.style.setProperty('--' + name, value));
}
/** The button waits for its colours, and appears without them if they do not come soon. */
async function takeSettings() {
  launcher.hidden = true;
  await Promise.race([readSettings(), new Promise((resolve) => setTimeout(resolve, 2000))]);
  launcher.hidden = false;
}
async function readSettings() {
  try {
    var response = await fetch(config.serverUrl + '/discovery/v1/widget/' + config.domain, {
      headers: await readerHeaders(),
      referrerPolicy: 'no-referrer',
      signal: ended,
    });
    if (!response.ok) return;
    var settings = await response.json();
    if (!widgetOptions.color) siteColors = settings.colors;
    paint();
    // The project writes its address, so it is checked like one of the page. It throws if it is none.
    if (!widgetOptions.site) siteAddress = addressOf(settings.site, 'site', '');
    // Links of answers that are shown already lead to the site, too.
    if (!request) showTurns();
  } catch (_) {}
}
function isBoxOpen() {
  return isInline || box.hasAttribute('open');
}
function placeBox() {
  box.close();
  if (isNarrow.matches) box.showModal();
  else box.show();
}
function openBox() {
  launcher.hidden = false;
  if (!isBoxOpen()) {
    openedBy = shadow.activeElement || document.activeElement;
    placeBox();
    showOpen();
    log.scrollTop = log.scrollHeight;
    emit('open');
  }
  field.focus();
}
function closeBox() {
  if (isInline || !isBoxOpen()) return;
  box.close();
  showOpen();
  var isThere = openedBy && openedBy.isConnected && openedBy !== document.body;
  /** @type {HTMLElement} */ (isThere ? openedBy : launcher).focus();
  emit('close');
}
var shownWidget = Object.assign({}, chatOfWidget, {
  /** @param {string} [question] */
  open: function (question) {
    openBox();
    return question === undefined ? Promise.resolve() : askQuestion(String(question));
  },
  close: closeBox,
  isOpen: isBoxOpen,
  /** @param {'auto' | 'light' | 'dark'} wanted */
  setTheme: function (wanted) {
    theme = wanted;
    paint();
  },
  destroy: function () {
    closeBox();
    chatOfWidget.destroy();
    cancelAnimationFrame(growingFrame);
    widgetHost.remove();
  },
});

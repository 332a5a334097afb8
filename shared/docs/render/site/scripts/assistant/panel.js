// The panel: beside the page on wide screens, otherwise a sheet over it.
/** The element with the focus before the panel opened. @type {HTMLElement} */
var openedFrom;
var panel = make('dialog', 'assistant-panel');
var chip = make('div', 'assistant-chip');
var beside = matchMedia('(min-width: 1024px)');

function buildPanel() {
  panel.setAttribute('aria-label', panelWords.title);
  form.append(chip);
  buildTalk(panel, closePanel);
  document.body.append(panel);
  panel.addEventListener('keydown', function (event) {
    if (event.key !== 'Escape' || event.isComposing) return;
    event.preventDefault();
    closePanel();
  });
  panel.addEventListener('cancel', function (event) {
    event.preventDefault();
    closePanel();
  });
  // On a phone, the panel covers the page that a link opens.
  log.addEventListener('click', function (event) {
    var link = /** @type {Element} */ (event.target).closest('a');
    if (link && !link.target && !beside.matches && !event.ctrlKey && !event.metaKey) closePanel();
  });
  beside.addEventListener('change', function () {
    if (panel.open) placePanel();
  });
  chatListeners.push(showSelection);
  showSelection();
}
function showSelection() {
  chip.hidden = !selection;
  if (!selection) return;
  var shown = make('span', '', selection.value);
  shown.dir = 'auto';
  var remove = signButton('icon-button', 'x', panelWords.removeSelection, function () {
    selection = undefined;
    showSelection();
    field.focus();
  });
  chip.replaceChildren(drawn(icons.quote), shown, remove);
}

/** Opens the panel in the form that fits the screen. */
function placePanel() {
  panel.close();
  panel.classList.toggle('is-beside', beside.matches);
  root.classList.toggle('has-assistant', beside.matches);
  // `show` would take the focus, even if the panel is only restored.
  if (beside.matches) panel.setAttribute('open', '');
  else panel.showModal();
}
function closePanel() {
  panel.close();
  root.classList.remove('has-assistant');
  rememberOpen(false);
  if (openedFrom && openedFrom.isConnected) openedFrom.focus();
}
/** @param {boolean} isOpen */
function rememberOpen(isOpen) {
  try {
    if (isOpen) sessionStorage.setItem('bindery-assistant-open:' + config.domain, '1');
    else sessionStorage.removeItem('bindery-assistant-open:' + config.domain);
  } catch (_) {}
}

/** @type {Promise<void>} */
var styled = new Promise(function (resolve) {
  var styles = make('link');
  styles.rel = 'stylesheet';
  styles.href = filesRoot() + '_bindery/assistant.css';
  styles.onload = styles.onerror = () => resolve();
  document.head.append(styles);
});
window.binderyAssistant = {
  open: async function (asked) {
    await styled;
    if (!panel.isConnected) buildPanel();
    if (!panel.open) {
      if (!asked.isAgain) openedFrom = /** @type {HTMLElement} */ (document.activeElement);
      placePanel();
      log.scrollTop = log.scrollHeight;
      rememberOpen(beside.matches);
    } else if (!asked.isAgain && !asked.question && !asked.selection && panel.contains(document.activeElement)) {
      closePanel();
      return;
    }
    if (asked.selection) {
      selection = asked.selection;
      showSelection();
    }
    if (!asked.isAgain) field.focus();
    if (asked.question) void askQuestion(asked.question, selection);
  },
};

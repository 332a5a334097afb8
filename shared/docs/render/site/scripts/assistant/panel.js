// The panel: beside the page on wide screens, otherwise a sheet over it.
/** @type {Conversation} */
var conversation = keptConversation();
/** @type {AskedSelection} */
var selection;
/** The request in flight. @type {AbortController} */
var request;
/** The element with the focus before the panel opened. @type {HTMLElement} */
var openedFrom;
var panel = make('dialog', 'assistant-panel');
var log = make('div', 'assistant-log');
var form = make('form', 'assistant-form');
var field = make('textarea', 'assistant-field');
var chip = make('div', 'assistant-chip');
var told = make('div', 'sr-only');
var sendButton = make('button', 'assistant-send');
var beside = matchMedia('(min-width: 1024px)');

function buildPanel() {
  panel.setAttribute('aria-label', panelWords.title);
  var head = make('div', 'assistant-head');
  var title = make('h2', '', panelWords.title);
  title.prepend(drawn(icons.sparkles));
  head.append(
    title,
    signButton('icon-button', 'square-pen', panelWords.newThread, beginAnew),
    signButton('icon-button', 'x', panelWords.close, closePanel),
  );
  log.setAttribute('role', 'log');
  // Only complete answers are announced, by `told`.
  log.setAttribute('aria-live', 'off');
  log.setAttribute('aria-label', panelWords.title);
  log.tabIndex = 0;
  told.setAttribute('role', 'status');
  field.rows = 1;
  field.maxLength = 4000;
  field.placeholder = panelWords.placeholder;
  field.setAttribute('aria-label', panelWords.placeholder);
  field.setAttribute('enterkeyhint', 'send');
  sendButton.type = 'submit';
  var row = make('div', 'assistant-row');
  row.append(field, sendButton);
  form.append(chip, row);
  panel.append(head, log, form, make('p', 'assistant-note', panelWords.note), told);
  document.body.append(panel);
  form.addEventListener('submit', function (event) {
    event.preventDefault();
    if (request) request.abort();
    else void askQuestion(field.value);
  });
  field.addEventListener('input', fitField);
  field.addEventListener('keydown', function (event) {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (!request) void askQuestion(field.value);
  });
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
  addEventListener('pagehide', () => keepConversation(conversation));
  showSending();
  showSelection();
  showTurns();
}
function fitField() {
  // An empty field has no text to determine the direction.
  field.dir = field.value ? 'auto' : '';
  field.style.height = 'auto';
  field.style.height = field.scrollHeight + 'px';
}
function showSending() {
  var isBusy = request !== undefined;
  sendButton.replaceChildren(drawn(icons[isBusy ? 'square' : 'arrow-up']));
  sendButton.setAttribute('aria-label', isBusy ? panelWords.stop : panelWords.send);
  sendButton.title = isBusy ? panelWords.stop : panelWords.send;
  sendButton.classList.toggle('is-busy', isBusy);
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
function showTurns() {
  log.replaceChildren();
  if (conversation.turns.length === 0) {
    var welcome = make('div', 'assistant-welcome');
    welcome.append(drawn(icons.sparkles), make('p', '', panelWords.welcome));
    log.append(welcome);
  }
  conversation.turns.forEach(function (turn) {
    addTurn(turn).end();
  });
  log.scrollTop = log.scrollHeight;
}
/** @param {ConversationTurn} turn */
function addTurn(turn) {
  var view = turnView(turn, {
    retry: function () {
      if (!request) void answerTurn(turn);
    },
    rate: (rating) => rateTurn(turn, rating),
  });
  log.append(view.element);
  return view;
}

/** @param {string} written */
async function askQuestion(written) {
  var question = written.trim();
  if (!question || request) return;
  field.value = '';
  fitField();
  /** @type {ConversationTurn} */
  var turn = { question: question, selection: selection, text: '', sources: [], messageId: '' };
  selection = undefined;
  showSelection();
  await answerTurn(turn);
}
/** Requests the answer to a question, which becomes the last one. @param {ConversationTurn} turn */
async function answerTurn(turn) {
  turn.text = turn.messageId = '';
  turn.sources = [];
  turn.problem = turn.rating = undefined;
  conversation.turns = conversation.turns.filter((one) => one !== turn).concat(turn);
  showTurns();
  log.lastElementChild.remove();
  var view = addTurn(turn);
  log.scrollTop = log.scrollHeight;
  var asked = conversation;
  var own = (request = new AbortController());
  var isTooLong = false;
  /** @type {number} */
  var frame;
  function drawMore() {
    frame = undefined;
    var isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 60;
    if (!view.show(turn)) {
      isTooLong = true;
      own.abort();
    }
    if (isAtEnd) log.scrollTop = log.scrollHeight;
  }
  showSending();
  keepConversation(conversation);
  told.textContent = panelWords.working;
  var problem = await askPlatformAbout(asked, turn, own, function (answer) {
    turn.text = answer.text;
    turn.sources = answer.sources;
    turn.messageId = answer.messageId;
    if (frame === undefined) frame = requestAnimationFrame(drawMore);
  });
  cancelAnimationFrame(frame);
  turn.problem = isTooLong ? 'tooLong' : problem;
  // A new conversation has begun in the meantime.
  if (asked !== conversation) return;
  request = undefined;
  showSending();
  var isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 60;
  if (view.element.isConnected) view.end();
  if (isAtEnd) log.scrollTop = log.scrollHeight;
  keepConversation(conversation);
  told.textContent = [
    view.element.querySelector('.assistant-answer').textContent,
    turn.problem && panelWords[turn.problem],
  ]
    .filter(Boolean)
    .join(' ');
}
/** @param {ConversationTurn} turn @param {'up' | 'down'} rating */
async function rateTurn(turn, rating) {
  var about = { threadId: conversation.threadId, messageId: turn.messageId, rating: rating };
  try {
    var response = await postToPlatform('v1/feedback/{domain}', about, conversation);
    if (response.ok) {
      keepConversation(conversation);
      return true;
    }
    told.textContent = panelWords[problemOfStatus(response.status)];
  } catch (_) {
    told.textContent = panelWords.unavailable;
  }
  return false;
}
function beginAnew() {
  conversation = newConversation();
  if (request) request.abort();
  request = undefined;
  selection = undefined;
  keepConversation(conversation);
  showSending();
  showSelection();
  showTurns();
  field.focus();
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
    if (asked.question) void askQuestion(asked.question);
  },
};

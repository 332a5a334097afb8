// The elements of a conversation: the log of questions and answers, and the field for the next question.
var log = make('div', 'assistant-log');
var form = make('form', 'assistant-form');
var field = make('textarea', 'assistant-field');
var told = make('div', 'sr-only');
var sendButton = make('button', 'assistant-send');
/** The view of the turn in flight. @type {TurnView} */
var growing;
/** @type {number} */
var growingFrame;
/** The selection that the next question is about. @type {AskedSelection} */
var selection;

/** The title, and the buttons for a new conversation and, if it can be closed, for that. @param {() => void} [close] */
function talkHead(close) {
  var head = make('div', 'assistant-head');
  var title = make('h2', '', panelWords.title);
  title.prepend(drawn(icons.sparkles));
  var anew = signButton('icon-button', 'square-pen', panelWords.newThread, function () {
    beginAnew();
    field.focus();
  });
  head.append(title, anew);
  if (close) head.append(signButton('icon-button', 'x', panelWords.close, close));
  return head;
}
/** Adds the elements to a panel. @param {HTMLElement} panel @param {() => void} [close] */
function buildTalk(panel, close) {
  log.setAttribute('role', 'log');
  // `told` announces answers, once they are complete.
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
  form.append(row);
  panel.append(talkHead(close), log, form, make('p', 'assistant-note', panelWords.note), told);
  form.addEventListener('submit', function (event) {
    event.preventDefault();
    if (request) stopAnswer();
    else askWritten();
  });
  field.addEventListener('input', fitField);
  field.addEventListener('keydown', function (event) {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (!request) askWritten();
  });
  addEventListener('pagehide', () => keepConversation(conversation), { signal: ended });
  chatListeners.push(showChat);
  showSending();
  showTurns();
  resumeTurn();
}
function askWritten() {
  var written = field.value;
  if (!written.trim()) return;
  field.value = '';
  fitField();
  void askQuestion(written, selection);
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
function showTurns() {
  log.replaceChildren();
  if (conversation.turns.length === 0) {
    var welcome = make('div', 'assistant-welcome');
    welcome.append(drawn(icons.sparkles), make('p', '', panelWords.welcome));
    if (starters.length > 0) welcome.append(questionButtons(starters, askSuggested));
    log.append(welcome);
  }
  conversation.turns.forEach(function (turn) {
    addTurn(turn).end();
  });
  log.scrollTop = log.scrollHeight;
}
/** The button that was pressed disappears, so the field gets the focus. @param {string} question */
function askSuggested(question) {
  field.focus();
  void askQuestion(question);
}
/** @param {ConversationTurn} turn */
function addTurn(turn) {
  var view = turnView(turn, {
    ask: askSuggested,
    retry: () => void answerTurn(turn),
    rate: async function (rating) {
      var problem = await rateTurn(turn, rating);
      if (problem) told.textContent = panelWords[problem];
      return !problem;
    },
  });
  log.append(view.element);
  return view;
}
function isLogAtEnd() {
  return log.scrollHeight - log.scrollTop - log.clientHeight < 60;
}

/** @type {ChatListener} */
function showChat(event, turn) {
  if (event === 'grow') {
    if (growingFrame === undefined) growingFrame = requestAnimationFrame(() => drawMore(turn));
    return;
  }
  if (event === 'begin') {
    if (turn.selection === selection) selection = undefined;
    showTurns();
    log.lastElementChild.remove();
    growing = addTurn(turn);
    log.scrollTop = log.scrollHeight;
    told.textContent = panelWords.working;
  }
  if (event === 'end') endTurn(turn);
  if (event === 'reset') {
    selection = undefined;
    showTurns();
  }
  if (event !== 'rate') showSending();
}
/** @param {ConversationTurn} turn */
function drawMore(turn) {
  growingFrame = undefined;
  var isAtEnd = isLogAtEnd();
  if (!growing.show(turn)) stopAnswer(turn);
  if (isAtEnd) log.scrollTop = log.scrollHeight;
}
/** @param {ConversationTurn} turn */
function endTurn(turn) {
  cancelAnimationFrame(growingFrame);
  growingFrame = undefined;
  var isAtEnd = isLogAtEnd();
  growing.end();
  if (isAtEnd) log.scrollTop = log.scrollHeight;
  told.textContent = [
    growing.element.querySelector('.assistant-answer').textContent,
    turn.problem && panelWords[turn.problem],
  ]
    .filter(Boolean)
    .join(' ');
}

// The conversation of a widget for programs: its state, and the calls that change it.
/** @typedef {import('../../widget-types.ts').WidgetEvent} WidgetEvent */
/** @typedef {import('../../widget-types.ts').WidgetTurn} WidgetTurn */
/** @type {WidgetState} */
var shownState;
/** @type {{ type: string, run: (detail: any) => void }[]} */
var eventListeners = [];
/** @param {ConversationTurn} turn @returns {WidgetTurn} */
function shownTurn(turn) {
  return {
    question: turn.question,
    text: turn.text,
    sources: turn.sources.map(function (source) {
      var target = answerTarget(source.url);
      return { title: source.title, url: source.url, href: target && target.href };
    }),
    suggestions: turn.suggestions || [],
    messageId: turn.messageId,
    rating: turn.rating,
    problem: turn.problem && { kind: turn.problem, text: panelWords[turn.problem] },
  };
}
/** The same object until something changes, as `useSyncExternalStore` expects. */
function currentState() {
  shownState = shownState || {
    isAsking: request !== undefined,
    threadId: conversation.threadId,
    turns: conversation.turns.map(shownTurn),
  };
  return shownState;
}
/** @param {string} type @param {object} [detail] */
function emit(type, detail) {
  eventListeners.slice().forEach(function (listener) {
    // A listener of the page that throws must not end the answer.
    try {
      if (listener.type === type) listener.run(detail);
    } catch (error) {
      console.error(error);
    }
  });
}
/** @param {string} type @param {(detail: any) => void} run */
function listen(type, run) {
  var listener = { type: type, run: run };
  eventListeners.push(listener);
  return function () {
    eventListeners = eventListeners.filter((one) => one !== listener);
  };
}
chatListeners.push(function (event, turn) {
  shownState = undefined;
  emit('change');
  if (event === 'begin') emit('ask', { question: turn.question });
  if (event === 'end') emit('answer', shownTurn(turn));
  if (event === 'rate') emit('feedback', { messageId: turn.messageId, rating: turn.rating });
  if (event === 'reset') emit('reset');
});
/** @param {string} messageId */
function turnOf(messageId) {
  return conversation.turns.find((turn) => messageId !== '' && turn.messageId === messageId);
}
var chatOfWidget = {
  state: currentState,
  /** @param {() => void} run */
  subscribe: (run) => listen('change', run),
  on: listen,
  /** @param {string} question */
  ask: (question) => askQuestion(String(question)),
  stop: () => stopAnswer(),
  /** @param {string} messageId @param {'up' | 'down'} rating */
  rate: async function (messageId, rating) {
    var turn = turnOf(messageId);
    if (!turn) return false;
    var before = turn.rating;
    turn.rating = rating;
    if (!(await rateTurn(turn, rating))) return true;
    turn.rating = before;
    return false;
  },
  reset: () => beginAnew(),
  destroy: function () {
    ending.abort();
    stopAnswer();
    emit('destroy');
    eventListeners = [];
    chatListeners = [];
  },
};

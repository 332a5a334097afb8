// Asks questions and keeps their answers, without elements: views of the conversation listen to it.
/** A turn begins, its answer grows, or it has ended; a rating was stored; another conversation began. @typedef {'begin' | 'grow' | 'end' | 'rate' | 'reset'} ChatEvent */
/** @typedef {(event: ChatEvent, turn?: ConversationTurn) => void} ChatListener */
/** @type {Conversation} */
var conversation = keptConversation();
/** The request in flight. @type {AbortController} */
var request;
/** The turn whose answer does not fit. @type {ConversationTurn} */
var tooLongTurn;
/** @type {ChatListener[]} */
var chatListeners = [];
/** @type {ChatListener} */
function tellChat(event, turn) {
  chatListeners.slice().forEach((listener) => listener(event, turn));
}

/** Resolves when the answer has ended; at once if there is no question, or another one is being answered. @param {string} written @param {AskedSelection} [selection] */
async function askQuestion(written, selection) {
  var question = written.trim().slice(0, 4000);
  if (!question || request) return;
  await answerTurn({ question: question, selection: selection, text: '', sources: [], messageId: '' });
}
/** True if the page has ended the conversation itself, which is no wish of the reader. */
function hasEnded() {
  return Boolean(ended && ended.aborted);
}
/** Comes back to the answer that an earlier page of this tab did not read to its end. */
function resumeTurn() {
  var last = conversation.turns[conversation.turns.length - 1];
  if (last && isShort(last.chat)) void answerTurn(last, last.chat);
}
/** Requests the answer to a question, which becomes the last one. @param {ConversationTurn} turn @param {string} [chat] of an answer that has begun */
async function answerTurn(turn, chat) {
  if (request) return;
  if (!chat) {
    turn.text = turn.messageId = '';
    turn.sources = [];
    turn.suggestions = turn.problem = turn.rating = undefined;
  }
  turn.chat = chat;
  conversation.turns = conversation.turns.filter((one) => one !== turn).concat(turn);
  var asked = conversation;
  var own = (request = new AbortController());
  tooLongTurn = undefined;
  keepConversation(conversation);
  tellChat('begin', turn);
  var problem = await askPlatformAbout(asked, turn, own, function (answer) {
    turn.text = answer.text;
    turn.sources = answer.sources;
    turn.suggestions = answer.suggestions;
    turn.messageId = answer.messageId;
    if (asked === conversation) tellChat('grow', turn);
  });
  // The next widget in this tab comes back to the answer.
  if (turn.chat && hasEnded()) return keepConversation(asked);
  turn.problem = tooLongTurn === turn ? 'tooLong' : problem;
  turn.chat = undefined;
  // A new conversation has begun in the meantime.
  if (asked !== conversation) return;
  request = undefined;
  keepConversation(conversation);
  tellChat('end', turn);
}
/** Ends the answer in flight: at the reader's wish, or because it does not fit. @param {ConversationTurn} [tooLong] */
function stopAnswer(tooLong) {
  tooLongTurn = tooLong;
  if (request) request.abort();
}
/** Resolves with the problem, if there was one. @param {ConversationTurn} turn @param {'up' | 'down'} rating @returns {Promise<AssistantWord | undefined>} */
async function rateTurn(turn, rating) {
  var about = { threadId: conversation.threadId, messageId: turn.messageId, rating: rating };
  try {
    var response = await postToPlatform('v1/feedback/{domain}', about, conversation);
    if (!response.ok) return problemOfStatus(response.status);
    keepConversation(conversation);
    tellChat('rate', turn);
    return undefined;
  } catch (_) {
    return 'unavailable';
  }
}
function beginAnew() {
  conversation = newConversation();
  if (request) request.abort();
  request = undefined;
  keepConversation(conversation);
  tellChat('reset');
}

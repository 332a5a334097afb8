// The conversation, kept across the pages of a visit, and the reader's random id, which owns the thread.
/** @typedef {keyof import('../../page-globals.ts').AssistantTexts} AssistantWord */
/** @typedef {{ type: 'code' | 'textSelection', value: string, path: string }} AskedSelection */
/** `chat`: id of an answer that has not ended and can be resumed. */
/** @typedef {{ question: string, selection?: AskedSelection, text: string, sources: AnswerSource[], suggestions?: string[], messageId: string, rating?: 'up' | 'down', problem?: AssistantWord, chat?: string }} ConversationTurn */
/** @typedef {{ threadId: string, threadKey: string, turns: ConversationTurn[] }} Conversation */
var mostTurns = 30;
var mostKeptText = 300000;

/** @returns {Conversation} */
function newConversation() {
  return { threadId: '', threadKey: '', turns: [] };
}
/** @returns {Conversation} */
function keptConversation() {
  try {
    var kept = JSON.parse(sessionStorage.getItem(conversationName));
    var isWhole = kept.turns.every(
      /** @param {any} turn */
      (turn) =>
        typeof turn.question === 'string' &&
        typeof turn.text === 'string' &&
        (turn.suggestions === undefined || Array.isArray(turn.suggestions)) &&
        turn.sources.every(
          /** @param {any} source */
          (source) => typeof source.url === 'string' && typeof source.title === 'string',
        ),
    );
    return isWhole && typeof kept.threadId === 'string' && typeof kept.threadKey === 'string'
      ? kept
      : newConversation();
  } catch (_) {
    return newConversation();
  }
}
/** Stores the newest turns that fit. @param {Conversation} conversation */
function keepConversation(conversation) {
  var turns = conversation.turns.slice(-mostTurns);
  var text = '';
  try {
    do {
      text = JSON.stringify({ threadId: conversation.threadId, threadKey: conversation.threadKey, turns: turns });
      turns = turns.slice(1);
    } while (text.length > mostKeptText && turns.length > 0);
    sessionStorage.setItem(conversationName, text);
  } catch (_) {}
}

/** The reader's id if the browser has no storage. @type {string} */
var ownReaderId;
function readerId() {
  try {
    ownReaderId = ownReaderId || localStorage.getItem('bindery-reader');
  } catch (_) {}
  if (!/^[0-9a-f]{32}$/.test(ownReaderId || '')) {
    ownReaderId = '';
    crypto.getRandomValues(new Uint8Array(16)).forEach((byte) => (ownReaderId += (256 + byte).toString(16).slice(1)));
    try {
      localStorage.setItem('bindery-reader', ownReaderId);
    } catch (_) {}
  }
  return ownReaderId;
}

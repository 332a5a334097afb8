// Reads a streamed answer: events in pieces of any size, and their chunks. Chunks of unknown kinds are skipped.
/** @typedef {{ title: string, url: string }} AnswerSource */
/** @typedef {{ text: string, sources: AnswerSource[], suggestions: string[], messageId: string, threadId: string, isFinished: boolean, isBroken: boolean, isTooLong: boolean }} StreamedAnswer */
var mostAnswerText = 60000;
var mostEventText = 200000;
var mostSources = 8;
var mostSuggestions = 3;

/** @returns {StreamedAnswer} */
function newAnswer() {
  return {
    text: '',
    sources: [],
    suggestions: [],
    messageId: '',
    threadId: '',
    isFinished: false,
    isBroken: false,
    isTooLong: false,
  };
}

/** Parses server-sent events and passes on their data in order. Throws if one is too long. @param {(data: string) => void} onEvent */
function eventReader(onEvent) {
  /** Pieces of the line that has not ended yet. @type {string[]} */
  var pieces = [];
  var length = 0;
  /** @type {string[]} */
  var lines = [];
  var wasReturn = false;
  /** @param {string} line */
  function endLine(line) {
    if (line !== '') {
      if (line.startsWith('data:')) lines.push(line.slice(line[5] === ' ' ? 6 : 5));
      return;
    }
    if (lines.length > 0) onEvent(lines.join('\n'));
    lines = [];
    length = 0;
  }
  return {
    /** @param {string} text */
    feed: function (text) {
      // The text may begin with the second half of a CRLF that was split.
      var from = wasReturn && text[0] === '\n' ? 1 : 0;
      if (text !== '') wasReturn = text[text.length - 1] === '\r';
      var parts = text.slice(from).split(/\r\n|\n|\r/);
      parts.forEach(function (part, at) {
        pieces.push(part);
        length += part.length;
        if (length > mostEventText) throw new RangeError('An event of the stream is too long.');
        if (at === parts.length - 1) return;
        endLine(pieces.join(''));
        pieces = [];
      });
    },
  };
}

/** Applies one event to the answer. @param {StreamedAnswer} answer @param {string} data */
function takeEvent(answer, data) {
  if (data === '[DONE]') {
    answer.isFinished = true;
    return;
  }
  /** @type {any} */
  var chunk;
  try {
    chunk = JSON.parse(data);
  } catch (_) {
    return;
  }
  if (!chunk || typeof chunk !== 'object') return;
  var thread = chunk.threadId || (chunk.messageMetadata && chunk.messageMetadata.threadId);
  if (isShort(thread)) answer.threadId = thread;
  if (chunk.type === 'start' && isShort(chunk.messageId)) answer.messageId = chunk.messageId;
  if (chunk.type === 'text-start' && answer.text !== '') addText(answer, '\n\n');
  if (chunk.type === 'text-delta' && typeof chunk.delta === 'string') addText(answer, chunk.delta);
  if (chunk.type === 'source-url') addSource(answer, chunk);
  if (chunk.type === 'data-suggestions' && Array.isArray(chunk.data))
    answer.suggestions = chunk.data.filter(isShort).slice(0, mostSuggestions);
  if (chunk.type === 'error' || chunk.type === 'abort') answer.isBroken = true;
  if (chunk.type === 'finish') answer.isFinished = true;
}
/** @param {any} value */
function isShort(value) {
  return typeof value === 'string' && value !== '' && value.length <= 200;
}
/** @param {StreamedAnswer} answer @param {string} text */
function addText(answer, text) {
  var room = mostAnswerText - answer.text.length;
  answer.text += text.slice(0, room);
  if (text.length > room) answer.isTooLong = true;
}
/** @param {StreamedAnswer} answer @param {any} chunk */
function addSource(answer, chunk) {
  var url = chunk.url;
  if (typeof url !== 'string' || url.length > 2000 || answer.sources.length === mostSources) return;
  if (answer.sources.some((known) => known.url === url)) return;
  answer.sources.push({ url: url, title: String(chunk.title || url).slice(0, 200) });
}

// Sends requests to the platform, authenticated only by the public key of the site, or the token of the reader.
var mostStreamBytes = 2000000;
/** The platform sends a keep-alive at least every fifteen seconds. */
var silenceMs = 45000;
var mostHistory = 20;
var messagePath = 'v2/assistant/{domain}/message';
/** Tries to come back to an answer. */
var mostTries = 6;

/** @param {string} path @param {object} body @param {Conversation} conversation @param {AbortSignal} [signal] */
async function postToPlatform(path, body, conversation, signal) {
  var own = await Promise.race([readerHeaders(), aborted(signal)]);
  /** @type {Record<string, string>} */
  var headers = Object.assign({ 'content-type': 'application/json' }, own);
  if (path === messagePath) headers['x-resumable'] = 'true';
  if (conversation.threadId && conversation.threadKey) headers['x-thread-key'] = conversation.threadKey;
  return await fetch(config.serverUrl + '/discovery/' + path.replace('{domain}', config.domain), {
    method: 'POST',
    headers: headers,
    body: JSON.stringify(body),
    credentials: 'same-origin',
    referrerPolicy: 'no-referrer',
    signal: signal,
  });
}

/** Rejects when the signal aborts: a page may have to fetch the reader's token first. @param {AbortSignal} [signal] @returns {Promise<undefined>} */
function aborted(signal) {
  return new Promise(function (_, reject) {
    if (signal) signal.addEventListener('abort', reject);
  });
}

/** The body of a question. The platform has the history of a thread; without a thread the body contains it. @param {Conversation} conversation @param {ConversationTurn} turn */
function questionBody(conversation, turn) {
  /** @type {object[]} */
  var messages = [];
  /** @param {string} role @param {string} text */
  function add(role, text) {
    if (text)
      messages.push({ id: 'm' + messages.length, role: role, parts: [{ type: 'text', text: text.slice(0, 8000) }] });
  }
  if (!conversation.threadId)
    conversation.turns.slice(-mostHistory).forEach(function (earlier) {
      if (earlier === turn) return;
      add('user', earlier.question);
      add('assistant', earlier.text);
    });
  add('user', turn.question);
  return Object.assign(
    {
      fp: readerId(),
      messages: messages,
      threadId: conversation.threadId || undefined,
      context: turn.selection ? [turn.selection] : undefined,
    },
    askedFrom(),
  );
}

/** A request about the answer of a turn that can be resumed: `GET` reads it from its first event, `DELETE` stops it. @param {'GET' | 'DELETE'} method @param {string} chat @param {AbortSignal} [signal] */
async function requestChat(method, chat, signal) {
  var own = await Promise.race([readerHeaders(), aborted(signal)]);
  var path = messagePath.replace('{domain}', config.domain) + '/' + encodeURIComponent(chat) + '/stream';
  return await fetch(config.serverUrl + '/discovery/' + path, {
    method: method,
    headers: Object.assign(method === 'GET' ? { 'last-event-id': '0' } : {}, own),
    credentials: 'same-origin',
    referrerPolicy: 'no-referrer',
    signal: signal,
  });
}

/**
 * Asks the question and reads the streamed answer; `onText` is called whenever the answer grows. An answer whose connection was lost, with its page or
 * without it, is read again from its start if the platform keeps it. Resolves with the problem, if there was one.
 * @param {Conversation} conversation @param {ConversationTurn} turn @param {AbortController} request @param {(answer: StreamedAnswer) => void} onText @returns {Promise<AssistantWord | undefined>}
 */
async function askPlatformAbout(conversation, turn, request, onText) {
  var isSilent = false;
  /** @type {ReturnType<typeof setTimeout>} */
  var silence;
  function hear() {
    clearTimeout(silence);
    silence = setTimeout(function () {
      isSilent = true;
      request.abort();
    }, silenceMs);
  }
  var answer = newAnswer();
  /** @param {Response} response */
  async function read(response) {
    answer = newAnswer();
    try {
      await readAnswer(response, answer, function () {
        hear();
        if (answer.threadId) conversation.threadId = answer.threadId;
        // The shown text never becomes shorter.
        if (answer.isFinished || answer.text.length >= turn.text.length) onText(answer);
      });
    } catch (error) {
      if (!turn.chat || request.signal.aborted) throw error;
    }
  }
  try {
    hear();
    if (!turn.chat) {
      var response = await postToPlatform(messagePath, questionBody(conversation, turn), conversation, request.signal);
      if (response.status === 404 && conversation.threadId) {
        // The thread no longer exists, or belongs to another reader. The same question begins a new thread.
        conversation.threadId = conversation.threadKey = '';
        response = await postToPlatform(messagePath, questionBody(conversation, turn), conversation, request.signal);
      }
      if (!response.ok) return problemOfStatus(response.status);
      var thread = response.headers.get('x-thread-id');
      if (isShort(thread)) conversation.threadId = thread;
      conversation.threadKey = response.headers.get('x-thread-key') || conversation.threadKey;
      turn.chat = response.headers.get('x-chat-id') || undefined;
      keepConversation(conversation);
      await read(response);
    }
    for (var tries = 0; turn.chat && tries < mostTries && !answer.isFinished && !answer.isTooLong; tries++) {
      await Promise.race([new Promise((resolve) => setTimeout(resolve, tries * 1000)), aborted(request.signal)]);
      hear();
      try {
        response = await requestChat('GET', turn.chat, request.signal);
      } catch (error) {
        if (request.signal.aborted) throw error;
        continue;
      }
      if (response.status !== 200) break;
      await read(response);
    }
    if (answer.isTooLong) return 'tooLong';
    return answer.isBroken || !answer.isFinished || answer.text === '' ? 'cut' : undefined;
  } catch (_) {
    if (answer.isTooLong) return 'tooLong';
    if (request.signal.aborted && !isSilent) return 'stopped';
    if (answer.text !== '') return 'cut';
    return navigator.onLine === false ? 'offline' : 'unavailable';
  } finally {
    clearTimeout(silence);
    // Stops the stream, because the rest is not read.
    if (turn.chat && !answer.isFinished && !hasEnded()) requestChat('DELETE', turn.chat).catch(() => {});
    request.abort();
  }
}

/** @param {Response} response @param {StreamedAnswer} answer @param {() => void} onMore */
async function readAnswer(response, answer, onMore) {
  var reader = response.body.getReader();
  var decoder = new TextDecoder();
  var events = eventReader((data) => takeEvent(answer, data));
  for (var bytes = 0; ; ) {
    var piece = await reader.read();
    if (piece.done) return;
    bytes += piece.value.length;
    if (bytes > mostStreamBytes) answer.isTooLong = true;
    else
      try {
        events.feed(decoder.decode(piece.value, { stream: true }));
      } catch (_) {
        answer.isTooLong = true;
      }
    onMore();
    if (answer.isFinished || answer.isTooLong) return;
  }
}

/** @param {number} status of HTTP @returns {AssistantWord} */
function problemOfStatus(status) {
  if (status === 401 || status === 403) return 'refused';
  if (status === 404) return 'unknownSite';
  if (status === 429) return 'busy';
  return status >= 500 ? 'unavailable' : 'invalid';
}

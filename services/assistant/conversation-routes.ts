import type { FastifyInstance, FastifyReply } from 'fastify';
import { fingerprintHash } from '#shared/aggregates/thread/decide.ts';
import { conversationTurns, withTurn } from '#shared/aggregates/thread/turns.ts';
import type { MessageBody } from '#shared/contracts/http/assistant.ts';
import { assistant } from '#shared/contracts/internal/assistant.ts';
import type { Caller } from '#shared/contracts/internal/caller.ts';
import { ApiError } from '#shared/http/errors.ts';
import { answerCall, type CallRequest } from '#shared/http/internal-server.ts';
import { type AnswerWire, dataStreamWire, uiMessageWire } from './answer-wire.ts';
import { type AnswerParts, prepareAnswer } from './prepare-answer.ts';
import { streamAnswer, type StreamParts } from './stream-answer.ts';
import type { Thread, Threads } from './threads.ts';

export type MessageRouteParts = AnswerParts &
  Pick<StreamParts, 'conversations' | 'answerTimeoutMs' | 'stopping'> & { hashKey: string };

type MessageRequest = CallRequest<typeof assistant.message> | CallRequest<typeof assistant.messageV1>;

/** Both versions of the message. What is wrong before the first byte is answered as an error, later the stream says it. */
export function addMessageRoutes(app: FastifyInstance, parts: MessageRouteParts): void {
  answerCall(app, assistant.message, (request) => answer(request, uiMessageWire(request.headers['x-bindery-client'])));
  answerCall(app, assistant.messageV1, (request) => answer(request, dataStreamWire()));

  async function answer(request: MessageRequest, wire: AnswerWire): Promise<FastifyReply> {
    const { caller, body, reply, log } = request;
    const question = lastQuestion(body);
    const thread = await threadOf(body, caller, request.headers['x-thread-key']);
    // The stored thread is the truth: what the client says was said earlier does not count.
    const stored = thread.stored?.commit.data.state.lastTurns;
    const turns = stored ? withTurn(stored, { role: 'user', text: question }) : conversationTurns(body.messages);
    const prepared = await prepareAnswer(parts, caller, body, turns);
    const model = `${parts.model.provider}/${parts.model.modelId}`;
    const { answerTimeoutMs, stopping } = parts;
    await streamAnswer(
      reply,
      { caller, thread, turns, question, prepared, wire },
      { conversations: parts.conversations, model, answerTimeoutMs, stopping, log },
    );
    return reply;
  }

  async function threadOf(body: MessageBody, caller: Caller, threadKey: string | undefined): Promise<Thread> {
    const { organization, domain } = caller;
    const owner = fingerprintHash(parts.hashKey, organization, domain, body.fp);
    if (!body.threadId) return parts.conversations.begin(organization, domain, owner);
    return parts.conversations.resume({ organization, domain, threadId: body.threadId }, owner, threadKey);
  }
}

/** The last message's own words: neighbours that were merged for the model are not what was asked now. */
function lastQuestion(body: MessageBody): string {
  const question = conversationTurns(body.messages.slice(-1))[0]?.text;
  if (question !== undefined) return question;
  const path = `messages.${body.messages.length - 1}`;
  throw new ApiError('invalid_request', 'The last message has no text. Send the question as a part of type "text".', {
    fields: [{ path, message: 'must have a part of type "text" that is not empty' }],
  });
}

/** What a reader thinks of an answer. */
export function addFeedbackRoute(app: FastifyInstance, parts: { conversations: Threads }): void {
  answerCall(app, assistant.feedback, async ({ caller, body, headers }) => {
    const { threadId, messageId, rating, comment } = body;
    await parts.conversations.rate(
      { organization: caller.organization, domain: caller.domain, threadId },
      { messageId, rating, ...(comment ? { comment } : {}) },
      headers['x-thread-key'],
      caller,
    );
    return { body: { threadId, messageId, rating } };
  });
}

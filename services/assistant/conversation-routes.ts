import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { fingerprintHash } from '#shared/aggregates/thread/decide.ts';
import { conversationTurns, withTurn } from '#shared/aggregates/thread/turns.ts';
import type { Caller } from '#shared/contracts/internal/caller.ts';
import { ApiError, invalidRequest } from '#shared/http/errors.ts';
import { readCaller } from '#shared/http/internal-server.ts';
import { type AnswerWire, dataStreamWire, uiMessageWire } from './answer-wire.ts';
import { type AnswerParts, prepareAnswer } from './prepare-answer.ts';
import { feedbackBodySchema, type MessageBody, messageBodySchema, v1MessageBodySchema } from './request-bodies.ts';
import { streamAnswer, type StreamParts } from './stream-answer.ts';
import type { Thread, Threads } from './threads.ts';

export type MessageRouteParts = AnswerParts &
  Pick<StreamParts, 'conversations' | 'answerTimeoutMs' | 'stopping'> & { hashKey: string };

/**
 * `POST /internal/message`, and `/internal/v1/message` for clients of AI SDK 4, which get its data stream. Headers:
 * `x-bindery-client: ui|plain` says which kind of client it is, `x-thread-key` goes with `threadId`. What is wrong before the first
 * byte is answered as an error, later it is said in the stream.
 */
export function addMessageRoute(app: FastifyInstance, parts: MessageRouteParts): void {
  app.post('/internal/message', (request, reply) => {
    const client = request.headers['x-bindery-client'] === 'ui' ? 'ui' : 'plain';
    return answer(request, reply, messageBodySchema, uiMessageWire(client));
  });
  app.post('/internal/v1/message', (request, reply) => answer(request, reply, v1MessageBodySchema, dataStreamWire()));

  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    schema: z.ZodType<MessageBody>,
    wire: AnswerWire,
  ): Promise<FastifyReply> {
    const caller = readCaller(request.headers);
    const parsed = schema.safeParse(request.body);
    if (!parsed.success) throw invalidRequest(parsed.error);
    const body = parsed.data;
    const question = lastQuestion(body);
    const thread = await threadOf(body, caller, request);
    // The stored thread is the truth: what the client says was said earlier does not count.
    const stored = thread.stored?.commit.data.state.lastTurns;
    const turns = stored ? withTurn(stored, { role: 'user', text: question }) : conversationTurns(body.messages);
    const prepared = await prepareAnswer(parts, caller, body, turns);
    const model = `${parts.model.provider}/${parts.model.modelId}`;
    const { answerTimeoutMs, stopping } = parts;
    await streamAnswer(
      reply,
      { caller, thread, turns, question, prepared, wire },
      { conversations: parts.conversations, model, answerTimeoutMs, stopping, log: request.log },
    );
    return reply;
  }

  async function threadOf(body: MessageBody, caller: Caller, request: FastifyRequest): Promise<Thread> {
    const { organization, domain } = caller;
    const owner = fingerprintHash(parts.hashKey, organization, domain, body.fp);
    if (!body.threadId) return parts.conversations.begin(organization, domain, owner);
    const key = request.headers['x-thread-key'];
    const identity = { organization, domain, threadId: body.threadId };
    return parts.conversations.resume(identity, owner, key === undefined ? undefined : String(key));
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

/** `POST /internal/feedback`: what a reader thinks of an answer. Header `x-thread-key` is optional. */
export function addFeedbackRoute(app: FastifyInstance, parts: { conversations: Threads }): void {
  app.post('/internal/feedback', async (request) => {
    const caller = readCaller(request.headers);
    const parsed = feedbackBodySchema.safeParse(request.body);
    if (!parsed.success) throw invalidRequest(parsed.error);
    const { threadId, messageId, rating, comment } = parsed.data;
    const key = request.headers['x-thread-key'];
    await parts.conversations.rate(
      { organization: caller.organization, domain: caller.domain, threadId },
      { messageId, rating, ...(comment ? { comment } : {}) },
      key === undefined ? undefined : String(key),
      caller,
    );
    return { threadId, messageId, rating };
  });
}

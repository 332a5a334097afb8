import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { ApiError } from '#shared/errors/api-error.ts';
import { invalidRequest } from '#shared/errors/to-api-error.ts';
import type { Caller } from '#shared/internal-http/caller.ts';
import { readCaller } from '#shared/internal-http/read-caller.ts';
import type { AnswerWire } from './answer-wire.ts';
import { conversationTurns, withTurn } from './conversation-turns.ts';
import { dataStreamWire } from './data-stream-wire.ts';
import { type MessageBody, messageBodySchema, v1MessageBodySchema } from './message-body.ts';
import { type AnswerParts, prepareAnswer } from './prepare-answer.ts';
import { type StreamParts, streamAnswer } from './stream-answer.ts';
import { fingerprintHash } from './thread-state.ts';
import type { Thread } from './threads.ts';
import { uiMessageWire } from './ui-message-wire.ts';

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

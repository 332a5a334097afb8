import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '#shared/clock/clock.ts';
import { ApiError } from '#shared/errors/api-error.ts';
import { invalidRequest } from '#shared/errors/to-api-error.ts';
import { randomBase62 } from '#shared/identifiers/base62.ts';
import type { Caller } from '#shared/internal-http/caller.ts';
import { readCaller } from '#shared/internal-http/read-caller.ts';
import { saysNotInDocumentation } from '#shared/language-model/not-in-documentation.ts';
import { newOutcome } from './answer-outcome.ts';
import type { AnswerWire } from './answer-wire.ts';
import { clientStream } from './client-stream.ts';
import { conversationTurns, type Turn } from './conversation-turns.ts';
import { dataStreamWire } from './data-stream-wire.ts';
import { type MessageBody, messageBodySchema, v1MessageBodySchema } from './message-body.ts';
import { type AnswerParts, type PreparedAnswer, prepareAnswer } from './prepare-answer.ts';
import { fingerprintHash } from './thread-state.ts';
import { type Thread, threads } from './threads.ts';
import { uiMessageWire } from './ui-message-wire.ts';

export type MessageRouteParts = AnswerParts & {
  clock: Clock;
  hashKey: string;
  answerTimeoutMs: number;
  /** Aborts when the service stops and answers have had their time. */
  stopping: AbortSignal;
};

const notSaved = 'The answer is complete but could not be saved: this conversation cannot be continued.';

/**
 * `POST /internal/message`. Headers: `x-bindery-client: ui|plain` says which kind of client it is, `x-bindery-protocol: v1` asks for the data
 * stream of AI SDK 4, `x-thread-key` goes with `threadId`. Errors before the first byte are answered as errors, later ones in the stream.
 */
export function addMessageRoute(app: FastifyInstance, parts: MessageRouteParts): void {
  const conversations = threads(parts.bus.conversations, parts.clock);

  app.post('/internal/message', async (request, reply) => {
    const caller = readCaller(request.headers);
    const isV1 = request.headers['x-bindery-protocol'] === 'v1';
    const body = readBody(request.body, isV1);
    const said = conversationTurns(body.messages);
    const question = lastQuestion(body);

    const thread = await threadOf(body, caller, request);
    // The stored thread is the truth: what the client says was said earlier does not count.
    const stored = thread.stored?.commit.data.state.lastTurns;
    const turns: Turn[] = stored ? [...stored, { role: 'user', text: question }] : said;
    const prepared = await prepareAnswer(parts, caller, body, turns);

    const wire = isV1 ? dataStreamWire() : uiMessageWire(request.headers['x-bindery-client'] === 'ui' ? 'ui' : 'plain');
    await stream({ request, reply, caller, thread, turns, question, prepared, wire });
    return reply;
  });

  function threadOf(body: MessageBody, caller: Caller, request: FastifyRequest): Promise<Thread> | Thread {
    const { organization, domain } = caller;
    const owner = fingerprintHash(parts.hashKey, organization, domain, body.fp);
    if (!body.threadId) return conversations.begin(organization, domain, owner);
    const key = request.headers['x-thread-key'];
    return conversations.resume(
      { organization, domain, threadId: body.threadId },
      owner,
      key === undefined ? undefined : String(key),
    );
  }

  async function stream(answer: {
    request: FastifyRequest;
    reply: FastifyReply;
    caller: Caller;
    thread: Thread;
    turns: readonly Turn[];
    question: string;
    prepared: PreparedAnswer;
    wire: AnswerWire;
  }): Promise<void> {
    const { reply, thread, wire, caller } = answer;
    const ids = { messageId: `msg_${randomBase62(22)}`, threadId: thread.threadId };
    reply.hijack();
    reply.raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      ...wire.headers,
      'x-thread-id': ids.threadId,
      ...(thread.newKey === undefined ? {} : { 'x-thread-key': thread.newKey }),
    });
    const client = clientStream(reply.raw, wire.keepAlive);
    const signal = AbortSignal.any([client.gone, parts.stopping, AbortSignal.timeout(parts.answerTimeoutMs)]);
    const outcome = newOutcome();
    try {
      await client.write(wire.start(ids));
      for await (const chunk of answer.prepared(signal, outcome)) await client.write(wire.chunk(chunk));
    } catch (error) {
      answer.request.log.error({ err: error, requestId: caller.requestId }, 'an answer failed while it was streamed');
      await client.write(
        wire.chunk({ type: 'error', errorText: 'The answer could not be finished. Ask again in a moment.' }),
      );
    }
    try {
      // Before `finish`: a client may go on with the thread as soon as it has read that.
      await conversations.record(
        thread,
        {
          messageId: ids.messageId,
          question: answer.question,
          turns: answer.turns,
          outcome,
          unanswered: saysNotInDocumentation(outcome.text),
          model: `${parts.model.provider}/${parts.model.modelId}`,
        },
        caller.actor,
        caller.requestId,
        caller.traceparent,
      );
    } catch (error) {
      answer.request.log.error({ err: error, requestId: caller.requestId }, 'an answer could not be recorded');
      await client.write(wire.chunk({ type: 'error', errorText: notSaved }));
    }
    await client.write(wire.finish(ids, outcome.finishReason, outcome.tokens));
    client.end();
  }
}

function readBody(body: unknown, isV1: boolean): MessageBody {
  const result = (isV1 ? v1MessageBodySchema : messageBodySchema).safeParse(body);
  if (!result.success) throw invalidRequest(result.error);
  return result.data;
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

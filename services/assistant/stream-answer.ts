import type { FastifyBaseLogger, FastifyReply } from 'fastify';
import { randomBase62 } from '#shared/identifiers/base62.ts';
import type { Caller } from '#shared/internal-http/caller.ts';
import { saysNotInDocumentation } from '#shared/language-model/not-in-documentation.ts';
import { newOutcome } from './answer-outcome.ts';
import type { AnswerWire } from './answer-wire.ts';
import { clientStream } from './client-stream.ts';
import type { Turn } from './conversation-turns.ts';
import type { PreparedAnswer } from './prepare-answer.ts';
import type { Thread, Threads } from './threads.ts';

export type AnswerToStream = {
  caller: Caller;
  thread: Thread;
  /** The conversation, the question last. */
  turns: readonly Turn[];
  /** What was asked now. */
  question: string;
  prepared: PreparedAnswer;
  wire: AnswerWire;
};

export type StreamParts = {
  conversations: Threads;
  /** Name of the model, for the record. */
  model: string;
  answerTimeoutMs: number;
  /** Aborts when the service stops and answers have had their time. */
  stopping: AbortSignal;
  log: FastifyBaseLogger;
};

const failed = 'The answer could not be finished. Ask again in a moment.';
const notSaved = 'The answer is complete but could not be saved: this conversation cannot be continued.';

/** Takes over the reply and sends the answer as it comes; whatever goes wrong from here on, the stream says so and ends as clients expect. */
export async function streamAnswer(reply: FastifyReply, answer: AnswerToStream, parts: StreamParts): Promise<void> {
  const { thread, wire, caller } = answer;
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
    parts.log.error({ err: error, requestId: caller.requestId }, 'an answer failed while it was streamed');
    await client.write(wire.chunk({ type: 'error', errorText: failed }));
  }
  try {
    // Before `finish`: a client may go on with the thread as soon as it has read that.
    const { turns, question } = answer;
    const unanswered = saysNotInDocumentation(outcome.text);
    const answered = { messageId: ids.messageId, question, turns, outcome, unanswered, model: parts.model };
    await parts.conversations.record(thread, answered, caller);
  } catch (error) {
    parts.log.error({ err: error, requestId: caller.requestId }, 'an answer could not be recorded');
    await client.write(wire.chunk({ type: 'error', errorText: notSaved }));
  }
  await client.write(wire.finish(ids, outcome.finishReason, outcome.tokens));
  client.end();
}

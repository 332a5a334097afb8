import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyReply } from 'fastify';
import type { Turn } from '#shared/aggregates/thread/turns.ts';
import type { Caller } from '#shared/contracts/internal/caller.ts';
import { disconnectSignal } from '#shared/http/client-connection.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import type { AnswerWire } from './answer-wire.ts';
import { newOutcome, type PreparedAnswer } from './prepare-answer.ts';
import { saysNotInDocumentation } from './prompt-passages.ts';
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

const KEEP_ALIVE_MS = 15_000;
/** A client that takes nothing for so long is treated as gone. */
const DRAIN_MS = 30_000;

/** The open answer to one client. */
export type ClientStream = {
  /** Aborts when the client is gone. */
  gone: AbortSignal;
  /** Answers when there is room for more; does nothing once the client is gone. */
  write(bytes: string): Promise<void>;
  end(): void;
};

/** Takes over a response whose head has been written. */
export function clientStream(response: ServerResponse, keepAlive: string): ClientStream {
  const gone = disconnectSignal(response);
  const timer = setInterval(() => {
    // While a write waits for room there is nothing to keep alive.
    if (!response.writableNeedDrain && !response.writableEnded) response.write(keepAlive);
  }, KEEP_ALIVE_MS);
  response.once('close', () => {
    clearInterval(timer);
  });
  return {
    gone,
    async write(bytes) {
      if (bytes === '' || gone.aborted || response.destroyed) return;
      if (response.write(bytes)) return;
      const signal = AbortSignal.any([gone, AbortSignal.timeout(DRAIN_MS)]);
      await once(response, 'drain', { signal }).catch(() => response.destroy());
    },
    end() {
      clearInterval(timer);
      response.end();
    },
  };
}

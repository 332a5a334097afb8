import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyReply } from 'fastify';
import type { Turn } from '#shared/aggregates/thread/thread.ts';
import type { Caller } from '#shared/contracts/internal/caller.ts';
import { disconnectSignal } from '#shared/http/client-connection.ts';
import type { AnswerWire } from './answer-wire.ts';
import { answerFailed, newOutcome, type PreparedAnswer } from './prepare-answer.ts';
import { saysNotInDocumentation } from './prompt-passages.ts';
import type { AssistantContext } from './retrieval.ts';
import type { Thread, Threads } from './threads.ts';

type AnswerToStream = {
  caller: Caller;
  thread: Thread;
  /** What was said, the question last. */
  turns: readonly Turn[];
  /** What was asked now. */
  question: string;
  prepared: PreparedAnswer;
  wire: AnswerWire;
};

const notSaved = 'The answer is complete but could not be saved: this thread cannot be continued.';

/** Takes over the reply and sends the answer as it comes. What fails from here on is told in the stream, which ends as clients expect. */
export async function streamAnswer(
  context: AssistantContext & { threads: Threads; log: FastifyBaseLogger },
  reply: FastifyReply,
  { caller, thread, turns, question, prepared, wire }: AnswerToStream,
): Promise<void> {
  const { model, log } = context;
  const ids = { messageId: `msg_${context.random(22)}`, threadId: thread.threadId };
  reply.hijack();
  reply.raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    ...wire.headers,
    'x-thread-id': ids.threadId,
    ...(thread.newKey === undefined ? {} : { 'x-thread-key': thread.newKey }),
  });
  const client = clientStream(reply.raw, wire.keepAlive);
  const signal = AbortSignal.any([client.gone, context.cutAnswers, AbortSignal.timeout(context.answerTimeoutMs)]);
  const outcome = newOutcome();
  try {
    await client.write(wire.start(ids));
    for await (const chunk of prepared(signal, outcome)) await client.write(wire.chunk(chunk));
  } catch (error) {
    log.error({ err: error, requestId: caller.requestId }, 'an answer failed while it was streamed');
    await client.write(wire.chunk({ type: 'error', errorText: answerFailed }));
  }
  try {
    // Before `finish`: a client may go on with the thread as soon as it has read that.
    const answered = {
      messageId: ids.messageId,
      question,
      turns,
      answer: outcome.text,
      sources: outcome.sources,
      unanswered: saysNotInDocumentation(outcome.text),
      aborted: outcome.aborted,
      model: `${model.provider}/${model.modelId}`,
    };
    await context.threads.record(thread, answered, caller);
  } catch (error) {
    log.error({ err: error, requestId: caller.requestId }, 'an answer could not be recorded');
    await client.write(wire.chunk({ type: 'error', errorText: notSaved }));
  }
  await client.write(wire.finish(ids, outcome.finishReason, outcome.tokens));
  client.end();
}

const keepAliveMs = 15_000;
/** A client that reads nothing for so long counts as gone. */
const drainMs = 30_000;

/** The open answer to one client. */
type ClientStream = {
  /** Aborts when the client is gone. */
  gone: AbortSignal;
  /** Answers when there is room for more; does nothing once the client is gone. */
  write(bytes: string): Promise<void>;
  end(): void;
};

/** Takes over a response whose head has been written. */
function clientStream(response: ServerResponse, keepAlive: string): ClientStream {
  const gone = disconnectSignal(response);
  const timer = setInterval(() => {
    // While a write waits for room there is nothing to keep alive.
    if (!response.writableNeedDrain && !response.writableEnded) response.write(keepAlive);
  }, keepAliveMs);
  response.once('close', () => {
    clearInterval(timer);
  });
  return {
    gone,
    async write(bytes) {
      if (bytes === '' || gone.aborted || response.destroyed) return;
      if (response.write(bytes)) return;
      const signal = AbortSignal.any([gone, AbortSignal.timeout(drainMs)]);
      await once(response, 'drain', { signal }).catch(() => response.destroy());
    },
    end() {
      clearInterval(timer);
      response.end();
    },
  };
}

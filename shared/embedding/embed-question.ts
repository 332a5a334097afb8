import { LRUCache } from 'lru-cache';
import { asError } from '#shared/runtime/failures.ts';
import { type RetryPolicy, pauseAfter } from '#shared/runtime/retry.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { type Embedder, EmbedderRefused, EmbedderUnavailable, type QuestionVector, TextsRefused } from './embedder.ts';

/** Returns the vector of a question; undefined when it is not available in time, which is logged. Never rejects. */
export type EmbedQuestion = (question: string) => Promise<QuestionVector | undefined>;

/** Backoff after a call that failed or timed out. During a pause questions do not wait for the model. */
const pause: RetryPolicy = { firstPauseMs: 1_000, longestPauseMs: 60_000 };
const keptQuestions = 1_000;
const questionCharacters = 2_000;

type Options = {
  withinMs: number;
  logger: Logger;
  /** Monotonic clock in milliseconds. */
  now?: () => number;
};

/**
 * Embeds questions. Repeated questions are answered from a cache. While the model fails, questions are searched by their words at once, and
 * after each pause one question tries the model again.
 */
export function questionEmbedder(
  embedder: Embedder,
  { withinMs, logger, now = () => performance.now() }: Options,
): EmbedQuestion {
  const kept = new LRUCache<string, Float32Array>({ max: keptQuestions });
  let failures = 0;
  let notBefore = Number.NEGATIVE_INFINITY;

  return async (question) => {
    const text = question.trim().slice(0, questionCharacters);
    if (text === '') return undefined;
    const model = embedder.name;
    const known = kept.get(text);
    if (known !== undefined) return { model, vector: known };
    if (now() < notBefore) return undefined;
    try {
      const [vector] = await embedder.embed([text], AbortSignal.timeout(withinMs));
      failures = 0;
      if (vector === undefined) return undefined;
      kept.set(text, vector);
      return { model, vector };
    } catch (error) {
      const reason = reasonOf(error, withinMs);
      if (reason === undefined) return undefined;
      failures += 1;
      const retryAfterMs = error instanceof EmbedderUnavailable ? error.retryAfterMs : undefined;
      const pauseMs = retryAfterMs ?? pauseAfter(error instanceof EmbedderRefused ? 32 : failures, pause);
      notBefore = now() + pauseMs;
      logger.warn({ reason, pauseMs: Math.round(pauseMs) }, 'questions are searched by their words only for now');
      return undefined;
    }
  };
}

/** The reason of a failure, without the question; undefined when the model refuses only this question. */
function reasonOf(error: unknown, withinMs: number): string | undefined {
  if (error instanceof TextsRefused) return undefined;
  if (error instanceof EmbedderUnavailable || error instanceof EmbedderRefused) return error.message;
  const isLate = error instanceof DOMException && error.name === 'TimeoutError';
  return isLate ? `The embedder took more than ${withinMs} ms.` : asError(error).name;
}

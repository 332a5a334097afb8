import { LRUCache } from 'lru-cache';
import { asError } from '#shared/runtime/failures.ts';
import { type RetryPolicy, pauseAfter } from '#shared/runtime/retry.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { type Embedder, EmbedderRefused, EmbedderUnavailable, type QuestionVector, TextsRefused } from './embedder.ts';

/** The vector of a question; undefined when it cannot be had in time, which is said in the log. Never rejects. */
export type EmbedQuestion = (question: string) => Promise<QuestionVector | undefined>;

/** After a call that failed or was late no question waits for a while. */
const pause: RetryPolicy = { firstPauseMs: 1_000, longestPauseMs: 60_000 };
const keptQuestions = 1_000;
const questionCharacters = 2_000;

type Options = {
  withinMs: number;
  logger: Logger;
  /** Milliseconds that only grow. */
  now?: () => number;
};

/**
 * Embeds questions. The same question again costs nothing. While the model fails, questions are searched by their words at once, and one after each
 * pause tries it again.
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
      logger.warn({ reason, pauseMs: Math.round(pauseMs) }, 'questions are searched by their words alone for now');
      return undefined;
    }
  };
}

/** What went wrong, without the question; undefined when it is only this question that the model does not take. */
function reasonOf(error: unknown, withinMs: number): string | undefined {
  if (error instanceof TextsRefused) return undefined;
  if (error instanceof EmbedderUnavailable || error instanceof EmbedderRefused) return error.message;
  const isLate = error instanceof DOMException && error.name === 'TimeoutError';
  return isLate ? `The embedder took more than ${withinMs} ms.` : asError(error).name;
}

import { setTimeout as delay } from 'node:timers/promises';
import {
  APICallError,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { pauseAfter, type RetryPolicy } from '#shared/runtime/retry.ts';

const mostAttempts = 3;
const pauses: RetryPolicy = { firstPauseMs: 2_000, longestPauseMs: 4_000 };
/** Upper bound for the pause that a provider asks for. */
const longestAskedMs = 60_000;

/** The language model failed several times. `errors` has the error of each call. */
export class ModelFailedRepeatedly extends Error {
  override name = 'ModelFailedRepeatedly';
  readonly errors: readonly unknown[];

  constructor(errors: readonly unknown[]) {
    super(`The language model failed ${errors.length} times.`, { cause: errors.at(-1) });
    this.errors = errors;
  }
}

/**
 * Calls a model and returns its stream. Retries with backoff while its provider is unavailable or busy. Rejects with the provider's error if a retry
 * makes no sense, and with `ModelFailedRepeatedly` after several attempts.
 */
export async function openModelStream(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
): Promise<ReadableStream<LanguageModelV4StreamPart>> {
  const errors: unknown[] = [];
  for (;;) {
    try {
      return (await model.doStream(options)).stream;
    } catch (error) {
      options.abortSignal?.throwIfAborted();
      errors.push(error);
      const isPassing = APICallError.isInstance(error) && error.isRetryable;
      if (!isPassing && errors.length === 1) throw error;
      if (!isPassing || errors.length === mostAttempts) throw new ModelFailedRepeatedly(errors);
      const pauseMs = askedPauseMs(error.responseHeaders ?? {}) ?? pauseAfter(errors.length, pauses);
      await delay(pauseMs, undefined, options.abortSignal === undefined ? {} : { signal: options.abortSignal });
    }
  }
}

/** The pause that a provider asks for, in seconds or as a date. */
function askedPauseMs({ 'retry-after-ms': ms, 'retry-after': after }: Record<string, string>): number | undefined {
  const seconds = Number(after);
  const asked =
    ms === undefined ? (Number.isNaN(seconds) ? Date.parse(after ?? '') - Date.now() : seconds * 1_000) : Number(ms);
  return asked >= 0 && asked < longestAskedMs ? asked : undefined;
}

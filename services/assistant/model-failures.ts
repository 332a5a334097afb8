import { APICallError } from '@ai-sdk/provider';
import { answerFailed } from '#shared/interfaces/http/answer-wire.ts';
import { errorCode } from '#shared/runtime/failures.ts';
import { AnswerUnread } from './kept-answer.ts';
import { ModelFailedRepeatedly } from './open-model-stream.ts';

/** The sentence for a stream that ended before the model finished. */
export const answerCut = 'The answer was cut off before its end. Ask again.';

/** The sentence for a model that ended without text. */
export const answerEmpty = 'The language model gave no answer. Ask again, or in other words.';

const tooSlow = 'The answer took too long and was cut. Ask again, or ask about less at once.';
const unread = 'The answer was ended, because nobody was reading it. Ask again.';
const tooBusy = 'The language model has too many questions at the moment. Ask again in a minute.';
const refused =
  'The language model refused the request, so the assistant may be set up wrong. Tell the people who run this site.';

/** The sentence that tells the reader why an answer was stopped. */
export function stopSentence(reason: unknown): string {
  if (reason instanceof AnswerUnread) return unread;
  return reason instanceof Error && reason.name === 'TimeoutError' ? tooSlow : answerFailed;
}

/** The sentence that tells the reader how the model failed. Pure. */
export function failureSentence(error: unknown): string {
  const status = callErrorIn(error)?.statusCode ?? 0;
  if (status === 429) return tooBusy;
  if (status >= 300 && status < 500 && status !== 408) return refused;
  return stopSentence(error);
}

/** Facts about a model failure for the log. Errors of providers contain the prompt, and their messages may repeat it, so nothing else is logged. Pure. */
export function failureFacts(error: unknown): { failure: string; status?: number; code?: string; attempts?: number } {
  const call = callErrorIn(error);
  const root = call ?? (error instanceof ModelFailedRepeatedly ? error.errors.at(-1) : error);
  const code = errorCode(root instanceof Error && root.cause !== undefined ? root.cause : root);
  return {
    failure: root instanceof Error ? root.name : typeof root,
    ...(call?.statusCode === undefined ? {} : { status: call.statusCode }),
    ...(code === undefined ? {} : { code }),
    ...(error instanceof ModelFailedRepeatedly ? { attempts: error.errors.length } : {}),
  };
}

function callErrorIn(error: unknown): APICallError | undefined {
  const last = error instanceof ModelFailedRepeatedly ? error.errors.at(-1) : error;
  return APICallError.isInstance(last) ? last : undefined;
}

import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import { withDeadline } from '#shared/runtime/with-deadline.ts';
import { PlatformRefusal } from '../platform.ts';
import { icon } from './icon.ts';

/** A page waits no longer for a part of it. The gateway waits up to 1.9 s for a service. */
const withinMs = 2_500;

/** The place of a part that is not known, with the reason. */
export const unknownPart = (reason: string, requestId?: string): SafeHtml =>
  html`<div class="notice bad" role="status">${icon('circle-x')}<div><p>This is not known now. ${reason}</p>${
    requestId === undefined ? '' : html`<p class="quiet">Request ${requestId}</p>`
  }</div></div>`;

/** The answer of the platform, unless it is late: then rejects with a `PlatformRefusal` as if there was no answer. */
export async function inTime<T>(asked: Promise<T>): Promise<T> {
  const late = () =>
    new PlatformRefusal(`The platform did not answer within ${withinMs / 1_000} s.`, {
      status: 0,
      code: 'unavailable',
    });
  return await withDeadline(asked, withinMs, late);
}

/** The answer to a question of a page that stands without it. `problem`: the notice in its place, which is empty if there is an answer. */
export type Part<T> = { answer: T | undefined; problem: SafeHtml };

/** Rejects with refusals that are about the page, such as that there is no such thing. */
export async function answerOrProblem<T>(asked: Promise<T>): Promise<Part<T>> {
  try {
    return { answer: await inTime(asked), problem: html`` };
  } catch (error) {
    if (!isSilence(error)) throw error;
    return { answer: undefined, problem: unknownPart(error.message, error.requestId) };
  }
}

/**
 * A part of a page that fails alone. If the platform cannot answer, or is late, the part says so and the rest of the page stands. Rejects with other
 * refusals, such as that there is no such thing.
 */
export async function partOf<T>(asked: Promise<T>, show: (answer: T) => SafeHtml): Promise<SafeHtml> {
  try {
    return show(await inTime(asked));
  } catch (error) {
    if (!isSilence(error)) throw error;
    return unknownPart(error.message, error.requestId);
  }
}

/** The answer of the platform, or undefined if it cannot answer, or is late. */
export const unlessSilent = async <T>(asked: Promise<T>): Promise<T | undefined> =>
  (await answerOrProblem(asked)).answer;

/** The platform does not answer now: it is down, late, faulty, or has answered too many requests. */
const isSilence = (error: unknown): error is PlatformRefusal =>
  error instanceof PlatformRefusal && (error.status === 0 || error.status === 429 || error.status >= 500);

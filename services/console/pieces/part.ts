import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import { PlatformRefusal } from '../platform.ts';
import { icon } from './icon.ts';

/** A page waits no longer for a part of it. */
const withinMs = 2_000;

/** The place of a part that is not known, with the reason. */
export const unknownPart = (reason: string, requestId?: string): SafeHtml =>
  html`<div class="notice bad" role="status">${icon('circle-x')}<div><p>This is not known now. ${reason}</p>${
    requestId === undefined ? '' : html`<p class="quiet">Request ${requestId}</p>`
  }</div></div>`;

/**
 * A part of a page that fails alone. If the platform cannot answer, or is late, the part says so and the rest of the page stands. Rejects with other
 * refusals, such as that there is no such thing.
 */
export async function partOf<T>(asked: Promise<T>, show: (answer: T) => SafeHtml): Promise<SafeHtml> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), withinMs);
  try {
    const answer = await Promise.race([asked.then((value) => ({ value })), late.promise]);
    // A late answer is no longer needed, and may still reject.
    if (answer === undefined) asked.catch(() => {});
    return answer === undefined
      ? unknownPart(`The platform did not answer within ${withinMs / 1_000} s.`)
      : show(answer.value);
  } catch (error) {
    if (!(error instanceof PlatformRefusal) || (error.status > 0 && error.status < 500)) throw error;
    return unknownPart(error.message, error.requestId);
  } finally {
    clearTimeout(timer);
  }
}

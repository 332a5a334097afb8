import type { S3Client } from '@aws-sdk/client-s3';
import type { Clock } from '#shared/runtime/time-and-ids.ts';

/** `Date` has whole seconds, so on average the store's clock is half a second ahead of it. */
const halfASecondMs = 500;
/** A smaller difference may be an error of measurement, so the clocks count as equal. */
const sameClockMs = 2_000;

/**
 * Maximum error of `skewOf`, in addition to half the time of the request: half a second for `halfASecondMs`, and a second for servers that update the
 * `Date` header once a second (those on Go's `fasthttp`).
 */
export const dateErrorMs = 1_500;

/** Returns the time by which the store's clock was ahead of ours, from the `Date` of an answer; undefined without a readable date. Pure. */
export function skewOf(date: string | null | undefined, askedAtMs: number, answeredAtMs: number): number | undefined {
  const storeTimeMs = Date.parse(date ?? '');
  return Number.isNaN(storeTimeMs)
    ? undefined
    : Math.round(storeTimeMs + halfASecondMs - (askedAtMs + answeredAtMs) / 2);
}

/**
 * Returns the whole seconds by which the store's clock is ahead of `clock`, according to its last answer to this client. It returns 0 before the
 * first answer, and if the difference is too small to measure. A store refuses signatures more than 15 minutes off its own time, so links are signed
 * by that time.
 */
export function followStoreClock(client: S3Client, clock: Clock): { aheadSeconds: () => number } {
  let skewMs = 0;
  client.middlewareStack.addRelativeTo(
    <A, R extends { response: unknown }>(next: (args: A) => Promise<R>) =>
      async (args: A) => {
        const askedAtMs = clock.now().getTime();
        const result = await next(args);
        // A refusal has a date, too: the middleware before this one converts it to an error.
        const { headers } = result.response as { headers?: Record<string, string> };
        skewMs = skewOf(headers?.['date'], askedAtMs, clock.now().getTime()) ?? skewMs;
        return result;
      },
    { name: 'followStoreClock', relation: 'after', toMiddleware: 'deserializerMiddleware' },
  );
  return { aheadSeconds: () => (Math.abs(skewMs) < sameClockMs ? 0 : Math.floor(skewMs / 1000)) };
}

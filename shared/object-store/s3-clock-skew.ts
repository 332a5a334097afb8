import { HeadBucketCommand } from '@aws-sdk/client-s3';
import type { Clock } from '#shared/clock/clock.ts';
import type { S3Objects } from './s3-objects.ts';
import { ObjectStoreUnavailable } from './object-store-unavailable.ts';
import { s3Refusal } from './s3-error.ts';

/** `Date` is cut to seconds: on average the store's clock was half a second further. */
const HALF_A_SECOND = 500;

/** How far the store's clock is ahead, in milliseconds, from the `Date` header of one answer; also a refusal has it. */
export async function s3ClockSkewMs({ client, bucket, call }: S3Objects, clock: Clock): Promise<number> {
  const command = new HeadBucketCommand({ Bucket: bucket });
  let storeTime = Number.NaN;
  // The innermost step, before the SDK makes an error of the answer.
  command.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      storeTime = Date.parse(dateHeader(result.response));
      return result;
    },
    { step: 'deserialize', priority: 'low' },
  );
  const asked = clock.now().getTime();
  await call({ what: 'tell the time' }, async (http) => {
    await client.send(command, http).catch((error: unknown) => {
      if (s3Refusal(error) === undefined) throw error;
    });
  });
  const answered = clock.now().getTime();
  if (Number.isNaN(storeTime)) throw new ObjectStoreUnavailable('the object store answers without a Date header');
  return Math.round(storeTime + HALF_A_SECOND - (asked + answered) / 2);
}

function dateHeader(response: unknown): string {
  if (typeof response !== 'object' || response === null || !('headers' in response)) return '';
  const { headers } = response;
  return typeof headers === 'object' && headers !== null && 'date' in headers ? String(headers.date) : '';
}

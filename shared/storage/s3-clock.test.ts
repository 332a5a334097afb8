import { HeadBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { expect, test } from 'vitest';
import { followStoreClock, skewOf } from './s3-clock.ts';

test('an answer says how far the clock of its store is ahead, or behind', () => {
  const asked = Date.parse('2026-03-01T10:00:00.000Z');
  expect(skewOf('Sun, 01 Mar 2026 10:17:00 GMT', asked, asked + 1_000)).toBe(17 * 60_000);
  expect(skewOf('Sun, 01 Mar 2026 09:43:00 GMT', asked, asked + 1_000)).toBe(-17 * 60_000);
  expect(skewOf('no date', asked, asked)).toBeUndefined();
  expect(skewOf(null, asked, asked)).toBeUndefined();
});

test.each([
  ['Sun, 01 Mar 2026 10:17:00 GMT', 17 * 60],
  ['Sun, 01 Mar 2026 09:43:00 GMT', -17 * 60],
  ['Sun, 01 Mar 2026 10:00:01 GMT', 0],
  [undefined, 0],
])('a client learns from a refusal of %s, too', async (date, seconds) => {
  const refusal = { statusCode: 403, headers: date === undefined ? {} : { date }, body: new Uint8Array() };
  const client = new S3Client({
    region: 'x',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    requestHandler: { handle: async () => ({ response: refusal }) },
  });
  const clock = followStoreClock(client, { now: () => new Date('2026-03-01T10:00:00.500Z') });
  expect(clock.aheadSeconds()).toBe(0);
  await expect(client.send(new HeadBucketCommand({ Bucket: 'b' }))).rejects.toMatchObject({
    $metadata: { httpStatusCode: 403 },
  });
  expect(clock.aheadSeconds()).toBe(seconds);
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import type { RateLimiter } from './rate-limit.ts';

/** Contract suite for adapters of rate limits. `open` returns one without counts. */
export function rateLimiterContract(name: string, open: () => Promise<RateLimiter>): void {
  describe(`rate limits: ${name}`, () => {
    let limiter: RateLimiter;
    beforeAll(async () => {
      limiter = await open();
    });
    afterAll(() => limiter.close());

    const limit = (requests: number, windowSeconds = 3_600) => ({ name: randomBase62(8), requests, windowSeconds });

    test('requests over the limit are refused, by key and by limit', async () => {
      const starts = limit(2);
      expect(await limiter.take(starts, 'acme')).toEqual({ allowed: true, remaining: 1, resetSeconds: 3_600 });
      expect(await limiter.take(starts, 'acme')).toMatchObject({ allowed: true, remaining: 0 });
      const refused = await limiter.take(starts, 'acme');
      expect(refused).toMatchObject({ allowed: false, remaining: 0 });
      expect(refused.resetSeconds).toBeGreaterThan(3_500);
      expect(await limiter.take(starts, 'other')).toMatchObject({ allowed: true, remaining: 1 });
      expect(await limiter.take(limit(2), 'acme')).toMatchObject({ allowed: true, remaining: 1 });
    });

    test('exactly the allowed number of simultaneous requests passes', async () => {
      const questions = limit(200);
      const outcomes = await Promise.all(Array.from({ length: 300 }, () => limiter.take(questions, 'acme')));
      expect(outcomes.filter(({ allowed }) => allowed)).toHaveLength(200);
    });

    test('when the limit changes, as with another plan, the count continues', async () => {
      const free = limit(2);
      for (let taken = 0; taken < 3; taken += 1) await limiter.take(free, 'acme');
      expect(await limiter.take({ ...free, requests: 10 }, 'acme')).toMatchObject({ allowed: true, remaining: 6 });
      expect(await limiter.take({ ...free, requests: 1 }, 'acme')).toMatchObject({ allowed: false, remaining: 0 });
    });

    test('when the window is over, the count starts again', async () => {
      const brief = limit(1, 1);
      await limiter.take(brief, 'acme');
      expect(await limiter.take(brief, 'acme')).toMatchObject({ allowed: false, resetSeconds: 1 });
      await expect.poll(() => limiter.take(brief, 'acme')).toMatchObject({ allowed: true });
    });

    test('an amount is counted at once, also beyond the limit; reading the count adds nothing', async () => {
      const tokens = limit(100);
      expect(await limiter.spend(tokens, 'acme', 0)).toEqual({ allowed: true, remaining: 100, resetSeconds: 3_600 });
      expect(await limiter.spend(tokens, 'acme', 99)).toMatchObject({ allowed: true, remaining: 1 });
      expect(await limiter.spend(tokens, 'acme', 0)).toMatchObject({ allowed: true, remaining: 1 });
      expect(await limiter.spend(tokens, 'acme', 400)).toMatchObject({ allowed: false, remaining: 0 });
      expect(await limiter.spend({ ...tokens, requests: 500 }, 'acme', 0)).toMatchObject({
        allowed: true,
        remaining: 1,
      });
      await Promise.all(Array.from({ length: 50 }, () => limiter.spend(tokens, 'other', 2)));
      expect(await limiter.spend(tokens, 'other', 0)).toMatchObject({ allowed: false, remaining: 0 });
    });

    test('keys may be any text', async () => {
      const odd = limit(1);
      for (const key of ['', ':', 'a:b', '{a}', '*', '2001:db8::/64', 'ü\u0000\r\n', 'x'.repeat(10_000)]) {
        expect(await limiter.take(odd, key)).toMatchObject({ allowed: true });
        expect(await limiter.take(odd, key)).toMatchObject({ allowed: false });
      }
    });

    test('reports no problem', () => expect(limiter.problem()).toBeUndefined());
  });
}

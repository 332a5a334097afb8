import { expect, test } from 'vitest';
import { memoryRateLimiter } from './rate-limit-memory.ts';
import { rateLimitHeaders } from './rate-limit.ts';

const limit = { name: 'starts', requests: 2, windowSeconds: 3600 };

test('what is over the limit is refused, by key and by limit', async () => {
  const limiter = memoryRateLimiter();
  expect(await limiter.take(limit, 'acme')).toMatchObject({ allowed: true, remaining: 1 });
  expect(await limiter.take(limit, 'acme')).toMatchObject({ allowed: true, remaining: 0 });
  expect(await limiter.take(limit, 'acme')).toMatchObject({ allowed: false, remaining: 0, resetSeconds: 3600 });
  expect(await limiter.take(limit, 'other')).toMatchObject({ allowed: true });
  expect(await limiter.take({ ...limit, name: 'links' }, 'acme')).toMatchObject({ allowed: true });
});

test('the headers name every limit, and how long to wait when one refused', () => {
  expect(rateLimitHeaders([{ limit, outcome: { allowed: true, remaining: 1, resetSeconds: 10 } }])).toEqual({
    'ratelimit-policy': '"starts";q=2;w=3600',
    ratelimit: '"starts";r=1;t=10',
  });
  expect(rateLimitHeaders([{ limit, outcome: { allowed: false, remaining: 0, resetSeconds: 10 } }])).toMatchObject({
    'retry-after': '10',
  });
});

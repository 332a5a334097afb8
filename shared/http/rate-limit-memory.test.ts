import { expect, test } from 'vitest';
import { rateLimiterContract } from './rate-limit.contract.ts';
import { memoryRateLimiter, mostCounted } from './rate-limit-memory.ts';
import { rateLimitHeaders } from './rate-limit.ts';

rateLimiterContract('in memory', async () => memoryRateLimiter());

test('evicts the least recently used keys when a limit has too many', async () => {
  const limiter = memoryRateLimiter();
  const perDay = { name: 'addresses', requests: 10, windowSeconds: 86_400 };
  await limiter.take(perDay, 'asks once');
  await limiter.take(perDay, 'asks again');
  for (let other = 2; other < mostCounted; other += 1) await limiter.take(perDay, `other ${other}`);
  expect(await limiter.take(perDay, 'asks again')).toMatchObject({ remaining: 8 });
  expect(await limiter.take(perDay, 'one too many')).toMatchObject({ remaining: 9 });
  expect(await limiter.take(perDay, 'asks again')).toMatchObject({ remaining: 7 });
  expect(await limiter.take(perDay, 'asks once')).toMatchObject({ remaining: 9 });
});

const limit = { name: 'starts', requests: 2, windowSeconds: 3600 };

test('the headers name every limit, and the time to wait after a refusal', () => {
  expect(rateLimitHeaders([{ limit, outcome: { allowed: true, remaining: 1, resetSeconds: 10 } }])).toEqual({
    'ratelimit-policy': '"starts";q=2;w=3600',
    ratelimit: '"starts";r=1;t=10',
  });
  expect(rateLimitHeaders([{ limit, outcome: { allowed: false, remaining: 0, resetSeconds: 10 } }])).toMatchObject({
    'retry-after': '10',
  });
});

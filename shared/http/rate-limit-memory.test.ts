import { expect, test } from 'vitest';
import { rateLimiterContract } from './rate-limit.contract.ts';
import { memoryRateLimiter } from './rate-limit-memory.ts';
import { rateLimitHeaders } from './rate-limit.ts';

rateLimiterContract('in memory', async () => memoryRateLimiter());

const limit = { name: 'starts', requests: 2, windowSeconds: 3600 };

test('the headers name every limit, and how long to wait when one refused', () => {
  expect(rateLimitHeaders([{ limit, outcome: { allowed: true, remaining: 1, resetSeconds: 10 } }])).toEqual({
    'ratelimit-policy': '"starts";q=2;w=3600',
    ratelimit: '"starts";r=1;t=10',
  });
  expect(rateLimitHeaders([{ limit, outcome: { allowed: false, remaining: 0, resetSeconds: 10 } }])).toMatchObject({
    'retry-after': '10',
  });
});

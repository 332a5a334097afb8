import type { ConfigOf } from '#shared/runtime/config.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import type { RateLimiter } from './rate-limit.ts';
import { memoryRateLimiter } from './rate-limit-memory.ts';
import { redisAddressOf, type redisSettings } from './redis-settings.ts';

/**
 * Opens the rate limiter that the settings configure. `copies` returns the number of processes that share the counts. Resolves even when Redis is
 * down.
 * @throws when the file of authorities cannot be read
 */
export async function openRateLimiter(
  config: ConfigOf<typeof redisSettings>,
  { copies, logger }: { copies: () => number; logger: Logger },
): Promise<RateLimiter> {
  const address = redisAddressOf(config);
  if (address === undefined) return memoryRateLimiter();
  // The module is loaded only when needed, because the client costs each process time and memory.
  const { redisRateLimiter } = await import('./rate-limit-redis.ts');
  return await redisRateLimiter({ ...address, copies, logger });
}

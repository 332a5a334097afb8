import { z } from 'zod';
import { type ConfigOf, secretSetting, setting, textOfFile } from '#shared/runtime/config.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import type { RateLimiter } from './rate-limit.ts';
import { memoryRateLimiter } from './rate-limit-memory.ts';

/** Where requests are counted: in Redis, or in the memory of each gateway. */
export const rateLimiterSettings = {
  redisUrl: setting(
    'BINDERY_REDIS_URL',
    z
      .string()
      .refine(isRedisUrl, 'must be redis://<host>:<port>, or rediss:// for TLS, with no user and password in it')
      .optional(),
    'Redis in which all gateways count requests against the limits; absent: each gateway counts alone, in memory',
  ),
  redisUsername: setting('BINDERY_REDIS_USERNAME', z.string().optional(), 'user of Redis; absent: its default user'),
  redisPassword: secretSetting('BINDERY_REDIS_PASSWORD', z.string().optional(), 'password for Redis'),
  redisAuthoritiesFile: setting(
    'BINDERY_REDIS_CA_FILE',
    z.string().optional(),
    'file with the certificates (PEM) of the authorities that sign for Redis; absent: those that Node knows',
  ),
};

function isRedisUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^rediss?:$/.test(url.protocol) && url.host !== '' && url.username + url.password === '';
}

/** Certificates in the file of `BINDERY_REDIS_CA_FILE`, if one is named. Throws `ConfigError`. */
export const redisAuthoritiesOf = (file: string | undefined): string | undefined =>
  file === undefined ? undefined : textOfFile('BINDERY_REDIS_CA_FILE', file);

/**
 * The rate limiter that the settings name. `copies` says how many processes share the counts. Resolves also when Redis is away.
 * @throws when the file of authorities cannot be read
 */
export async function openRateLimiter(
  config: ConfigOf<typeof rateLimiterSettings>,
  { copies, logger }: { copies: () => number; logger: Logger },
): Promise<RateLimiter> {
  const { redisUrl: url, redisUsername: username, redisPassword: password, redisAuthoritiesFile } = config;
  if (url === undefined) return memoryRateLimiter();
  const authorities = redisAuthoritiesOf(redisAuthoritiesFile);
  // Loaded when needed: the client costs each process time and memory.
  const { redisRateLimiter } = await import('./rate-limit-redis.ts');
  return await redisRateLimiter({ url, username, password, authorities, copies, logger });
}

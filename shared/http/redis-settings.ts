import { z } from 'zod';
import { type ConfigOf, secretSetting, setting, textOfFile } from '#shared/runtime/config.ts';
import type { RedisAddress } from './rate-limit-redis.ts';

/** Redis that the copies of a service share. */
export const redisSettings = {
  redisUrl: setting(
    'BINDERY_REDIS_URL',
    z
      .string()
      .refine(isRedisUrl, 'must be redis://<host>:<port>, or rediss:// for TLS, with no user and password in it')
      .optional(),
    'Redis in which all gateways count requests against the limits, and all copies of a docs-host record ended sessions; if absent, each keeps its own',
  ),
  redisUsername: setting('BINDERY_REDIS_USERNAME', z.string().optional(), 'user of Redis; if absent, the default user'),
  redisPassword: secretSetting('BINDERY_REDIS_PASSWORD', z.string().optional(), 'password for Redis'),
  redisAuthoritiesFile: setting(
    'BINDERY_REDIS_CA_FILE',
    z.string().optional(),
    'file with the certificates (PEM) of the authorities that sign for Redis; if absent, the authorities that Node trusts',
  ),
};

function isRedisUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^rediss?:$/.test(url.protocol) && url.host !== '' && url.username + url.password === '';
}

/** The configured Redis; undefined if there is none. Throws `ConfigError` if the file of authorities cannot be read. */
export function redisAddressOf(config: ConfigOf<typeof redisSettings>): RedisAddress | undefined {
  const { redisUrl: url, redisUsername: username, redisPassword: password, redisAuthoritiesFile: file } = config;
  if (url === undefined) return undefined;
  const authorities = file === undefined ? undefined : textOfFile('BINDERY_REDIS_CA_FILE', file);
  return { url, username, password, authorities };
}

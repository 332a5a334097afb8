import { type RedisAddress, redisClient } from '#shared/http/rate-limit-redis.ts';
import type { EndedSessionStore } from './ended-sessions.ts';

/** The names in one sorted set of Redis, by when they are of no use any more: for all copies of a host. Ids of sessions are never the same, so hosts of several sites may share it. */
export async function endedSessionsInRedis(address: RedisAddress): Promise<EndedSessionStore> {
  const key = 'bindery:docs-host:ended-sessions';
  const redis = redisClient(address);
  // What cannot be asked says so itself.
  redis.on('error', () => {});
  await redis.connect().catch(() => {});
  return {
    read: () => redis.zrange(key, '0', '-1'),
    async add(name, until) {
      await redis.zadd(key, String(until), name);
    },
    async remove(names) {
      for (let from = 0; from < names.length; from += mostAtOnce)
        await redis.zrem(key, ...names.slice(from, from + mostAtOnce));
    },
    close: () => redis.disconnect(),
  };
}

const mostAtOnce = 1_000;

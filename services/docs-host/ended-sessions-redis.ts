import { type RedisAddress, redisClient } from '#shared/http/rate-limit-redis.ts';
import type { EndedSessionStore } from './ended-sessions.ts';

/** Keeps the names for all copies of a host in one sorted set of Redis, sorted by their end of use. Session ids are unique, so hosts of several sites may share the set. */
export async function endedSessionsInRedis(address: RedisAddress): Promise<EndedSessionStore> {
  const key = 'bindery:docs-host:ended-sessions';
  const redis = redisClient(address);
  // Each call rejects when Redis cannot be reached; the client's own event says nothing more.
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

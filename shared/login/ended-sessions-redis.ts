import { type RedisAddress, redisClient } from '#shared/http/rate-limit-redis.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import type { EndedSessionStore } from './ended-sessions.ts';

/** Keeps the names for all copies of a host in one sorted set of Redis, sorted by their end of use. Session ids are unique, so hosts of several sites may share the set. */
export async function endedSessionsInRedis(address: RedisAddress, program: string): Promise<EndedSessionStore> {
  const key = `bindery:${program}:ended-sessions`;
  const redis = redisClient(address);
  // Each call rejects when Redis cannot be reached; the client's own event says nothing more.
  redis.on('error', () => {});
  await redis.connect().catch(() => {});
  return {
    async read() {
      const names: unknown = await redis.zrange(key, '0', '-1').catch(explainedFor(key));
      // Any other answer would let in sessions that have ended.
      if (!Array.isArray(names) || !names.every((name) => typeof name === 'string'))
        throw new Error('Redis answers with something other than the ended sessions');
      return names;
    },
    async add(name, until) {
      const added: unknown = await redis.zadd(key, String(until), name).catch(explainedFor(key));
      if (added !== 0 && added !== 1) throw new Error('Redis does not confirm that it stored the ended session');
    },
    async remove(names) {
      for (let from = 0; from < names.length; from += mostAtOnce)
        await redis.zrem(key, ...names.slice(from, from + mostAtOnce));
    },
    close: () => redis.disconnect(),
  };
}

const mostAtOnce = 1_000;

const explainedFor =
  (key: string) =>
  (error: unknown): never => {
    if (!messageOf(error).startsWith('WRONGTYPE')) throw error;
    throw new Error(`another program wrote the key ${key} of Redis: remove that key (redis-cli del ${key})`, {
      cause: error,
    });
  };

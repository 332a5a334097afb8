import type { RedisAddress } from '#shared/http/rate-limit-redis.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { endedSessionsInFolder } from './ended-sessions-folder.ts';
import { type EndedSessions, endedSessions } from './ended-sessions.ts';

/** The ended sessions of a program: in Redis, which its copies share, or in a folder. Redis may be unavailable. */
export async function openEndedSessions(
  program: 'docs-host' | 'console',
  { redis, folder }: { redis: RedisAddress | undefined; folder: string },
  logger: Logger,
): Promise<EndedSessions> {
  if (redis === undefined) return endedSessions(endedSessionsInFolder(folder), logger);
  // The Redis client is loaded on demand, because it takes time and memory in each process.
  const { endedSessionsInRedis } = await import('./ended-sessions-redis.ts');
  return endedSessions(await endedSessionsInRedis(redis, program), logger);
}

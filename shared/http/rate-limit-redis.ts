import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';
import { messageOf } from '#shared/runtime/failures.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { withDeadline } from '#shared/runtime/with-deadline.ts';
import { counters, leftAfter, memoryRateLimiter, outcomeOf } from './rate-limit-memory.ts';
import type { RateLimit, RateLimiter } from './rate-limit.ts';

export type RedisRateLimiterOptions = {
  /** `redis://host:6379/0`, or `rediss://…` for TLS. */
  url: string;
  username?: string | undefined;
  password?: string | undefined;
  /** Certificates (PEM) of the authorities that are trusted instead of Node's own. */
  authorities?: string | undefined;
  /** Number of processes that share the counts, including this one. While Redis is down, each counts alone with its part of every limit. */
  copies: () => number;
  logger: Logger;
};

const keyPrefix = 'bindery:limit';
/** Timeout of one command. `take` has 200 ms in total; the rest is for its other work. */
export const answerWithinMs = 120;
const late = () => new Error(`no answer within ${answerWithinMs} ms`);
const openWithinMs = 2_000;
const probeEveryMs = 250;
const probeWithinMs = 1_000;
const longestReconnectPauseMs = 1_000;

/**
 * Counts in Redis, so that all gateways share the counts and a restart of one keeps them. The first late response or error opens a circuit breaker:
 * from then on no request waits for Redis, and this process counts alone with its part of each limit, until Redis responds again. Resolves even when
 * Redis is down.
 */
export async function redisRateLimiter(options: RedisRateLimiterOptions): Promise<RateLimiter> {
  const { copies, logger } = options;
  const redis = redisClient(options);
  const counterOf = counters(
    (name, duration) =>
      new RateLimiterRedis({ storeClient: redis, keyPrefix: `${keyPrefix}:${name}`, points: 1, duration }),
  );
  const local = memoryRateLimiter();
  const probeLimit: RateLimit = { name: 'probe', requests: 1, windowSeconds: 1 };
  const circuit = circuitTo(redis, probe, logger);
  await withDeadline(redis.connect(), openWithinMs, () => new Error('it does not answer')).catch(circuit.open);

  const share = (limit: RateLimit): RateLimit => ({
    ...limit,
    requests: Math.max(1, Math.floor(limit.requests / Math.max(1, copies()))),
  });

  /** Rejects with `NoCount` if the value under this key is not a count. */
  async function counted(limit: RateLimit, key: string, amount: number): Promise<RateLimiterRes> {
    const outcome = await counterOf(limit).penalty(key, amount);
    const { consumedPoints, msBeforeNext } = outcome;
    // A program that only speaks like Redis, or a proxy, may answer anything.
    if (!Number.isInteger(consumedPoints) || !Number.isInteger(msBeforeNext))
      throw new Error('it answers with something other than a count');
    if (consumedPoints < amount || msBeforeNext > limit.windowSeconds * 1_000)
      throw new NoCount(`a count of ${consumedPoints} for ${msBeforeNext} ms`);
    return outcome;
  }

  /** If the key of the probe holds something other than a count, another program may have stored it: the value is removed and the probe repeated. */
  async function probe(): Promise<void> {
    await counted(probeLimit, '', 1).catch(async (error: unknown) => {
      if (!isNoCount(error)) throw error;
      await counterOf(probeLimit).delete('');
      await counted(probeLimit, '', 1);
    });
  }

  /** The count in Redis; undefined when Redis is down. */
  async function count(limit: RateLimit, key: string, amount: number): Promise<RateLimiterRes | undefined> {
    if (circuit.problem() !== undefined) return undefined;
    try {
      return await inTime(counted(limit, key, amount));
    } catch (error) {
      if (isNoCount(error)) startAnew(limit, key, error);
      else circuit.open(error);
      return undefined;
    }
  }

  /** Removes a value that cannot be counted. This request is counted in memory; the next one starts a new count. */
  function startAnew(limit: RateLimit, key: string, error: unknown): void {
    const about = { limit: limit.name, key, problem: messageOf(error) };
    logger.warn(about, 'a count in Redis cannot be read: it starts again from 0');
    counterOf(limit).delete(key).catch(circuit.open);
  }

  return {
    async take(limit, key) {
      const counted = await count(limit, key, 1);
      return counted === undefined ? await local.take(share(limit), key) : outcomeOf(limit, counted);
    },
    async spend(limit, key, amount) {
      const counted = await count(limit, key, amount);
      return counted === undefined ? await local.spend(share(limit), key, amount) : leftAfter(limit, counted);
    },
    problem() {
      const problem = circuit.problem();
      return problem === undefined
        ? undefined
        : `Redis is unavailable (${problem}). Until it answers, this gateway counts alone, with 1/${copies()} of each limit.`;
    },
    async close() {
      circuit.close();
      redis.disconnect();
    },
  };
}

/** The value under a key is a number that no count can have. */
class NoCount extends Error {
  override name = 'NoCount';
}

/** True if Redis works, but the value under one key is not a count, which affects only that key. Pure. */
const isNoCount = (error: unknown): boolean =>
  error instanceof NoCount ||
  /WRONGTYPE|value is not an integer|increment or decrement would overflow/.test(messageOf(error));

const waitingSteps = 6;
const stepMs = answerWithinMs / waitingSteps;

/**
 * Resolves with the response of Redis, or rejects with `late`. Only the time in which this process runs counts. A paused process neither sends
 * commands nor reads responses, and if a pause made gateways count alone, they would allow too many requests.
 */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    const wait = (steps: number): void => {
      // Each step counts once, however late it ends.
      timer = setTimeout(() => (steps > 1 ? wait(steps - 1) : setImmediate(() => reject(late()))), stepMs);
    };
    wait(waitingSteps);
  });
  try {
    return await Promise.race([answer, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

export type RedisAddress = Pick<RedisRateLimiterOptions, 'url' | 'username' | 'password' | 'authorities'>;

/** A client that is not connected yet. */
export function redisClient({ url, username, password, authorities }: RedisAddress): Redis {
  const redis = new Redis(url, {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(authorities === undefined ? {} : { tls: { ca: authorities } }),
    lazyConnect: true,
    connectTimeout: openWithinMs,
    keepAlive: 10_000,
    noDelay: true,
    // Counts of simultaneous requests are sent together.
    enableAutoPipelining: true,
    // A request that Redis did not count in time was counted in memory, and must not be counted in Redis later as well.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (tries) => Math.min(tries * 50, longestReconnectPauseMs),
  });
  return redis;
}

/**
 * Circuit breaker for Redis. Once open, it is closed by the first successful probe. A probe is a count like any other (`count`), with the same
 * timeout: a primary that became a replica, one that is full, and one that refuses scripts still respond to PING, and a slow one would be down again
 * with the next request. A probe without any response ends the connection: the server may be gone permanently, which TCP notices only after a quarter
 * of an hour, and the address may lead to a new primary.
 */
function circuitTo(redis: Redis, count: () => Promise<unknown>, logger: Logger) {
  const closed = new AbortController();
  let problem: string | undefined;
  /** Last error of the connection, which is more specific than the error of a command, `Connection is closed.` */
  let connectionError: string | undefined;
  redis.on('error', (error: Error) => {
    connectionError = error.message;
    if (problem !== undefined) problem = error.message;
  });

  /** Resolves when Redis responds. */
  async function probe(): Promise<void> {
    for (let connectingMs = 0; ; ) {
      await delay(probeEveryMs, undefined, { signal: closed.signal, ref: false });
      try {
        if (redis.status !== 'ready') {
          connectingMs += probeEveryMs;
          if (connectingMs < openWithinMs) continue;
          throw new Error(`no connection within ${openWithinMs} ms`);
        }
        const counted = count();
        const isInTime = inTime(counted).then(
          () => true,
          () => false,
        );
        await withDeadline(counted, probeWithinMs, () => new Error(`no answer within ${probeWithinMs} ms`));
        if (await isInTime) return;
        problem = late().message;
      } catch {
        connectingMs = 0;
        // After our disconnect, the client reports only that it cannot write. The earlier error is more specific.
        problem = connectionError ?? problem;
        redis.disconnect(true);
      }
    }
  }

  async function recover(): Promise<void> {
    const since = performance.now();
    await probe();
    problem = undefined;
    const awaySeconds = Math.round((performance.now() - since) / 1_000);
    logger.info({ awaySeconds }, 'Redis answers again: all gateways share the counts of rate limits');
  }

  return {
    problem: () => problem,
    open(this: void, failure: unknown): void {
      if (problem !== undefined || closed.signal.aborted) return;
      problem = redis.status === 'ready' ? messageOf(failure) : (connectionError ?? messageOf(failure));
      connectionError = undefined;
      logger.warn({ problem }, 'Redis is unavailable: this gateway counts rate limits alone, with its part of each');
      recover().catch((reason: unknown) => {
        if (!closed.signal.aborted) logger.error({ err: reason }, 'the probes of Redis ended');
      });
    },
    close: () => closed.abort(),
  };
}

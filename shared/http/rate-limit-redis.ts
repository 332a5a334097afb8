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
  /** Certificates (PEM) of the authorities to trust instead of those that Node knows. */
  authorities?: string | undefined;
  /** How many processes share the counts, this one included. While Redis is away, each counts alone with its part of every limit. */
  copies: () => number;
  logger: Logger;
};

const keyPrefix = 'bindery:limit';
/** The rest of 200 ms is for everything else about a request. */
export const answerWithinMs = 120;
const late = () => new Error(`no answer within ${answerWithinMs} ms`);
const openWithinMs = 2_000;
const probeEveryMs = 250;
const probeWithinMs = 1_000;
const longestReconnectPauseMs = 1_000;

/**
 * Counts in Redis, so all gateways share the counts and a restart of one forgets nothing. The first answer that is late or an error opens a
 * circuit: from then on nobody waits for Redis, and this process counts alone with its part of each limit, until Redis answers again. Resolves
 * also when Redis is away.
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
  const circuit = circuitTo(redis, () => counterOf(probeLimit).penalty(''), logger);
  await withDeadline(redis.connect(), openWithinMs, () => new Error('it does not answer')).catch(circuit.open);

  const share = (limit: RateLimit): RateLimit => ({
    ...limit,
    requests: Math.max(1, Math.floor(limit.requests / Math.max(1, copies()))),
  });

  /** The count in Redis; undefined when it is away. */
  async function count(limit: RateLimit, key: string, amount: number): Promise<RateLimiterRes | undefined> {
    if (circuit.problem() !== undefined) return undefined;
    const counter = counterOf(limit);
    try {
      return await inTime(counter.penalty(key, amount));
    } catch (error) {
      if (isNoCount(error)) startAnew(counter, limit, key, error);
      else circuit.open(error);
      return undefined;
    }
  }

  /** Removes a value that cannot be counted on. This request counts here; the next one is the first of a new count. */
  function startAnew(counter: RateLimiterRedis, { name }: RateLimit, key: string, error: unknown): void {
    logger.warn({ limit: name, key, problem: messageOf(error) }, 'a count in Redis cannot be read: it starts anew');
    counter.delete(key).catch(circuit.open);
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
        : `Redis is away (${problem}). Until it answers, this gateway counts alone, with 1/${copies()} of each limit.`;
    },
    async close() {
      circuit.close();
      redis.disconnect();
    },
  };
}

/** Whether Redis is well, but has something else than a count under one key: the trouble of that key alone. Pure. */
const isNoCount = (error: unknown): boolean =>
  /WRONGTYPE|value is not an integer|increment or decrement would overflow/.test(messageOf(error));

const waitingSteps = 6;
const stepMs = answerWithinMs / waitingSteps;

/**
 * The answer of Redis, or `late`. Only the time that this process waits counts: while it is held up, it neither sends what it asks nor reads
 * what has come, and gateways that count alone then would let too much pass.
 */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    const wait = (steps: number): void => {
      // However late a step ends, it counts as one.
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

/** Not connected yet. */
export function redisClient({ url, username, password, authorities }: RedisAddress): Redis {
  const redis = new Redis(url, {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(authorities === undefined ? {} : { tls: { ca: authorities } }),
    lazyConnect: true,
    connectTimeout: openWithinMs,
    keepAlive: 10_000,
    noDelay: true,
    // Counts of requests that came together go together.
    enableAutoPipelining: true,
    // A request that Redis did not count in time was counted here, and must not be counted there later as well.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (tries) => Math.min(tries * 50, longestReconnectPauseMs),
  });
  return redis;
}

/**
 * Whether Redis can be asked. Once open, it is closed by the first probe that succeeds. A probe is a count like any other (`count`), and has
 * no more time: a primary that became a replica, one that is full, and one that refuses scripts still answer to PING, and one that is slow
 * would be away again with the next request. A probe without any answer ends the connection: the server behind it may be gone for good,
 * which TCP alone notices after a quarter of an hour, and the address may have a new primary behind it.
 */
function circuitTo(redis: Redis, count: () => Promise<unknown>, logger: Logger) {
  const closed = new AbortController();
  let problem: string | undefined;
  /** Says more than what a command fails with, `Connection is closed.` */
  let connectionError: string | undefined;
  redis.on('error', (error: Error) => {
    connectionError = error.message;
    if (problem !== undefined) problem = error.message;
  });

  /** Resolves when Redis answers. */
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
        // Of a connection that we ended, the client says that it cannot be written to. What led to that says more.
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
      logger.warn({ problem }, 'Redis is away: this gateway counts rate limits alone, with its part of each');
      recover().catch((reason: unknown) => {
        if (!closed.signal.aborted) logger.error({ err: reason }, 'the probes of Redis ended');
      });
    },
    close: () => closed.abort(),
  };
}

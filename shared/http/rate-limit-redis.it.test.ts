import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import { withDeadline } from '#shared/runtime/with-deadline.ts';
import { answeringRedis } from '../../test/support/answering-redis.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { slowProxy } from '../../test/support/slow-proxy.ts';
import { type RedisServer, startRedis } from '../../test/support/start-redis.ts';
import { rateLimiterContract } from './rate-limit.contract.ts';
import { answerWithinMs, type RedisRateLimiterOptions, redisRateLimiter } from './rate-limit-redis.ts';
import type { RateLimiter, RateLimitOutcome } from './rate-limit.ts';

const hour = (name: string, requests: number) => ({ name, requests, windowSeconds: 3_600 });
const count = (outcomes: readonly RateLimitOutcome[]) => outcomes.filter(({ allowed }) => allowed).length;

describeWithServers(['redis-server'], 'rate limits in Redis', () => {
  let redis: RedisServer;
  const opened: RateLimiter[] = [];
  const logged: { level: number; msg: string }[] = [];
  const logger = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) });

  beforeAll(async () => {
    redis = await startRedis();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((limiter) => limiter.close()));
    logged.length = 0;
  });
  afterAll(() => redis.stop());

  async function open(options: Partial<RedisRateLimiterOptions> = {}): Promise<RateLimiter> {
    const limiter = await redisRateLimiter({ url: redis.url, copies: () => 1, logger, ...options });
    opened.push(limiter);
    return limiter;
  }

  const takeAll = (limiter: RateLimiter, limit: ReturnType<typeof hour>, times: number) =>
    withDeadline(
      Promise.all(Array.from({ length: times }, () => limiter.take(limit, 'acme'))),
      5_000,
      () => new Error('A count hangs.'),
    );

  rateLimiterContract('in Redis', () => redisRateLimiter({ url: redis.url, copies: () => 1, logger }));

  test('several processes share a count, and a restart of all of them keeps it', async () => {
    const limit = hour('shared', 100);
    const both = await Promise.all([open(), open()]);
    const outcomes = await Promise.all(both.map((limiter) => takeAll(limiter, limit, 60)));
    expect(count(outcomes.flat())).toBe(100);
    await Promise.all(opened.splice(0).map((limiter) => limiter.close()));
    const restarted = await open();
    expect(await restarted.take(limit, 'acme')).toMatchObject({ allowed: false });
  });

  const outages = {
    killed: [() => redis.kill(), () => redis.restart()],
    stopped: [() => redis.pause(), () => redis.resume()],
  } as const;

  test.each(['killed', 'stopped'] as const)(
    'Redis is %s under load: each process counts alone with its part, and both return to shared counts',
    async (how) => {
      const [lose, regain] = outages[how];
      const limit = hour(`outage-${how}`, 90);
      const limiter = await open({ copies: () => 3 });
      await takeAll(limiter, limit, 10);
      const underLoad = takeAll(limiter, limit, 20);
      await lose();
      await underLoad;
      await expect
        .poll(async () => {
          await takeAll(limiter, hour(`probe-${how}`, 1_000), 1);
          return limiter.problem();
        })
        .toMatch(
          /^Redis is unavailable \(.+\)\. Until it answers, this gateway counts alone, with 1\/3 of each limit\.$/,
        );
      // Requests that were counted alone before count against the part.
      expect(count(await takeAll(limiter, limit, 60))).toBeLessThanOrEqual(30);
      expect(count(await takeAll(limiter, limit, 5))).toBe(0);
      expect(await limiter.take(hour(`one-${how}`, 2), 'acme')).toMatchObject({ allowed: true });
      expect(logged.filter(({ level, msg }) => level === 40 && msg.startsWith('Redis is unavailable'))).toHaveLength(1);

      await regain();
      await expect.poll(() => limiter.problem()).toBeUndefined();
      expect(logged.at(-1)?.msg).toContain('Redis answers again');
      const other = await open();
      const again = hour(`again-${how}`, 4);
      expect(count([...(await takeAll(limiter, again, 3)), ...(await takeAll(other, again, 3))])).toBe(4);
    },
  );

  test('a pause of this process is not attributed to Redis', async () => {
    const limiter = await open();
    for (let held = 0; held < 3; held += 1) {
      const taken = limiter.take(hour('held-up', 10), 'acme');
      // Commands to Redis wait too.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * answerWithinMs);
      expect(await taken).toMatchObject({ allowed: true, remaining: 9 - held });
      expect(limiter.problem()).toBeUndefined();
    }
  });

  test('a primary that became a replica responds but cannot count, so it counts as down until it takes writes', async () => {
    const demoted = await startRedis();
    const limiter = await open({ url: demoted.url });
    const operator = new Redis(demoted.url);
    const connections = async () => Number(/total_connections_received:(\d+)/.exec(await operator.info('stats'))?.[1]);
    const before = await connections();
    await operator.replicaof('127.0.0.1', '1');
    expect(count(await takeAll(limiter, hour('demoted', 2), 5))).toBe(2);
    expect(limiter.problem()).toContain('READONLY');
    // Each failed probe reconnects, because the address may lead to another server by then.
    await expect.poll(connections).toBeGreaterThan(before + 1);
    expect(limiter.problem()).toContain('READONLY');
    expect(logged.map(({ msg }) => msg).filter((msg) => msg.includes('answers again'))).toEqual([]);

    await operator.replicaof('NO', 'ONE');
    await expect.poll(() => limiter.problem()).toBeUndefined();
    operator.disconnect();
    await limiter.close();
    await demoted.stop();
  });

  test('an invalid value under one key affects only that key, and is replaced', async () => {
    const limiter = await open({ copies: () => 2 });
    const operator = new Redis(redis.url);
    const limit = hour('no-count', 10);
    const keyOf = (key: string) => `bindery:limit:no-count:3600:${key}`;
    await operator.lpush(keyOf('list'), 'x');
    await operator.set(keyOf('text'), 'many');
    await operator.set(keyOf('huge'), '9223372036854775807');
    for (const key of ['list', 'text', 'huge']) {
      expect(await limiter.take(limit, key)).toMatchObject({ allowed: true, remaining: 4 });
      expect(limiter.problem()).toBeUndefined();
      expect(await limiter.take(limit, key)).toMatchObject({ allowed: true, remaining: 9 });
      expect(await operator.get(keyOf(key))).toBe('1');
    }
    expect(logged.map(({ msg }) => msg)).toEqual(
      Array(3).fill('a count in Redis cannot be read: it starts again from 0'),
    );
    operator.disconnect();
  });

  test('a number that no count can have is replaced, also one under the key of the probes', async () => {
    const limiter = await open({ copies: () => 2 });
    const operator = new Redis(redis.url);
    const limit = hour('odd-count', 10);
    const keyOf = (key: string) => `bindery:limit:odd-count:3600:${key}`;
    await operator.set(keyOf('credit'), '-1000');
    await operator.set(keyOf('long'), '9', 'EX', 1_000_000);
    for (const key of ['credit', 'long']) {
      expect(await limiter.take(limit, key)).toMatchObject({ allowed: true, remaining: 4 });
      expect(await limiter.take(limit, key)).toMatchObject({ allowed: true, remaining: 9 });
      expect(await operator.ttl(keyOf(key))).toBeLessThanOrEqual(3_600);
    }
    expect(limiter.problem()).toBeUndefined();
    await operator.lpush('bindery:limit:probe:1:', 'x');
    const paused = operator.client('PAUSE', 4 * answerWithinMs, 'ALL');
    await limiter.take(limit, 'paused');
    expect(limiter.problem()).toContain('no answer');
    await paused;
    await expect.poll(() => limiter.problem()).toBeUndefined();
    operator.disconnect();
  });

  test.each([
    '+hello\r\n',
    '*0\r\n',
    '*2\r\n$-1\r\n$-1\r\n',
    '*2\r\n+a\r\n+b\r\n',
    '$-1\r\n',
    ':5\r\n',
    '*2\r\n:1\r\n+x\r\n',
  ])('an answer of another shape (%j) is none: the gateway counts alone until there are counts', async (answer) => {
    const odd = await answeringRedis(/^eval/, answer);
    const limiter = await open({ url: odd.url });
    expect(count(await takeAll(limiter, hour('shape', 2), 5))).toBe(2);
    expect(await limiter.take(hour('shape', 2), 'acme')).toEqual({
      allowed: false,
      remaining: 0,
      resetSeconds: expect.any(Number) as number,
    });
    expect(limiter.problem()).toMatch(/^Redis is unavailable \(/);
    odd.answer = '*2\r\n:1\r\n:1000\r\n';
    await expect.poll(() => limiter.problem()).toBeUndefined();
    await limiter.close();
    await odd.close();
  });

  test('a Redis that takes writes but no counts is down until it counts again', async () => {
    const operator = new Redis(redis.url);
    const account = (...rules: string[]) => operator.call('ACL', 'SETUSER', 'counting', ...rules);
    await account('on', '>password', '~bindery:*', '+@all');
    const limiter = await open({ username: 'counting', password: 'password' });
    await account('-@scripting');
    const connections = async () => Number(/total_connections_received:(\d+)/.exec(await operator.info('stats'))?.[1]);
    await takeAll(limiter, hour('no-scripts', 2), 1);
    expect(limiter.problem()).toContain('NOPERM');
    const before = await connections();
    // A failed probe reconnects.
    await expect.poll(connections).toBeGreaterThan(before + 1);
    expect(logged.map(({ msg }) => msg).filter((msg) => msg.includes('answers again'))).toEqual([]);
    await account('+@all');
    await expect.poll(() => limiter.problem()).toBeUndefined();
    operator.disconnect();
  });

  test('a Redis that responds later than a request waits is down until it is fast', async () => {
    const slow = await slowProxy(redis.port);
    const limiter = await open({ url: `redis://127.0.0.1:${slow.port}` });
    slow.delayMs = 2 * answerWithinMs;
    expect(await limiter.take(hour('slow', 10), 'acme')).toMatchObject({ allowed: true, remaining: 9 });
    const answered = slow.answers;
    await expect.poll(() => slow.answers).toBeGreaterThan(answered + 3);
    expect(limiter.problem()).toContain(`no answer within ${answerWithinMs} ms`);
    expect(logged).toHaveLength(1);
    slow.delayMs = 0;
    await expect.poll(() => limiter.problem()).toBeUndefined();
    await limiter.close();
    await slow.close();
  });

  test('without Redis at its start, a gateway counts alone until Redis is available', async () => {
    const late = await startRedis();
    await late.kill();
    const limiter = await open({ url: late.url });
    expect(limiter.problem()).toContain('ECONNREFUSED');
    expect(count(await takeAll(limiter, hour('late', 2), 5))).toBe(2);
    await late.restart();
    await expect.poll(() => limiter.problem()).toBeUndefined();
    await limiter.close();
    await late.stop();
  });

  test('over TLS of a private authority, with a user and a password; a wrong password is reported', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bindery-redis-tls-'));
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const selfSigned = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject];
    await promisify(execFile)('openssl', [...selfSigned, '-keyout', key, '-out', certificate]);
    const [port = 0] = await freePorts(1);
    const secure = await startRedis([
      ...['--port', '0', '--tls-port', String(port), '--tls-cert-file', certificate, '--tls-key-file', key],
      ...['--tls-auth-clients', 'no', '--user', 'bindery', 'on', '>the-password', '~bindery:*', '+@all'],
    ]);
    const authorities = await readFile(certificate, 'utf8');
    const url = `rediss://127.0.0.1:${port}`;
    const right = { url, authorities, username: 'bindery', password: 'the-password' };
    const limit = hour('secure', 1);
    const limiter = await open(right);
    expect(limiter.problem()).toBeUndefined();
    expect(count(await takeAll(limiter, limit, 3))).toBe(1);

    const wrong = await open({ ...right, password: 'wrong-password' });
    expect(wrong.problem()).toContain('WRONGPASS');
    expect(count(await takeAll(wrong, limit, 3))).toBe(1);
    const untrusting = await open({ ...right, authorities: undefined });
    expect(untrusting.problem()).toContain('self-signed certificate');
    await Promise.all(opened.splice(0).map((each) => each.close()));
    expect(JSON.stringify(logged)).not.toMatch(/(the|wrong)-password/);
    await secure.stop();
    await rm(folder, { recursive: true });
  });
});

import type { Redis } from 'ioredis';
import { connectionProblem } from '#shared/runtime/connection-problem.ts';
import { fault, type Finding, good, versionFinding, warning } from '#shared/runtime/finding.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { withDeadline } from '#shared/runtime/with-deadline.ts';
import { answerWithinMs, type RedisAddress, redisClient } from './rate-limit-redis.ts';

const oldestRedis = [6, 2];
const openWithinMs = 5_000;
const pings = 21;

/** Checks whether Redis can keep the counts of requests, and for how long it will. */
export async function inspectRedis(address: RedisAddress): Promise<Finding[]> {
  const redis = redisClient(address);
  let connectionError: Error | undefined;
  redis.on('error', (error: Error) => {
    connectionError = error;
  });
  try {
    await withDeadline(redis.connect(), openWithinMs, () => new Error(`no answer within ${openWithinMs} ms`));
    return await findingsAbout(redis, address.url);
  } catch (error) {
    return [unusable(address, connectionError ?? error)];
  } finally {
    redis.disconnect();
  }
}

function unusable({ url }: RedisAddress, error: unknown): Finding {
  const said = messageOf(error);
  const why = said.replace(/[.]$/, '');
  if (/^(NOAUTH|WRONGPASS)|AUTH/.test(said)) {
    return fault(
      `Redis at ${url} does not accept the password: ${why}.`,
      'Set BINDERY_REDIS_PASSWORD (and _USERNAME).',
    );
  }
  if (said.startsWith('NOPERM')) {
    return fault(
      `Redis at ${url} does not allow this user the commands that rate limits need: ${why}.`,
      'Allow it info, ping, eval, evalsha, incrby, pexpire, pttl, get, set and del on keys "bindery:limit:*".',
    );
  }
  return fault(
    `Redis at ${url} cannot be reached: ${connectionProblem(error, 'BINDERY_REDIS_CA_FILE')}.`,
    'Start it, or set BINDERY_REDIS_URL to its address. Until then each gateway counts alone.',
  );
}

async function findingsAbout(redis: Redis, url: string): Promise<Finding[]> {
  const about = fieldsOf(await redis.info());
  const { redis_version: version = '', role, cluster_enabled: isCluster } = about;
  const usual = await usualPing(redis);
  const who = `Redis ${version} at ${url} usually answers within ${usual.toFixed(1)} ms`;
  const findings = [versionFinding(who, version, oldestRedis)];
  if (usual > answerWithinMs / 2) {
    findings.push(
      warning(
        `Redis usually answers after ${Math.round(usual)} ms; gateways wait no longer than ${answerWithinMs} ms, and then count alone.`,
        'Run Redis near the gateways.',
      ),
    );
  }
  if (role !== undefined && role !== 'master') {
    findings.push(fault('This Redis is a replica, which counts nothing.', 'Set BINDERY_REDIS_URL to the primary.'));
  }
  if (isCluster === '1') {
    findings.push(
      fault(
        'This Redis is a node of a Redis Cluster, which counts only a part of the keys.',
        'Use a Redis that is not a cluster.',
      ),
    );
  }
  return [...findings, ...memoryFindings(about), ...diskFindings(about)];
}

function memoryFindings({ maxmemory = '0', maxmemory_policy: policy = 'noeviction', used_memory: used = '0' }: Info) {
  if (maxmemory === '0') return [];
  if (policy.startsWith('allkeys') || policy.startsWith('volatile')) {
    return [
      warning(
        `When its memory is full, Redis evicts counts (maxmemory-policy ${policy}): limits then start again from 0.`,
        'Set maxmemory-policy to noeviction.',
      ),
    ];
  }
  return Number(used) > 0.8 * Number(maxmemory)
    ? [warning('Its memory is four fifths full.', 'Raise maxmemory: a full Redis counts nothing.')]
    : [];
}

function diskFindings({ rdb_last_bgsave_status: saved, aof_enabled: log, aof_last_write_status: written }: Info) {
  if (saved === 'err' || (log === '1' && written === 'err')) {
    return [
      warning(
        'Its last write to disk failed: a restart forgets counts.',
        'Look at its log, and make room on its disk.',
      ),
    ];
  }
  return [good('Its writes to disk succeed.')];
}

type Info = Readonly<Record<string, string | undefined>>;

/** Parses the response to INFO: lines `name:value`. */
const fieldsOf = (info: string): Info =>
  Object.fromEntries(
    info.split('\r\n').flatMap((line) => {
      const at = line.indexOf(':');
      return at === -1 ? [] : [[line.slice(0, at), line.slice(at + 1)]];
    }),
  );

/** The median in ms, because a single late response may be caused by a busy moment of this machine and not by the location of Redis. */
async function usualPing(redis: Redis): Promise<number> {
  const took: number[] = [];
  for (let ping = 0; ping < pings; ping += 1) {
    const askedAt = performance.now();
    await redis.ping();
    took.push(performance.now() - askedAt);
  }
  return took.sort((a, b) => a - b)[(pings - 1) / 2] ?? 0;
}

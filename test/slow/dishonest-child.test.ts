import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ChildDied, ChildMisbehaved, ChildTimedOut } from '#shared/docs/sandbox/child.ts';
import { type ChildPool, childPool } from '#shared/docs/sandbox/child-pool.ts';
import { answerer } from '#shared/docs/sandbox/child-request.ts';
import { probeConfinement } from '#shared/docs/sandbox/confinement.ts';
import { withSnapshot } from '#shared/docs/sandbox/child-snapshot.ts';
import { Misfit } from '#shared/docs/sandbox/frames.ts';
import { afterwards, breaks, dishonesties } from '#shared/docs/sandbox/test-children/dishonesty.ts';

/** The confinement on a machine without any kernel mechanism. */
const bare = probeConfinement('');
const entry = new URL('../../shared/docs/sandbox/test-children/dishonest-child.ts', import.meta.url);
const mustWork = {
  info: () => undefined,
  warn(line: string) {
    throw new Error(line);
  },
};
const program = await withSnapshot({ entry }, mustWork);
const losses: string[] = [];
const pools: ChildPool[] = [];
const poolOf = (): ChildPool => {
  const onLost = (how: string): void => void losses.push(how);
  const pool = childPool({ ...program, slots: 2, warmSpares: 0, memoryLimitMb: 256, onLost });
  pools.push(pool);
  return pool;
};
const text = { schema: z.string() };
const deadlineMs = 20_000;
const of = (affinity: string) => ({ expects: text, deadlineMs, affinity });

// A message that the parent cannot handle would cause an uncaught error, which would end the tests as it would end a service.
let pool = poolOf();
afterEach(async () => {
  losses.length = 0;
  await pool.close();
  pool = poolOf();
});
afterAll(() => Promise.all(pools.map((each) => each.close())));

/**
 * Returns the outcome of a request whose child is dishonest. Meanwhile a request of another organization is answered, and afterwards one of each
 * organization.
 */
async function besideOthers(name: string, options: Partial<ReturnType<typeof of>> = {}): Promise<unknown> {
  const outcome = pool.run(`dishonest: ${name};`, { ...of('acme'), ...options }).catch((error: unknown) => error);
  expect(await pool.run('of globex', of('globex'))).toBe('of globex');
  const ended = await outcome;
  expect(await pool.run('of acme', of('acme'))).toBe('of acme');
  expect(await pool.run('of globex', of('globex'))).toBe('of globex');
  return ended;
}

describe('a child that', () => {
  it.each(Object.keys(dishonesties))('%s is killed, and only its request fails', async (name) => {
    const ended = await besideOthers(name);
    expect(ended).toBeInstanceOf(ChildMisbehaved);
    expect((ended as Error).message).toMatch(/^its process was ended because it [a-z]/);
    expect(losses).toEqual(['misbehaved']);
  });

  it.each(Object.keys(breaks))('%s loses only its request', async (name) => {
    const ended = await besideOthers(name, { deadlineMs: 1_000 });
    expect(ended instanceof ChildDied || ended instanceof ChildTimedOut).toBe(true);
  });

  it.each(Object.keys(afterwards))('%s gets no further request', async (name) => {
    const request = `dishonest: ${name};`;
    expect(await besideOthers(name)).toBe(request);
    expect(losses.every((how) => how === 'misbehaved')).toBe(true);
  });

  it('returns another kind of response than expected is killed', async () => {
    const asked = pool.run({ path: '/etc/passwd' }, of('acme'));
    await expect(asked).rejects.toThrow(/because it sent an answer with an invalid shape/);
    await expect(asked).rejects.toThrow(ChildMisbehaved);
    expect(await pool.run('next', of('acme'))).toBe('next');
  });

  it.each([
    ['at once', () => void refuse()],
    ['later', () => Promise.resolve().then(refuse)],
  ])('returns the response to another request is killed, found %s', async (_when, verify) => {
    const asked = pool.run('x', { ...of('acme'), expects: { schema: z.string(), verify } });
    await expect(asked).rejects.toThrow('its process was ended because it answered for another page');
    expect(await pool.run('next', of('acme'))).toBe('next');
  });

  it('responds while an answer is being made gets no other answer, and its response is taken when that answer is complete', async () => {
    const seen: string[] = [];
    const another = Promise.withResolvers<void>();
    const answer = async (): Promise<void> => {
      seen.push('asked');
      await another.promise;
      seen.push('answered');
    };
    const answers = answerer(z.literal('x'), answer, { atOnce: 1 });
    const expects = { schema: z.string(), verify: () => void seen.push('verified') };
    const asked = pool.run('dishonest: responds while it is being answered;', { ...of('acme'), answers, expects });
    // When the other child has answered, this child has written all its bytes.
    expect(await pool.run('of globex', of('globex'))).toBe('of globex');
    another.resolve();
    expect(await asked).toBe('early');
    expect(seen).toEqual(['asked', 'answered', 'verified']);
  });

  it('asks an invalid question is killed, and the question is not answered', async () => {
    const heard: unknown[] = [];
    const answers = answerer(z.literal('a file'), (content) => Promise.resolve(heard.push(content)));
    const asked = pool.run('dishonest: asks hundreds of questions at once;', { ...of('acme'), answers });
    await expect(asked).rejects.toThrow(ChildMisbehaved);
    expect(heard).toEqual([]);
  });
});

function refuse(): never {
  throw new Misfit('it answered for another page');
}

it('a process that a child leaves behind, and that holds its pipes, keeps neither its request nor the pool', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bindery-left-behind-'));
  const pidFile = join(folder, 'pid');
  const leaves = `setsid sh -c 'echo $$ >>${pidFile}; exec sleep 600' & exec "$@"`;
  const wrap = (command: readonly string[]) => ['/bin/sh', '-c', leaves, 'sh', ...command];
  const holding = childPool({ entry, slots: 1, warmSpares: 0, confinement: { ...bare, wrap } });
  try {
    await expect(holding.run('dishonest: says null;', of('acme'))).rejects.toThrow(ChildMisbehaved);
    expect(await holding.run('next', of('acme'))).toBe('next');
    await holding.close();
  } finally {
    for (const pid of (await readFile(pidFile, 'utf8')).trim().split('\n')) process.kill(Number(pid), 'SIGKILL');
    await rm(folder, { recursive: true });
  }
});

it('bytes from a child do not reach the prototype of an object', async () => {
  await besideOthers('sends bytes for a prototype');
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(Reflect.get({}, 'polluted')).toBeUndefined();
});

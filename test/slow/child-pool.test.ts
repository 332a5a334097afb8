import { execFileSync, spawn } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { ChildDied, ChildRequestFailed, ChildTimedOut } from '#shared/docs/sandbox/child.ts';
import { type ChildPool, type ChildPoolOptions, childPool } from '#shared/docs/sandbox/child-pool.ts';
import { answerer, anything } from '#shared/docs/sandbox/child-request.ts';
import { withSnapshot, withSnapshotSoon } from '#shared/docs/sandbox/child-snapshot.ts';

const entry = new URL('../../shared/docs/sandbox/test-children/misbehaving-child.ts', import.meta.url);
const deadlineMs = 20_000;
const mustWork = {
  info: () => undefined,
  warn(line: string) {
    throw new Error(line);
  },
};
const pools: ChildPool[] = [];
const poolDefaults = { entry, slots: 1, warmSpares: 1, memoryLimitMb: 128 };
const poolOf = (options: Partial<ChildPoolOptions> = {}): ChildPool => {
  const pool = childPool({ ...poolDefaults, ...options });
  pools.push(pool);
  return pool;
};

const snapshotProgram = await withSnapshot({ entry }, mustWork);
const echo = (pool: ChildPool): Promise<unknown> =>
  pool.run({ do: 'echo', value: 'next' }, { expects: anything, deadlineMs });

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

describe.each([
  ['that loaded its modules', {}],
  ['that started from a snapshot', snapshotProgram],
])('how a request can end a child %s', (_name, program) => {
  let shared: ChildPool;
  beforeAll(() => {
    shared = childPool({ ...poolDefaults, ...program });
  });
  // The pool is closed before the tests that count this process's children, because a calm pool starts a spare child.
  afterAll(() => shared.close());

  it('returns the response, with bytes unchanged', async () => {
    const value = { bytes: new Uint8Array([0, 255, 128]), text: 'é\u0000', nothing: undefined };
    expect(await shared.run({ do: 'echo', value }, { expects: anything, deadlineMs })).toEqual(value);
  });

  it.each(['loop', 'regex'])(
    'is killed at its deadline while stuck (%s), and the next request is served',
    async (what) => {
      await expect(shared.run({ do: what }, { expects: anything, deadlineMs: 200 })).rejects.toThrow(ChildTimedOut);
      expect(await echo(shared)).toBe('next');
    },
  );

  it('is killed while it sleeps, which takes no processor time', async () => {
    // The limit of wall-clock time alone would allow an hour.
    const run = { expects: anything, deadlineMs: 200, withinMs: 3_600_000 };
    await expect(shared.run({ do: 'sleep' }, run)).rejects.toThrow(ChildTimedOut);
    expect(await echo(shared)).toBe('next');
  });

  it('reports its exit code when it exits', async () => {
    const ended = await shared
      .run({ do: 'exit', code: 3 }, { expects: anything, deadlineMs })
      .catch((error: unknown) => error);
    expect(ended).toBeInstanceOf(ChildDied);
    expect((ended as ChildDied).message).toContain('exit code 3');
    expect(await echo(shared)).toBe('next');
  });

  it('dies when it allocates too many objects, and is reported as out of memory', async () => {
    const ended = await shared.run({ do: 'heap' }, { expects: anything, deadlineMs }).catch((error: unknown) => error);
    expect(ended).toBeInstanceOf(ChildDied);
    expect((ended as ChildDied).message).toContain('out of memory');
    expect(await echo(shared)).toBe('next');
  });

  it.skipIf(!existsSync('/bin/sh'))('cannot allocate unlimited native memory', async () => {
    await expect(shared.run({ do: 'native' }, { expects: anything, deadlineMs })).rejects.toThrow(/memory|allocation/i);
    expect(await echo(shared)).toBe('next');
  });

  it('retains no answered requests while it lives', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const kept: WeakRef<object>[] = [];
    for (let asked = 0; asked < 20; asked += 1) {
      const value = { bytes: new Uint8Array(1_000) };
      kept.push(
        new WeakRef(value),
        new WeakRef((await shared.run({ do: 'echo', value }, { expects: anything, deadlineMs })) as object),
      );
    }
    await setImmediate();
    collect();
    // The stack may still reference the last objects.
    expect(kept.filter((ref) => ref.deref() !== undefined).length).toBeLessThan(5);
    expect(await echo(shared)).toBe('next');
  });

  it('passes on an error of its handler, and survives', async () => {
    const before = await shared.run({ do: 'name' }, { expects: anything, deadlineMs });
    const failed = await shared
      .run({ do: 'throw', message: 'no such page' }, { expects: anything, deadlineMs })
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ChildRequestFailed);
    expect(failed).toMatchObject({ message: 'no such page', originalName: 'TypeError' });
    expect(await shared.run({ do: 'name' }, { expects: anything, deadlineMs })).toBe(before);
  });

  it('may ask the caller, which may refuse', async () => {
    const answers = answerer(z.string(), (content) =>
      content === 'a.mdx' ? Promise.resolve('text') : Promise.reject(new Error('no such file')),
    );
    expect(await shared.run({ do: 'ask', content: 'a.mdx' }, { expects: anything, deadlineMs, answers })).toEqual({
      asked: 'text',
    });
    await expect(
      shared.run({ do: 'ask', content: '/etc/passwd' }, { expects: anything, deadlineMs, answers }),
    ).rejects.toThrow('no such file');
    await expect(shared.run({ do: 'ask', content: 'a.mdx' }, { expects: anything, deadlineMs })).rejects.toThrow(
      'has no answers to questions',
    );
  });
});

describe('the organization of a child', () => {
  const nameOf = async (pool: ChildPool, affinity: string): Promise<string> =>
    (await pool.run({ do: 'name' }, { expects: anything, deadlineMs, affinity })) as string;

  it('stays with one organization over many requests', async () => {
    const pool = poolOf();
    const acme = await nameOf(pool, 'acme');
    expect(await nameOf(pool, 'acme')).toBe(acme);
    const globex = await nameOf(pool, 'globex');
    expect(globex).not.toBe(acme);
    expect(await nameOf(pool, 'initech')).not.toBe(globex);
  });

  it('is reused when its organization returns after another one', async () => {
    const pool = poolOf();
    const acme = await nameOf(pool, 'acme');
    const globex = await nameOf(pool, 'globex');
    expect([await nameOf(pool, 'acme'), await nameOf(pool, 'globex')]).toEqual([acme, globex]);
  });

  it('is evicted for others when it is the least recently used', async () => {
    const pool = poolOf({ parked: 1 });
    const acme = await nameOf(pool, 'acme');
    const globex = await nameOf(pool, 'globex');
    await nameOf(pool, 'acme');
    await nameOf(pool, 'initech');
    await nameOf(pool, 'hooli');
    expect(await nameOf(pool, 'globex')).not.toBe(globex);
    expect(await nameOf(pool, 'acme')).not.toBe(acme);
  });

  it('ends after its idle timeout', async () => {
    const pool = poolOf({ idleAfterMs: 10, warmSpares: 0 });
    const acme = await nameOf(pool, 'acme');
    await vi.waitUntil(() => processOf(acme) === undefined, { timeout: 60_000 });
    expect(await nameOf(pool, 'acme')).not.toBe(acme);
  });

  it('ends with the spares when the pool is idle, and others start with the next request', async () => {
    const before = new Set(ownProcesses());
    const pool = poolOf({ idleAfterMs: 50, calmAfterMs: 1 });
    const acme = await nameOf(pool, 'acme');
    const ofPool = () => ownProcesses().filter((pid) => !before.has(pid));
    await vi.waitUntil(() => ofPool().length === 0, { timeout: 60_000 });
    expect(await nameOf(pool, 'acme')).not.toBe(acme);
  });

  it('gives its place to a spare when the pool is calm, so that no more children wait than work', async () => {
    const pool = poolOf({ slots: 2, warmSpares: 2, calmAfterMs: 1_000 });
    const acme = await nameOf(pool, 'acme');
    const globex = await nameOf(pool, 'globex');
    await vi.waitUntil(() => processOf(acme) === undefined, { timeout: 30_000 });
    expect(await nameOf(pool, 'globex')).toBe(globex);
    expect([acme, globex]).not.toContain(await nameOf(pool, 'acme'));
  });

  it.skipIf(process.platform !== 'linux')(
    'is stopped when it has answered, and works on its next request',
    async () => {
      const pool = poolOf({ warmSpares: 0 });
      const before = await pool.run({ do: 'work on' }, { expects: anything, deadlineMs });
      const pid = processes().find(({ command }) => command === before)?.pid;
      const isStopped = (): boolean => /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
      await vi.waitFor(() => expect(isStopped()).toBe(true), 20_000);
      expect(await pool.run({ do: 'name' }, { expects: anything, deadlineMs })).toBe(before);
      await vi.waitFor(() => expect(isStopped()).toBe(true), 20_000);
    },
  );

  it('is replaced after its number of requests', async () => {
    const pool = poolOf({ requestsPerChild: 2 });
    const first = await nameOf(pool, 'acme');
    expect(await nameOf(pool, 'acme')).toBe(first);
    expect(await nameOf(pool, 'acme')).not.toBe(first);
  });

  it('works without warm spares', async () => {
    const pool = poolOf({ warmSpares: 0 });
    expect(await nameOf(pool, 'acme')).not.toBe(await nameOf(pool, 'globex'));
  });
});

describe('a spare', () => {
  const servedBy = async (pool: ChildPool, affinity: string): Promise<string[]> =>
    (await pool.run({ do: 'served' }, { expects: anything, deadlineMs, affinity })) as string[];

  /** A pool whose spares are warmed up with these requests, and promises that resolve when it asks for the request of a number. */
  const warmed = (requests: number, request: (number: number) => unknown = (value) => ({ do: 'echo', value })) => {
    const asked: number[] = [];
    const askedFor = Array.from({ length: requests }, () => Promise.withResolvers<void>());
    const warmUp = {
      requests,
      request(number: number) {
        asked.push(number);
        askedFor[number]?.resolve();
        return request(number);
      },
    };
    return {
      pool: poolOf({ warmUp, calmAfterMs: 1 }),
      asked,
      whenAsked: (number: number) => askedFor[number]?.promise,
    };
  };

  it('starts when the pool is calm, and not beside requests', async () => {
    const before = new Set(ownProcesses());
    const ofPool = () => ownProcesses().filter((pid) => !before.has(pid));
    const busy = poolOf({ calmAfterMs: 3_600_000 });
    await echo(busy);
    expect(ofPool()).toHaveLength(1);
    await busy.close();
    poolOf({ calmAfterMs: 1 });
    await vi.waitUntil(() => ofPool().length === 1, { timeout: 60_000 });
  });

  it('warms up, and serves any organization then', async () => {
    const { pool, asked, whenAsked } = warmed(3);
    await whenAsked(2);
    expect(await servedBy(pool, 'acme')).toEqual(['echo', 'echo', 'echo', 'served']);
    expect(asked).toEqual([0, 1, 2]);
  });

  it('accepts a request before its warm-up is done, and serves only that organization from then on', async () => {
    const { pool, asked, whenAsked } = warmed(100_000);
    await whenAsked(3);
    const served = await servedBy(pool, 'acme');
    expect(served.at(-1)).toBe('served');
    expect(served.length).toBeLessThan(asked.length + 2);
    // Another child warms up meanwhile, and its responses do not reach this child.
    const { length } = asked;
    await vi.waitUntil(() => asked.length > length + 3, { timeout: 60_000 });
    expect(await servedBy(pool, 'acme')).toEqual([...served, 'served']);
    expect((await servedBy(pool, 'globex')).slice(0, 4)).toEqual(['echo', 'echo', 'echo', 'echo']);
  });

  it('that died during its warm-up is replaced by one without a warm-up', async () => {
    const before = new Set(ownProcesses());
    const { pool, asked, whenAsked } = warmed(3, () => ({ do: 'exit', code: 1 }));
    await whenAsked(0);
    expect(await servedBy(pool, 'acme')).toEqual(['served']);
    // One of the two belongs to acme.
    await vi.waitUntil(() => ownProcesses().filter((pid) => !before.has(pid)).length === 2, { timeout: 60_000 });
    expect(await servedBy(pool, 'globex')).toEqual(['served']);
    expect(asked).toEqual([0]);
  });
});

describe('the pool', () => {
  it('leaves no listener on a signal that outlives its requests', async () => {
    const { signal } = new AbortController();
    const pool = poolOf();
    const one = pool.run({ do: 'echo', value: 1 }, { expects: anything, deadlineMs, signal });
    const waiting = pool.run({ do: 'echo', value: 2 }, { expects: anything, deadlineMs, signal });
    expect(await Promise.all([one, waiting])).toEqual([1, 2]);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('runs one request per slot at once, and all in the end', async () => {
    const pool = poolOf({ slots: 2 });
    const stuck = pool.run({ do: 'loop' }, { expects: anything, deadlineMs: 400 }).catch((error: unknown) => error);
    const values = await Promise.all(
      [1, 2, 3].map((value) => pool.run({ do: 'echo', value }, { expects: anything, deadlineMs })),
    );
    expect(values).toEqual([1, 2, 3]);
    expect(await stuck).toBeInstanceOf(ChildTimedOut);
  });

  it('lets no organization wait for another that always has a request', async () => {
    const pool = poolOf({ warmSpares: 0, requestsPerChild: 1_000_000 });
    const ask = (affinity: string) =>
      pool.run({ do: 'echo', value: affinity }, { expects: anything, deadlineMs, affinity });
    await ask('acme');
    const most = 30_000;
    let asked = 0;
    const answered = new AbortController();
    const keepAsking = async (): Promise<void> => {
      for (; !answered.signal.aborted && asked < most; asked += 1) await ask('acme');
    };
    const other = Promise.all([keepAsking(), keepAsking()]);
    expect(await ask('globex')).toBe('globex');
    answered.abort();
    await other;
    expect(asked).toBeLessThan(most);
  });

  it('gives up a running and a waiting request when asked', async () => {
    const pool = poolOf();
    const controller = new AbortController();
    const running = pool.run({ do: 'loop' }, { expects: anything, deadlineMs, signal: controller.signal });
    const waiting = pool.run({ do: 'echo', value: 1 }, { expects: anything, deadlineMs, signal: controller.signal });
    controller.abort(new Error('the job was cancelled'));
    await expect(running).rejects.toThrow('the job was cancelled');
    await expect(waiting).rejects.toThrow('the job was cancelled');
    expect(await echo(pool)).toBe('next');
  });

  it('drains: finishes accepted requests, and refuses new ones', async () => {
    const pool = poolOf();
    const taken = [echo(pool), echo(pool)];
    const drained = pool.drain();
    await expect(echo(pool)).rejects.toThrow('closed');
    await drained;
    expect(await Promise.all(taken)).toEqual(['next', 'next']);
  });

  it.skipIf(!existsSync('/bin/sh'))('ends a child whose guard was killed, also a stuck one', async () => {
    const pool = poolOf();
    const name = (await pool.run({ do: 'name' }, { expects: anything, deadlineMs, affinity: 'acme' })) as string;
    const guard = guardOf(name);
    const stuck = pool.run({ do: 'loop' }, { expects: anything, deadlineMs, affinity: 'acme' });
    process.kill(guard, 'SIGKILL');
    await expect(stuck).rejects.toThrow(ChildDied);
    await vi.waitUntil(() => processOf(name) === undefined, { timeout: 60_000 });
    expect(await echo(pool)).toBe('next');
  });

  it('starts children that load their modules when their snapshot is gone', async () => {
    expect(await echo(poolOf({ snapshot: '/not/there' }))).toBe('next');
  });

  it('rejects when its module cannot start, instead of waiting', async () => {
    const pool = poolOf({ entry: new URL('../../shared/docs/sandbox/test-children/not-there.ts', import.meta.url) });
    await expect(echo(pool)).rejects.toThrow(ChildDied);
  });

  it.skipIf(!existsSync('/bin/sh'))(
    'leaves no child behind when its process is killed, not even a stuck one',
    async () => {
      const program = `
      import { childPool } from ${JSON.stringify(new URL('../../shared/docs/sandbox/child-pool.ts', import.meta.url).href)};
      import { anything } from ${JSON.stringify(new URL('../../shared/docs/sandbox/child-request.ts', import.meta.url).href)};
      const pool = childPool({ entry: new URL(${JSON.stringify(entry.href)}), slots: 1, warmSpares: 0 });
      console.log(await pool.run({ do: 'name' }, { expects: anything, deadlineMs: 20000 }));
      pool.run({ do: 'loop' }, { expects: anything, deadlineMs: 600000 }).catch(() => undefined);
    `;
      const parent = spawn(process.execPath, ['--input-type=module', '-e', program], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [line] = (await once(parent.stdout, 'data')) as [Buffer];
      const name = line.toString().trim();
      expect(processOf(name)).toBeDefined();
      parent.kill('SIGKILL');
      await vi.waitUntil(() => processOf(name) === undefined, { timeout: 60_000 });
    },
  );
});

type Seen = { pid: number; parent: number; command: string };

const processes = (): Seen[] =>
  execFileSync('ps', ['-eo', 'pid=,ppid=,args='])
    .toString()
    .split('\n')
    .flatMap((line) => {
      const [, pid, parent, command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
      return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), command }];
    });

/** The process of the child with this title. */
const processOf = (name: string): Seen | undefined => processes().find(({ command }) => command.startsWith(name));

/** Child processes of this process, with those of its pools. */
const ownProcesses = (): number[] =>
  processes().flatMap(({ pid, parent, command }) =>
    parent === process.pid && !command.startsWith('ps ') ? [pid] : [],
  );

/** The guard shell between this process and a child. The program that confines the child may run between the shell and the child. */
function guardOf(name: string): number {
  const all = processes();
  let above = all.find(({ command }) => command.startsWith(name));
  while (above !== undefined && above.parent !== process.pid) above = all.find(({ pid }) => pid === above?.parent);
  if (above === undefined) throw new Error(`no process of ours leads to ${name}`);
  return above.pid;
}

describe('a starting service', () => {
  it('does not wait for a snapshot: its children load their modules until it exists', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bindery-child-'));
    const file = join(folder, 'new-child.ts');
    const server = JSON.stringify(new URL('../../shared/docs/sandbox/child-server.ts', import.meta.url).href);
    await writeFile(file, `import { serveChild } from ${server};\nserveChild(async ({ value }) => value);\n`);
    const program = await withSnapshotSoon({ entry: pathToFileURL(file) }, mustWork, new AbortController().signal);
    const { snapshot = '' } = program;
    try {
      expect(existsSync(snapshot)).toBe(false);
      expect(await echo(poolOf(program))).toBe('next');
      await expect.poll(() => existsSync(snapshot)).toBe(true);
      expect(await echo(poolOf(program))).toBe('next');
    } finally {
      await rm(folder, { recursive: true });
      await rm(snapshot, { force: true });
    }
  });
});

import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ChildProgram, startChild } from './child.ts';
import { type ChildPool, childPool } from './child-pool.ts';
import { anything } from './child-request.ts';
import { withSnapshot } from './child-snapshot.ts';
import { type Confinement, describeConfinement, kernelConfinement, probeConfinement } from './confinement.ts';

const entry = new URL('./test-children/hostile-child.ts', import.meta.url);
const fromRoot = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const kernel = kernelConfinement();
/** Confinement as on macOS, or in a container that allows none: only Node's own restrictions. */
const bare = probeConfinement('/nowhere');

let folder: string;
let tcp: Server;
let socketFile: Server;
const reached: string[] = [];
beforeAll(async () => {
  process.env['CANARY_SECRET'] = 'canary-7f3a';
  folder = await mkdtemp(join(tmpdir(), 'bindery-hostile-'));
  tcp = createServer(() => reached.push('tcp')).listen(0, '127.0.0.1');
  socketFile = createServer(() => reached.push('socket file')).listen(join(folder, 'socket'));
  await Promise.all([once(tcp, 'listening'), once(socketFile, 'listening')]);
  await writeFile(join(folder, 'secret'), 'of another organization');
});
afterAll(async () => {
  delete process.env['CANARY_SECRET'];
  tcp.close();
  socketFile.close();
  await rm(folder, { recursive: true, force: true });
});

const mustWork = {
  info: () => undefined,
  warn(line: string) {
    throw new Error(line);
  },
};
const fromSources = (program: ChildProgram): Promise<ChildProgram> => Promise.resolve(program);
const fromSnapshot = (program: ChildProgram): Promise<ChildProgram> => withSnapshot(program, mustWork);

describe.each<[string, Confinement, typeof fromSources]>([
  [`as this machine confines it (${describeConfinement(kernel)})`, kernel, fromSources],
  ['where the kernel offers nothing', bare, fromSources],
  ['from a snapshot', kernel, fromSnapshot],
  ['from a snapshot where the kernel offers nothing', bare, fromSnapshot],
])('a real child, %s', (_name, confinement, programOf) => {
  let pool: ChildPool;
  beforeAll(async () => {
    pool = childPool({ ...(await programOf({ entry })), slots: 1, confinement });
  });
  afterAll(() => pool.close());

  /** The result of an attempt. Rejects with the error that it met. */
  const attempt = (what: string, extra: object = {}): Promise<unknown> => {
    const { port } = tcp.address() as AddressInfo;
    const request = { do: what, pid: process.pid, port, path: join(folder, 'made'), ...extra };
    return pool.run(request, { expects: anything, deadlineMs: 20_000, affinity: 'acme' });
  };

  const refused = [
    'write',
    'program',
    'native code',
    'database',
    'signal',
    'signal to its group',
    'signal by the inner function',
    'debugger of another process',
    'connection',
    'connection by its class',
    'web request',
    'own port',
    'port by a handle',
    'socket file by a handle',
    'datagram',
    'datagrams by a handle',
    'datagrams by their class',
    'priority of another process',
    'name look-up',
    'worker thread',
    'inspector',
    'inspector session',
    'wasi',
    'code from a string',
    'file of the engine',
    'heap snapshot',
    'report',
    'other user',
    'internal binding',
  ];
  test('loads no native code after its start, even if its modules have some', async () => {
    const program = await programOf({ entry, addons: true });
    const withAddons = childPool({ ...program, slots: 1, warmSpares: 0, confinement });
    const load = { do: 'native code', path: process.execPath };
    await expect(withAddons.run(load, { expects: anything, deadlineMs: 20_000 })).rejects.toThrow(
      /dlopen is not available/,
    );
    await withAddons.close();
  });

  test.each(refused)('has no %s', async (what) => {
    // The attempts fail because they are refused, not because something else is missing.
    await expect(attempt(what, what === 'native code' ? { path: process.execPath } : {})).rejects.toThrow(
      /restricted|not available|disabled|disallowed|No such built-in module|fetch failed|process\.binding/i,
    );
    expect(existsSync(join(folder, 'made'))).toBe(false);
    expect(reached).toEqual([]);
  });

  test('cannot connect to a socket file, such as that of a container engine', async () => {
    await expect(attempt('connection to a socket file', { path: join(folder, 'socket') })).rejects.toThrow(
      /not available/,
    );
    expect(reached).toEqual([]);
  });

  test('has an environment without secrets', async () => {
    expect(await attempt('environment')).toEqual({ got: expect.objectContaining({ TZ: 'UTC' }) });
    expect(JSON.stringify(await attempt('environment'))).not.toMatch(/canary|BINDERY|PATH/);
  });

  // Node checks the right to read before it looks up the file, so files that do not exist are refused as well.
  test.each([
    ['the file of another organization', () => join(folder, 'secret')],
    ['/etc/passwd', () => '/etc/passwd'],
    ['its environment by another way', () => `/proc/${process.pid}/environ`],
    ['a file of the repository that is no code of it', () => fromRoot('README.md')],
    ['a service', () => fromRoot('services/cli/main.ts')],
    ['the folder above', () => fromRoot('..')],
    ['../package.json, beside the program', () => fromRoot('../package.json')],
    ['../shared/x, beside the program', () => fromRoot('../shared/x')],
    ['../node_modules/x, beside the program', () => fromRoot('../node_modules/x')],
  ])('cannot read %s', async (_what, path) => {
    await expect(attempt('read', { path: path() })).rejects.toThrow(/restricted/);
  });

  test('can read the files of the program', async () => {
    expect(await attempt('read', { path: fromRoot('package.json') })).toEqual({
      got: expect.stringContaining('"bindery"'),
    });
  });
});

const orSkipped = (kind: keyof Confinement['denied'], what: string): string =>
  kernel.denied[kind] === undefined ? `${what} (skipped: ${kernel.missing[kind]})` : what;

describe('the kernel refuses code that got around Node', () => {
  const pool = childPool({ entry, slots: 1 });
  afterAll(() => pool.close());
  const run = (request: object): Promise<unknown> => pool.run(request, { expects: anything, deadlineMs: 20_000 });

  test.skipIf(kernel.denied.network === undefined)(orSkipped('network', 'a connection on this machine'), async () => {
    const { port } = tcp.address() as AddressInfo;
    await expect(run({ do: 'connection around the closing', port })).rejects.toThrow(/EPERM|ENETUNREACH|ECONNREFUSED/);
    expect(reached).toEqual([]);
  });

  test.skipIf(kernel.denied.signals === undefined)(orSkipped('signals', 'a signal to the service'), async () => {
    await expect(run({ do: 'signal around the closing', pid: process.pid })).rejects.toThrow(/EPERM|ESRCH/);
  });

  test.skipIf(kernel.denied['new privileges'] === undefined)(
    orSkipped('new privileges', 'programs with the rights of their owner'),
    async () => {
      const started = Promise.withResolvers<void>();
      const child = startChild({ entry, memoryLimitMb: 128 }, () => started.resolve());
      await started.promise;
      const status = readFileSync(`/proc/${child.pid()}/status`, 'utf8');
      child.kill();
      await child.ended;
      expect(status).toMatch(/^NoNewPrivs:\s1$/m);
      expect(status).toMatch(/^CapEff:\s0+$/m);
    },
  );

  test.skipIf(kernel.denied.files === undefined)(orSkipped('files', "another organization's file"), () => {
    const path = join(folder, 'secret');
    const code = `fs.readFileSync(${JSON.stringify(entry.pathname)}); fs.readFileSync(${JSON.stringify(path)})`;
    const wrapped = kernel.wrap([process.execPath, '-e', code], [entry.pathname]);
    const shell = ['-c', 'input="$1"; shift; printf "$input" | "$@"', 'sh', kernel.input, ...wrapped];
    const { stderr } = spawnSync('/bin/sh', shell, { encoding: 'utf8' });
    expect(stderr).toMatch(/EACCES.*secret/);
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import { type Bench, type Measurement, ratio, shown, table, temporaryFolder } from './measurement.ts';
import { proportionalBytes, treeOf } from './process-usage.ts';

const MB = 1e6;
const bindery = join(import.meta.dirname, '../../../services/cli/bindery.mjs');
const saysReady = 'Ctrl-C stops it.';
/** Time until an installation is idle: unused children end after 60 to 90 seconds, and V8 then returns free memory. */
const quietMs = 120_000;

type Taken = { name: string; bytes: number | undefined };

/** Memory of an idle `npm start`, by process. */
export const idle: Measurement = {
  name: 'idle',
  about: 'memory of an installation that showed its demo and then had nothing to do for two minutes',
  run: (bench) => bench.using(temporaryFolder(), ({ path }) => measured(bench, path)),
};

async function measured(bench: Bench, folder: string): Promise<void> {
  bench.progress('a first start');
  const first = await bench.using(startedAlone(folder), takenAfterAWhile);
  bench.progress('a second start');
  const second = await bench.using(startedAlone(folder), takenAfterAWhile);
  const bare = await bench.using(bareNode(), async ({ pid }) => proportionalBytes(pid));
  const inMb = (bytes: number | undefined) => shown(bytes === undefined ? undefined : bytes / MB);
  const row = (name: string, before: number | undefined, after: number | undefined) => [
    name,
    ...[inMb(before), inMb(after), ratio(after, bare)],
  ];
  bench.print('Memory in MB (PSS) of an installation that is idle\n');
  bench.print(
    table(
      ['', 'first start', 'second start', 'second start to bare Node'],
      [
        ...second.map(({ name, bytes }) => row(name, first.find((one) => one.name === name)?.bytes, bytes)),
        row('together', sumOf(first), sumOf(second)),
      ],
    ),
  );
  bench.print('  The first start also compiles and builds snapshots, after which more memory stays in use.');
  bench.print(
    '  Memory that processes share is divided among them, so other programs of the same Node lower the figures.',
  );
}

const sumOf = (taken: readonly Taken[]): number | undefined =>
  taken.length > 0 && taken.every(({ bytes }) => bytes !== undefined)
    ? taken.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0)
    : undefined;

/** Starts an installation as `npm start` does, but without npm. */
async function startedAlone(folder: string) {
  const [port = 0] = await freePorts(1);
  const environment = {
    ...process.env,
    BINDERY_DATA: join(folder, 'data'),
    BINDERY_PORT: String(port),
    BINDERY_DOCS_HOST_PORT: '0',
    BINDERY_CONSOLE_PORT: '0',
  };
  const child = spawn(process.execPath, [bindery, 'start'], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const ended = once(child, 'exit');
  const ready = Promise.withResolvers<void>();
  createInterface(child.stdout).on('line', (line) => {
    if (line === saysReady) ready.resolve();
  });
  void ended.then(([code]) => ready.reject(new Error(`The installation ended with exit code ${String(code)}.`)));
  await ready.promise;
  return {
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function bareNode() {
  const child = spawn(process.execPath, ['-e', 'console.log(1); setInterval(() => {}, 1000)'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  return {
    pid: child.pid ?? 0,
    async stop() {
      child.kill();
      await ended;
    },
  };
}

async function takenAfterAWhile({ pid: root }: { pid: number }): Promise<Taken[]> {
  await delay(quietMs);
  return treeOf([root]).map(({ pid }) => ({ name: nameOf(pid), bytes: proportionalBytes(pid) }));
}

/** Name of a process: its last argument if it is ours, otherwise the name of the program. */
function nameOf(pid: number): string {
  const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean);
  const at = words.indexOf(bindery);
  return at >= 0 ? (words.at(-1) ?? '') : (words[0] ?? '').replace(/^.*\//, '');
}

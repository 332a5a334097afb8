import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { existsSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { orderFile, takenFile } from './crash-point.ts';

const program = `
  const { crashPoint } = await import(${JSON.stringify(new URL('./crash-point.ts', import.meta.url).href)});
  crashPoint('mid-upload', 'bundler');
  process.exitCode = 7;
`;

/** The exit code or signal of a process that passes the place `mid-upload@bundler`. */
async function passing(environment: Record<string, string>): Promise<number | NodeJS.Signals> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env: { PATH: process.env.PATH, ...environment },
  });
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  return signal ?? code ?? -1;
}

async function folderFor(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'bindery-orders-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test('a process dies at the place that the environment names, and nowhere else', async () => {
  expect(await passing({})).toBe(7);
  expect(await passing({ CRASH_AT: 'mid-upload' })).toBe('SIGKILL');
  expect(await passing({ CRASH_AT: 'mid-upload@bundler' })).toBe('SIGKILL');
  expect(await passing({ CRASH_AT: 'mid-upload@page-renderer' })).toBe(7);
  expect(await passing({ CRASH_AT: 'after-upload' })).toBe(7);
});

test('with a file for it, only the first dies', async () => {
  const environment = { CRASH_AT: 'mid-upload', CRASH_ONCE_FILE: join(await folderFor(), 'died') };
  expect(await passing(environment)).toBe('SIGKILL');
  expect(await passing(environment)).toBe(7);
});

test('the process that takes an order to die obeys it, once', async () => {
  const folder = await folderFor();
  expect(await passing({ CRASH_ORDERS: folder })).toBe(7);
  await writeFile(orderFile(folder, 'mid-upload@bundler'), 'die');
  expect(await passing({ CRASH_ORDERS: folder })).toBe('SIGKILL');
  expect(await passing({ CRASH_ORDERS: folder })).toBe(7);
});

test('an order to wait holds the process until the order is taken away', async () => {
  const folder = await folderFor();
  const taken = takenFile(folder, 'mid-upload@bundler');
  await writeFile(orderFile(folder, 'mid-upload@bundler'), 'wait');
  const isTaken = new Promise<void>((resolve) => {
    const watcher = watch(folder, () => {
      if (!existsSync(taken)) return;
      watcher.close();
      resolve();
    });
  });
  let ended = false;
  const end = passing({ CRASH_ORDERS: folder }).finally(() => {
    ended = true;
  });
  await isTaken;
  expect(ended).toBe(false);
  await rm(taken);
  expect(await end).toBe(7);
});

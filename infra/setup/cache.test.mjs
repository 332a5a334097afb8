import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { putInCache, withLock } from './cache.mjs';

let cache;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'bindery-cache-'));
  vi.stubEnv('BINDERY_CACHE', cache);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(cache, { recursive: true });
});

test('two set-ups do work of the same name one after the other', async () => {
  const order = [];
  const first = withLock('work', async () => {
    order.push('first begins');
    await new Promise((resolve) => setImmediate(resolve));
    order.push('first ends');
  });
  const second = withLock('work', async () => void order.push('second'));
  await Promise.all([first, second]);
  expect(order).toEqual(['first begins', 'first ends', 'second']);
});

test('the lock of a process that is gone does not count', async () => {
  const { pid } = spawnSync(process.execPath, ['--version']);
  mkdirSync(join(cache, 'locks'));
  writeFileSync(join(cache, 'locks', 'work'), String(pid));
  expect(await withLock('work', async () => 'done')).toBe('done');
});

test('failed work leaves neither a lock nor an incomplete folder', async () => {
  const fill = (folder) => {
    writeFileSync(join(folder, 'part'), '');
    throw new Error('no more bytes');
  };
  await expect(withLock('work', () => putInCache('server', '1.0', fill))).rejects.toThrow('no more bytes');
  expect(readdirSync(cache)).toEqual(['locks']);
  expect(readdirSync(join(cache, 'locks'))).toEqual([]);
});

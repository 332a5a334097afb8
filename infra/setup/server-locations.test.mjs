import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { cachedFolder, findServer, pinnedVersions } from './server-locations.mjs';

let folder;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bindery-locations-'));
  vi.stubEnv('BINDERY_CACHE', join(folder, 'cache'));
  vi.stubEnv('PATH', join(folder, 'bin'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

function natsServer(path, version) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\necho "nats-server: v${version}"\n`);
  chmodSync(path, 0o755);
  return path;
}

test('a nats-server of 2.12 or later on PATH is taken before the one in the cache', () => {
  natsServer(join(cachedFolder('nats-server', pinnedVersions.natsServerWheel), 'nats-server'), '2.15.1');
  const onPath = natsServer(join(folder, 'bin', 'nats-server'), '2.12.0');
  expect(findServer('nats-server')).toBe(onPath);
});

test('an older nats-server on PATH is ignored', () => {
  natsServer(join(folder, 'bin', 'nats-server'), '2.9.10');
  expect(findServer('nats-server')).toBeUndefined();
  const cached = natsServer(
    join(cachedFolder('nats-server', pinnedVersions.natsServerRelease), 'nats-server'),
    '2.15.0',
  );
  expect(findServer('nats-server')).toBe(cached);
});

test('a server that is neither on PATH nor in the cache is undefined', () => {
  for (const name of ['redis-server', 'versitygw', 'elasticsearch', 'helm', 'bsdtar', 'busybox', 'jq', 'python3']) {
    expect(findServer(name)).toBeUndefined();
  }
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, watch } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '#shared/runtime/config.ts';
import { createLogger } from '#shared/runtime/telemetry.ts';
import { docsHosts, hostReadiness, isDegraded, isReady } from '../../test/support/docs-host.ts';
import { exampleBundle } from '../../test/support/example-bundle.ts';
import { describeWithSmallDisk, mountSmallDisk } from '../../test/support/small-disk.ts';
import { docsHostSettings } from './config.ts';
import { hostApp } from './host-app.ts';
import { servedVersions } from './served-versions.ts';
import { openSiteFolder } from './site-folder.ts';
import { unpackBundle } from './unpack-bundle.ts';

const { folder, atEnd, host } = docsHosts();
/** `BINDERY_SWAPS=1000` takes some minutes. */
const swaps = Number(process.env.BINDERY_SWAPS ?? 25);
const maxBytes = 100_000_000;

/** Loads a page and all that it names, as a browser does. Gives what went wrong. */
async function visit(url: string): Promise<string[]> {
  const answer = await fetch(url);
  const page = await answer.text();
  const version = /Version (\S+)<\/p>/.exec(page)?.[1];
  if (answer.status !== 200 || version === undefined) return [`${answer.status} for the page: ${page.slice(0, 100)}`];
  const addresses = [...page.matchAll(/(?:src|href)="(\/_bindery\/@[^"]+)"/g)].map(([, address = '']) => address);
  const problems = await Promise.all(
    addresses.map(async (address) => {
      const asset = await fetch(url + address);
      const text = await asset.text();
      if (asset.status !== 200) return [`${asset.status} for ${address} of ${version}`];
      return text.includes(version) ? [] : [`${address} of ${version} has ${text.slice(0, 60)}`];
    }),
  );
  return addresses.length === 3 ? problems.flat() : [`${addresses.length} addresses`];
}

test(`${swaps} changes of version under load: every answer is whole, and no page has files of two versions`, {
  timeout: 30_000 + swaps * 1_000,
}, async () => {
  const logger = createLogger('docs-host', 'test').child({}, { level: 'silent' });
  const stored = await openSiteFolder(folder(), '', logger);
  const versions = servedVersions(stored);
  const add = async (name: string) => {
    const file = join(folder(), `${name}.tar.gz`);
    await writeFile(file, await exampleBundle(name));
    await versions.swap(await stored.add({ key: name }, (files) => unpackBundle(file, files, maxBytes)));
  };
  const app = hostApp(loadConfig(docsHostSettings, { BINDERY_BUNDLE_PATH: '/none' }), versions, logger);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  atEnd(() => app.close());
  await add('v0-');
  const problems: string[] = [];
  let visits = 0;
  const over = new AbortController();
  const reader = async () => {
    while (!over.signal.aborted) {
      problems.push(...(await visit(url)));
      visits += 1;
    }
  };
  const readers = Array.from({ length: 2 }, reader);
  for (let at = 1; at <= swaps; at += 1) await add(`v${at}-`);
  over.abort();
  await Promise.all(readers);
  expect(problems).toEqual([]);
  expect(visits).toBeGreaterThan(swaps);
  expect(versions.active()?.site.manifest.contentVersion).toBe(`cv_v${swaps}-`);
  expect(readdirSync(join(folder(), 'versions')).length).toBeLessThan(25);
  if (process.env.BINDERY_SWAPS !== undefined) console.log(`${swaps} swaps, ${visits} pages with their files`);
});

test('a host that is killed while it unpacks starts with the version that it had', { timeout: 60_000 }, async () => {
  const file = join(folder(), 'site.tar.gz');
  await writeFile(file, await exampleBundle('one'));
  const first = await host({ BINDERY_BUNDLE_PATH: file });
  await hostReadiness(first, isReady);
  await first.stop();
  const many = Object.fromEntries(
    Array.from({ length: 3_000 }, (_, at) => [`pages/p${at}.html`, `<html><body>${at}</body></html>`]),
  );
  await writeFile(file, await exampleBundle('two', many));
  const versions = join(folder(), 'docs-host/versions');
  mkdirSync(versions, { recursive: true });
  const watcher = watch(versions);
  const isUnpacking = new Promise<void>((resolve) => {
    watcher.on('change', (_event, name) => String(name).startsWith('unfinished-') && resolve());
  });
  const child = spawn(process.execPath, ['services/cli/bindery.mjs', 'run', 'docs-host'], {
    env: { ...process.env, BINDERY_DATA: folder(), BINDERY_DOCS_HOST_PORT: '0', BINDERY_BUNDLE_PATH: file },
    stdio: 'ignore',
  });
  await isUnpacking;
  watcher.close();
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(readdirSync(versions).some((name) => name.startsWith('unfinished-'))).toBe(true);
  const again = await host({ BINDERY_STATIC_EXPORT_ENABLED: '0' });
  await hostReadiness(again, isReady);
  expect(await visit(again.url)).toEqual([]);
  expect(await (await fetch(again.url)).text()).toContain('Version one');
  expect(readdirSync(versions)).toHaveLength(1);
});

test('a stored version that was changed is not served', async () => {
  const file = join(folder(), 'site.tar.gz');
  await writeFile(file, await exampleBundle('one'));
  const first = await host({ BINDERY_BUNDLE_PATH: file });
  await hostReadiness(first, isReady);
  await first.stop();
  const [version = ''] = readdirSync(join(folder(), 'docs-host/versions'));
  await writeFile(join(folder(), 'docs-host/versions', version, 'pages/index.html'), '<script>evil()</script>');
  const again = await host({ BINDERY_STATIC_EXPORT_ENABLED: '0' });
  expect((await fetch(again.url)).status).toBe(503);
  expect(existsSync(join(folder(), 'docs-host/versions', version))).toBe(false);
});

test('clients that send their headers slowly do not keep readers out', { timeout: 60_000 }, async () => {
  const file = join(folder(), 'site.tar.gz');
  await writeFile(file, await exampleBundle('one'));
  const running = await host({ BINDERY_BUNDLE_PATH: file });
  await hostReadiness(running, isReady);
  const { port } = new URL(running.url);
  let open = 0;
  const sockets: Socket[] = [];
  for (let at = 0; at < 3_000; at += 1) {
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => {});
    socket.once('connect', () => {
      open += 1;
      socket.write('GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    });
    socket.once('close', () => (open -= 1));
    sockets.push(socket);
    if (at % 200 === 199) await once(socket, 'connect');
  }
  await expect.poll(() => open, { timeout: 20_000 }).toBeLessThanOrEqual(1_001);
  expect(await visit(running.url)).toEqual([]);
  for (const socket of sockets) socket.destroy();
});

describeWithSmallDisk('a disk that is full', () => {
  test('keeps the version that is served; the next one comes when there is room', { timeout: 60_000 }, async () => {
    const disk = mountSmallDisk(4);
    try {
      const file = join(folder(), 'site.tar.gz');
      await writeFile(file, await exampleBundle('one'));
      const running = await host({ BINDERY_BUNDLE_PATH: file, BINDERY_DATA: disk.folder });
      await hostReadiness(running, isReady);
      disk.fill();
      await writeFile(file, await exampleBundle('two'));
      const { degraded } = await hostReadiness(running, isDegraded);
      expect(degraded.bundle).toContain('there is no room');
      expect(await (await fetch(running.url)).text()).toContain('Version one');
      disk.free();
      await hostReadiness(running, ({ degraded: { bundle } }) => bundle === undefined);
      expect(await (await fetch(running.url)).text()).toContain('Version two');
      await running.stop();
    } finally {
      disk.remove();
    }
  });
});

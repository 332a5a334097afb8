import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, watch } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { docsHosts, expectKept, hostReadiness, isReady, whole, withMetrics } from '../support/docs-host.ts';
import { visit } from '../support/docs-host-load.ts';
import { exampleBundle } from '../support/example-bundle.ts';
import { describeWithSmallDisk, mountSmallDisk, type SmallDisk } from '../support/small-disk.ts';

const { folder, host, server } = docsHosts();
const mounted = () => join(folder(), 'site.tar.gz');
const versions = () => join(folder(), 'docs-host/versions');
const incoming = () => join(folder(), 'docs-host/incoming');
const minuteMs = 60_000;

async function serveOnce(): Promise<void> {
  await writeFile(mounted(), await exampleBundle('one'));
  const first = await host({ BINDERY_BUNDLE_PATH: mounted() });
  await hostReadiness(first, isReady);
  await first.stop();
}

/** A host in a separate process that can be killed. */
const hostProcess = (env: Record<string, string>) =>
  spawn(process.execPath, ['services/cli/bindery.mjs', 'run', 'docs-host'], {
    env: { ...process.env, BINDERY_DATA: folder(), BINDERY_DOCS_HOST_PORT: '0', ...env },
    stdio: 'ignore',
  });

/** Text that compresses badly and is the same in each run. */
function noise(characters: number): string {
  let text = '';
  for (let at = 0; text.length < characters; at += 1) text += sha256Of(String(at));
  return text;
}

test('a host that is killed while it unpacks starts with the version that it had, and says why', {
  timeout: 2 * minuteMs,
}, async () => {
  await serveOnce();
  const many = Object.fromEntries(
    Array.from({ length: 3_000 }, (_, at) => [`pages/p${at}.html`, `<html><body>${at}</body></html>`]),
  );
  await writeFile(mounted(), await exampleBundle('two', many));
  mkdirSync(versions(), { recursive: true });
  const watcher = watch(versions());
  const isUnpacking = new Promise<void>((resolve) => {
    watcher.on('change', (_event, name) => String(name).startsWith('unfinished-') && resolve());
  });
  const child = hostProcess({ BINDERY_BUNDLE_PATH: mounted() });
  await isUnpacking;
  watcher.close();
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(readdirSync(versions()).some((name) => name.startsWith('unfinished-'))).toBe(true);
  const again = await host({ BINDERY_STATIC_EXPORT_ENABLED: '0' });
  await hostReadiness(again, isReady);
  expect(again.log).toContainEqual(
    expect.objectContaining({ level: 40, msg: expect.stringContaining('ended while it unpacked a bundle') as string }),
  );
  expect(await visit(again.url)).toEqual([]);
  expect(await (await fetch(again.url)).text()).toContain('Version one');
  expect(readdirSync(versions())).toHaveLength(1);
});

test('a host that is killed while it downloads serves what it had, and goes on where it was', {
  timeout: 2 * minuteMs,
}, async () => {
  await serveOnce();
  const bundle = await exampleBundle('two', { 'large.bin': noise(2_000_000) });
  const half = Math.floor(bundle.length / 2);
  const link = await server((_request, response) => {
    response.writeHead(200, { 'content-length': bundle.length, etag: '"a"' });
    response.write(bundle.subarray(0, half));
  });
  const env = {
    BINDERY_STATIC_EXPORT_BUNDLE_URL: `${link.url}/site.tar.gz`,
    BINDERY_STATIC_EXPORT_SHA256: sha256Of(bundle),
  };
  const child = hostProcess(env);
  const received = async () => {
    const part = readdirSync(incoming()).find((name) => name.endsWith('.part'));
    return part === undefined ? 0 : (await stat(join(incoming(), part))).size;
  };
  await expect.poll(() => received().catch(() => 0)).toBe(half);
  child.kill('SIGKILL');
  await once(child, 'exit');
  link.answer = (_request, response) => void response.writeHead(503).end();
  const again = await host({ ...env, ...withMetrics });
  await expectKept(again, 'unavailable', /answered 503/);
  link.answer = ({ headers }, response) => {
    const start = Number(/^bytes=([0-9]+)-$/.exec(headers.range ?? '')?.[1] ?? Number.NaN);
    const range = `bytes ${start}-${bundle.length - 1}/${bundle.length}`;
    response.writeHead(206, { 'content-range': range, etag: '"a"' }).end(bundle.subarray(start));
  };
  await expect.poll(async () => (await fetch(again.url)).text()).toContain('Version two');
  expect(link.requests.at(-1)?.headers).toMatchObject({ range: `bytes=${half}-`, 'if-range': '"a"' });
});

describeWithSmallDisk('a disk that is full', () => {
  const withDisk = (what: (disk: SmallDisk) => Promise<void>) => async () => {
    const disk = mountSmallDisk(4);
    try {
      await what(disk);
    } finally {
      disk.remove();
    }
  };
  const isWell = ({ degraded }: { degraded: { bundle?: string } }) => degraded.bundle === undefined;

  test(
    'while a bundle is unpacked keeps the version that is served; the next one comes when there is room',
    { timeout: 2 * minuteMs },
    withDisk(async (disk) => {
      await writeFile(mounted(), await exampleBundle('one'));
      const running = await host({ BINDERY_BUNDLE_PATH: mounted(), BINDERY_DATA: disk.folder, ...withMetrics });
      await hostReadiness({ url: running.insideUrl }, isReady);
      disk.fill();
      await writeFile(mounted(), await exampleBundle('two'));
      await expectKept(running, 'unavailable', /there is no disk space for a new version/);
      disk.free();
      await hostReadiness({ url: running.insideUrl }, isWell);
      expect(await (await fetch(running.url)).text()).toContain('Version two');
      await running.stop();
    }),
  );

  test(
    'when a host starts on what another program prepared serves it all the same',
    { timeout: 2 * minuteMs },
    withDisk(async (disk) => {
      await writeFile(mounted(), await exampleBundle('one', { 'large.js': `// ${noise(600_000)}` }));
      const before = await host({ BINDERY_BUNDLE_PATH: mounted(), BINDERY_DATA: disk.folder });
      await hostReadiness(before, isReady);
      await before.stop();
      const kept = join(disk.folder, 'docs-host/versions');
      const [id = ''] = readdirSync(kept);
      const listed = join(kept, id, 'site.json');
      await writeFile(listed, (await readFile(listed, 'utf8')).replace(/"formatVersion":\d+/, '"formatVersion":0'));
      disk.fill();
      const after = await host({ BINDERY_STATIC_EXPORT_ENABLED: '0', BINDERY_DATA: disk.folder });
      expect(await (await fetch(after.url)).text()).toContain('Version one');
      expect(readdirSync(kept)).toEqual([id]);
      await after.stop();
    }),
  );

  test(
    'while a bundle is downloaded keeps it, too',
    { timeout: 2 * minuteMs },
    withDisk(async (disk) => {
      await writeFile(mounted(), await exampleBundle('one'));
      const first = await host({ BINDERY_BUNDLE_PATH: mounted(), BINDERY_DATA: disk.folder });
      await hostReadiness(first, isReady);
      await first.stop();
      const link = await server(whole(await exampleBundle('two')));
      disk.fill();
      const running = await host({
        BINDERY_STATIC_EXPORT_BUNDLE_URL: `${link.url}/site.tar.gz`,
        BINDERY_DATA: disk.folder,
        ...withMetrics,
      });
      await expectKept(running, 'unavailable', /there is no disk space for a new version/);
      disk.free();
      await hostReadiness({ url: running.insideUrl }, isWell);
      expect(await (await fetch(running.url)).text()).toContain('Version two');
      await running.stop();
    }),
  );
});

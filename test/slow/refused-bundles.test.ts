import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { packTar } from '../support/archives.ts';
import {
  type Answer,
  docsHosts,
  expectKept,
  hostReadiness,
  isReady,
  whole,
  withMetrics,
} from '../support/docs-host.ts';
import { exampleBundle } from '../support/example-bundle.ts';

const { folder, host, server } = docsHosts();
const versions = () => join(folder(), 'docs-host/versions');
const mounted = () => join(folder(), 'site.tar.gz');

const run = promisify(execFile);

/** Text that compresses little, so that its archive is not refused for its ratio. */
const noise = (characters: number): string =>
  Array.from({ length: Math.ceil(characters / 64) }, (_, at) => sha256Of(String(at)))
    .join('')
    .slice(0, characters);

const redirects = (count: number): string =>
  JSON.stringify({
    formatVersion: 1,
    redirects: Array.from({ length: count }, (_, at) => ({
      source: `/old-${at}/*`,
      destination: `/${sha256Of(String(at))}`,
      permanent: false,
    })),
  });

/** Serves the version "one" for a moment, which leaves it in the data folder. */
async function serveOnce(env: Record<string, string> = {}): Promise<void> {
  await writeFile(mounted(), await exampleBundle('one', {}, { label: 'v1' }));
  const first = await host({ BINDERY_BUNDLE_PATH: mounted(), ...env });
  await hostReadiness(first, isReady);
  await first.stop();
}

describe('a bundle', () => {
  const special = (type: 'symlink' | 'link' | 'fifo' | 'character-device') =>
    packTar({ 'acme/a.txt': 'x' }, [{ name: 'acme/_bindery/x', type, linkname: '/etc/passwd' }]);
  const renamed = (path: string) => packTar({}, [{ name: 'acme/a.txt', type: 'file', size: 0, pax: { path } }]);

  test.each<[string, () => Promise<Buffer>, RegExp]>([
    ['climbing names', () => packTar({ '../escape.txt': 'x' }), /"\.\.\/escape\.txt" points outside its folder/],
    ['names that climb out again', () => packTar({ 'acme/a/../../../escape.txt': 'x' }), /points outside its folder/],
    ['names that climb on other systems', () => packTar({ '..\\escape.txt': 'x' }), /has a backslash/],
    [
      'an innocent name that a PAX header changes',
      () => renamed('../../escape.txt'),
      /"\.\.\/\.\.\/escape\.txt" points outside/,
    ],
    ['absolute names', () => packTar({ '/etc/escape.txt': 'x' }), /"\/etc\/escape\.txt" is absolute/],
    ['a symbolic link', () => special('symlink'), /"acme\/_bindery\/x" is a symbolic link/],
    [
      'a file below a symbolic link',
      () =>
        packTar({}, [
          { name: 'acme/a', type: 'symlink', linkname: '/tmp' },
          { name: 'acme/a/b.txt', size: 0 },
        ]),
      /"acme\/a" is a symbolic link/,
    ],
    ['a hard link', () => special('link'), /"acme\/_bindery\/x" is a hard link/],
    ['a device', () => special('character-device'), /"acme\/_bindery\/x" is a device/],
    ['a pipe', () => special('fifo'), /"acme\/_bindery\/x" is a pipe/],
    ['zeros', () => packTar({ 'acme/zeros.bin': Buffer.alloc(40_000_000) }), /unpacks to more than 200 times its size/],
    [
      'names that are one on some systems',
      () => packTar({ 'acme/A.txt': 'x', 'acme/a.txt': 'y' }),
      /are the same name/,
    ],
    [
      'one name twice',
      () => packTar({ 'acme/a.txt': 'x' }, [{ name: 'acme/a.txt', size: 0 }]),
      /"acme\/a\.txt" is in the archive more than once/,
    ],
    [
      'a file that is a folder, too',
      () => packTar({ 'acme/a.txt': 'x', 'acme/a.txt/b.txt': 'y' }),
      /"acme\/a\.txt" is a file, and a folder for/,
    ],
    [
      'an end that is missing',
      async () => (await exampleBundle('two')).subarray(0, -40),
      /it was cut during the transfer/,
    ],
    ['nothing', async () => Buffer.alloc(0), /the archive is empty/],
    ['text', async () => Buffer.from('This is no archive.'), /is not packed with gzip/],
    ['two top folders', () => packTar({ 'acme/a.txt': 'x', 'other/b.txt': 'y' }), /outside of its one top folder/],
    ['no manifest', () => packTar({ 'acme/index.html': 'x' }), /has no _bindery\/manifest\.json/],
    [
      'a page that was changed',
      () => exampleBundle('two', {}, { tampered: { 'index.html': '<script>evil()</script>' } }),
      /does not match its manifest: index\.html has 23 bytes/,
    ],
    [
      'a file too many',
      () => exampleBundle('two', {}, { tampered: { 'evil.js': 'evil()' } }),
      /does not match its manifest: evil\.js is not in the manifest/,
    ],
    [
      'a manifest of another program',
      () => exampleBundle('two', {}, { tampered: { '_bindery/manifest.json': '{"domain":"acme","files":[]}' } }),
      /does not match its manifest/,
    ],
    [
      'a manifest without what a host needs',
      async () => packTar({ 'acme/_bindery/manifest.json': '{"files":[]}' }),
      /not what a documentation host serves: "domain" is missing in _bindery\/manifest\.json\. Copy or export/,
    ],
    [
      'a manifest whose fields are wrong',
      async () => packTar({ 'acme/_bindery/manifest.json': '{"files":[{"path":"a","size":"1","sha256":""}]}' }),
      /manifest\.json is not a manifest: "files\.0\.size" must be a number, not text\. Copy or export it again/,
    ],
    [
      'settings of two megabytes',
      () => exampleBundle('two', {}, { tampered: { '_bindery/config.js': noise(2_000_000) } }),
      /_bindery\/config\.js has more than 1048576 bytes/,
    ],
    [
      'more redirects than a request can be compared with',
      () => exampleBundle('two', { '_bindery/redirects.json': redirects(10_001) }),
      /has 10001 redirects with wildcards, and may have at most 10000/,
    ],
    ['another version', () => exampleBundle('two', {}, { label: 'v2' }), /VERSION is "v1", but .* of the version "v2"/],
  ])('with %s is refused and leaves nothing, and the reason is said', async (_name, hostile, reason) => {
    const settings = { BINDERY_BUNDLE_PATH: mounted(), BINDERY_STATIC_EXPORT_VERSION: 'v1' };
    await serveOnce(settings);
    await writeFile(mounted(), await hostile());
    const running = await host({ ...settings, ...withMetrics });
    await expectKept(running, 'refused', reason);
    expect(await readdir(versions())).toHaveLength(1);
  });

  test('with another SHA-256 than the settings say is refused before it is unpacked', async () => {
    await serveOnce();
    await writeFile(mounted(), await exampleBundle('two'));
    const wanted = sha256Of('another');
    const env = { BINDERY_BUNDLE_PATH: mounted(), BINDERY_STATIC_EXPORT_SHA256: wanted };
    await expectKept(await host({ ...env, ...withMetrics }), 'refused', new RegExp(`must have the SHA-256 ${wanted}`));
    expect(await readdir(versions())).toHaveLength(1);
  });

  test('that is a pipe is refused without waiting for it, and its successor is served', async () => {
    await serveOnce();
    await rm(mounted());
    await run('mkfifo', [mounted()]);
    const running = await host({ BINDERY_BUNDLE_PATH: mounted(), ...withMetrics });
    await expectKept(running, 'refused', /site\.tar\.gz is not a file/);
    await rm(mounted());
    await writeFile(mounted(), await exampleBundle('three'));
    await expect.poll(async () => (await fetch(running.url)).text(), { timeout: 20_000 }).toContain('Version three');
  });

  test('that is a folder whose manifest came before its files is served once it is whole', async () => {
    await serveOnce();
    const [whole, arriving] = [join(folder(), 'whole'), join(folder(), 'arriving')];
    await writeFile(mounted(), await exampleBundle('two'));
    await mkdir(whole);
    await run('tar', ['-xzf', mounted(), '-C', whole, '--strip-components=1']);
    await cp(join(whole, '_bindery/manifest.json'), join(arriving, '_bindery/manifest.json'), {
      preserveTimestamps: true,
    });
    const running = await host({ BINDERY_BUNDLE_PATH: arriving, ...withMetrics });
    await expectKept(
      running,
      'refused',
      /manifest: 404\.html is missing, and \d+ more differences\. Copy or export it again/,
    );
    await cp(whole, arriving, { recursive: true, preserveTimestamps: true });
    await expect.poll(async () => (await fetch(running.url)).text(), { timeout: 20_000 }).toContain('Version two');
    await hostReadiness({ url: running.insideUrl }, ({ ready, degraded: { bundle } }) => ready && bundle === undefined);
  });

  test('that is gone is waited for', async () => {
    await serveOnce();
    const running = await host({ BINDERY_BUNDLE_PATH: join(folder(), 'none.tar.gz'), ...withMetrics });
    await expectKept(running, 'unavailable', /there is no bundle at .*none\.tar\.gz/);
  });

  test('that is valid is served after a refused one, and the problem is cleared', async () => {
    await serveOnce();
    const running = await host({ BINDERY_BUNDLE_PATH: mounted(), ...withMetrics });
    await writeFile(mounted(), await packTar({ '../escape.txt': 'x' }));
    await expectKept(running, 'refused', /points outside its folder/);
    await writeFile(mounted(), await exampleBundle('three'));
    await hostReadiness({ url: running.insideUrl }, ({ ready, degraded: { bundle } }) => ready && bundle === undefined);
    expect(await (await fetch(running.url)).text()).toContain('Version three');
    const metrics = await (await fetch(`${running.insideUrl}/metrics`)).text();
    expect(metrics).toContain('bindery_docs_host_degraded{service="docs-host"} 0');
  });
});

/** The response of an S3 store for an expired link. */
const expired =
  '<?xml version="1.0" encoding="UTF-8"?><Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>';

const status =
  (code: number, headers: Record<string, string> = {}, text = ''): Answer =>
  (_request, response) =>
    void response.writeHead(code, headers).end(text);

describe('a link', () => {
  test.each<[string, 'refused' | 'unavailable', (bundle: Buffer) => Answer, RegExp]>([
    ['that has expired', 'refused', () => status(403, {}, expired), /the link has expired/],
    ['to nothing', 'refused', () => status(404), /answered 404 to the link/],
    [
      'with other bytes',
      'refused',
      (bundle) => whole(Buffer.concat([bundle.subarray(0, -1), Buffer.of(1)])),
      /has the SHA-256 [0-9a-f]{64} instead of [0-9a-f]{64}/,
    ],
    ['to a file that was cut', 'refused', (bundle) => whole(bundle.subarray(0, -20)), /has the SHA-256 .* instead of/],
    [
      'that sends less than it announced',
      'unavailable',
      (bundle) => (_request, response) => {
        response.writeHead(200, { 'content-length': bundle.length });
        response.write(bundle.subarray(0, 100), () => response.socket?.destroy());
      },
      /the download broke off after \d+ bytes/,
    ],
    [
      'to more than is allowed',
      'refused',
      () => status(200, { 'content-length': '1000001' }),
      /has 1000001 bytes, more than BINDERY_MAX_BUNDLE_MB allows/,
    ],
    [
      'to more than is allowed, which does not say so before',
      'refused',
      () => (_request, response) => void response.writeHead(200).end(Buffer.alloc(1_000_001)),
      /larger than BINDERY_MAX_BUNDLE_MB allows/,
    ],
    [
      'that redirects to another host',
      'refused',
      () => status(302, { location: 'http://other.example/site.tar.gz' }),
      /redirects to http:\/\/other\.example: a redirect may lead to the same host only/,
    ],
    ['that redirects for ever', 'refused', () => status(302, { location: '/again' }), /redirects more than \d+ times/],
    ['to a server that cannot now', 'unavailable', () => status(503), /answered 503/],
  ])('%s is not served, and the reason is said', async (_name, outcome, answer, reason) => {
    await serveOnce();
    const bundle = await exampleBundle('two');
    const { url } = await server(answer(bundle));
    const running = await host({
      BINDERY_STATIC_EXPORT_BUNDLE_URL: `${url}/site.tar.gz`,
      BINDERY_STATIC_EXPORT_SHA256: sha256Of(bundle),
      BINDERY_MAX_BUNDLE_MB: '1',
      ...withMetrics,
    });
    await expectKept(running, outcome, reason);
    expect(await readdir(versions())).toHaveLength(1);
  });

  test('to a server that is down is asked again, and the reason is said', async () => {
    await serveOnce();
    const link = await server(status(500));
    await link.goAway();
    const running = await host({ BINDERY_STATIC_EXPORT_BUNDLE_URL: `${link.url}/site.tar.gz`, ...withMetrics });
    await expectKept(running, 'unavailable', /does not answer \(.*ECONNREFUSED/);
  });
});

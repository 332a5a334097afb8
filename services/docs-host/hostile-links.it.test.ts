import { existsSync, readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { docsHosts, hostReadiness } from '../../test/support/docs-host.ts';
import { exampleBundle } from '../../test/support/example-bundle.ts';
import { onLoopback } from '../../test/support/on-loopback.ts';
import { newContent } from './content-folder.ts';
import { downloadBundle } from './download-bundle.ts';
import { unpackBundle } from './unpack-bundle.ts';

const { folder, atEnd, host } = docsHosts();

const at = '2026-01-01T00:00:00.000Z';
const job = {
  jobId: `se_${'a'.repeat(22)}`,
  domain: 'acme',
  contentVersion: `cv_${'0'.repeat(32)}`,
  status: 'completed',
  progress: 100,
  pageCount: 1,
  revision: 1,
  createdAt: at,
  updatedAt: at,
};

/** A platform that has one export of "acme", and its store. `bundle`: the response at its link. */
async function platform(
  bundle: (request: IncomingMessage, response: ServerResponse) => void,
  said: { sha256: string; sizeBytes: number },
) {
  const asked = { lists: 0, bundles: 0 };
  const server = createServer((request, response) => {
    const json = (value: unknown) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (request.url === '/site.tar.gz') {
      asked.bundles += 1;
      bundle(request, response);
    } else if (request.method === 'POST') {
      json({ jobId: job.jobId, bundleUrl: `${url}/site.tar.gz`, expiresAt: at, ...said });
    } else {
      asked.lists += 1;
      json({ jobs: [job] });
    }
  });
  const { url, close } = await onLoopback(server);
  atEnd(() => close());
  const env = { BINDERY_PLATFORM_URL: url, BINDERY_DOCS_DOMAIN: 'acme', BINDERY_EXPORT_KEY: 'svc_read' };
  return { url, env, asked };
}

const sends = (bundle: Buffer) => (_request: IncomingMessage, response: ServerResponse) =>
  void response.writeHead(200, { 'content-length': bundle.length }).end(bundle);

const refusedWith = (reason: RegExp) => (found: { missing: { site?: string } }) =>
  reason.test(found.missing.site ?? '');

test('a bundle of the platform with another SHA-256 than the settings say is refused', async () => {
  const bundle = await exampleBundle('one');
  const { env } = await platform(sends(bundle), { sha256: sha256Of(bundle), sizeBytes: bundle.length });
  const wanted = sha256Of('another');
  const running = await host({ ...env, BINDERY_STATIC_EXPORT_SHA256: wanted });
  await hostReadiness(running, ({ ready, missing }) => ready || /SHA-256/.test(missing.site ?? ''));
  expect((await fetch(running.url)).status).toBe(503);
});

test('a bundle that was refused is not downloaded again at each look', async () => {
  const bundle = await exampleBundle('one', {}, { tampered: { 'evil.js': 'evil()' } });
  const { env, asked } = await platform(sends(bundle), { sha256: sha256Of(bundle), sizeBytes: bundle.length });
  const running = await host(env);
  await hostReadiness(running, refusedWith(/not in the manifest/));
  await expect.poll(() => asked.lists).toBeGreaterThan(3);
  expect(asked.bundles).toBe(1);
});

test('only the beginning of an endless answer without a bundle is read', async () => {
  let sent = 0;
  const endless = (_request: IncomingMessage, response: ServerResponse) => {
    response.writeHead(404);
    const more = (): void => {
      while (!response.destroyed && sent < 500_000_000) {
        sent += 1_000_000;
        if (!response.write('x'.repeat(1_000_000))) return void response.once('drain', more);
      }
    };
    more();
  };
  const { url } = await platform(endless, { sha256: sha256Of(''), sizeBytes: 0 });
  const running = await host({ BINDERY_STATIC_EXPORT_BUNDLE_URL: `${url}/site.tar.gz` });
  await hostReadiness(running, refusedWith(/answered 404/));
  expect(sent).toBeLessThan(100_000_000);
});

test('the rest of another bundle does not take up the space of the next one', async () => {
  const incoming = join(folder(), 'docs-host/incoming');
  await mkdir(incoming, { recursive: true });
  await writeFile(join(incoming, 'another.part'), 'x');
  const { url } = await platform((_request, response) => void response.writeHead(404).end(), {
    sha256: sha256Of(''),
    sizeBytes: 0,
  });
  const running = await host({ BINDERY_STATIC_EXPORT_BUNDLE_URL: `${url}/site.tar.gz` });
  await hostReadiness(running, refusedWith(/answered 404/));
  expect(existsSync(join(incoming, 'another.part'))).toBe(false);
});

test('a mounted bundle that is replaced between the check of its digest and its unpacking is refused', async () => {
  const file = join(folder(), 'site.tar.gz');
  const [one, two] = [await exampleBundle('one'), await exampleBundle('two')];
  await writeFile(file, two);
  await expect(
    unpackBundle(file, newContent(join(folder(), 'content'), join(folder(), 'a')), 1e6, { sha256: sha256Of(one) }),
  ).rejects.toThrow(/changed while/);
  await expect(
    unpackBundle(file, newContent(join(folder(), 'content'), join(folder(), 'b')), 1e6, { sha256: sha256Of(two) }),
  ).resolves.toBeDefined();
});

test('a link that sends a byte now and then is given up, and its bytes are kept for the next look', async () => {
  const { url } = await platform(
    (_request, response) => {
      response.writeHead(200, { 'content-length': 1_000_000, etag: '"a"' });
      const dripping = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(dripping));
    },
    { sha256: sha256Of(''), sizeBytes: 0 },
  );
  const download = downloadBundle(
    `${url}/site.tar.gz`,
    folder(),
    {},
    {
      maxBytes: 2_000_000,
      signal: AbortSignal.timeout(20_000),
      pace: { bytes: 1_000, ms: 500 },
    },
  );
  await expect(download).rejects.toThrow(/broke off after [1-9]\d* bytes \(fewer than 1000 bytes in 0.5 s\)/);
  expect(readdirSync(folder()).filter((name) => name.endsWith('.part'))).toHaveLength(1);
});

import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { packTar } from '../../test/support/archives.ts';
import { exampleBundle } from '../../test/support/example-bundle.ts';
import { BundleRefused } from './bundle-refused.ts';
import { newContent } from './content-folder.ts';
import { prepareInChild } from './prepare-in-child.ts';
import { prepareSite } from './prepared-site.ts';
import { readVersionList } from './version-list.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bindery-prepare-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function requestFor(bundle: Buffer) {
  const file = join(folder, 'site.tar.gz');
  await writeFile(file, bundle);
  return {
    place: { kind: 'archive', file },
    folder: join(folder, 'version'),
    content: join(folder, 'content'),
    making: { base: '' },
    maxBytes: 1e8,
  } as const;
}

test('a version is prepared in a child', async () => {
  const request = await requestFor(await exampleBundle('one'));
  await prepareInChild(request);
  expect((await readVersionList(request.folder, request.content))?.has('guides/x.html')).toBe(true);
});

/** Children of this process that prepare versions; undefined where the system does not list them. */
function childrenHere(): number[] | undefined {
  try {
    const pids = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')
      .trim()
      .split(' ')
      .map(Number);
    return pids.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('prepare-child'));
  } catch {
    return undefined;
  }
}

test('versions that follow each other are prepared by one child, and another replaces it when it has ended', async () => {
  const request = await requestFor(await exampleBundle('one'));
  await prepareInChild(request);
  const first = childrenHere();
  await prepareInChild({ ...request, folder: join(folder, 'next') });
  expect(childrenHere()).toEqual(first);
  for (const pid of first ?? []) process.kill(pid, 'SIGKILL');
  // The first child may have ended in the middle of this version.
  await mkdir(join(folder, 'last', 'new'), { recursive: true });
  await writeFile(join(folder, 'last', 'new', 'half'), 'half');
  await prepareInChild({ ...request, folder: join(folder, 'last') });
  expect((await readVersionList(join(folder, 'last'), request.content))?.has('guides/x.html')).toBe(true);
  expect(existsSync(join(folder, 'last', 'new'))).toBe(false);
});

test('a bundle that takes more memory than the child has is refused, and this process goes on', async () => {
  const files = Array.from({ length: 300_000 }, (_, at) => ({ path: `page-${at}`, size: at, sha256: 'x' }));
  const manifest = JSON.stringify({ domain: 'acme', deployment: 'cloud', files });
  const request = await requestFor(await packTar({ 'acme/_bindery/manifest.json': manifest }));
  await expect(prepareInChild(request, undefined, 24)).rejects.toThrow(
    expect.objectContaining({
      name: 'BundleRefused',
      message: expect.stringMatching(/more than 24 MB of memory/) as string,
    }),
  );
});

test('a host that stops does not wait for its child', async () => {
  const stop = new AbortController();
  const prepared = prepareInChild(await requestFor(await exampleBundle('one')), stop.signal);
  stop.abort(new Error('the host stops'));
  await expect(prepared).rejects.toThrow('the host stops');
});

test('a page that is too large to be rewritten is refused', async () => {
  const manifest = { sha256: '0'.repeat(64), domain: 'acme', deployment: 'client-hosted' } as const;
  const found = new Map([['large.html', { size: 64 * 1024 * 1024 + 1, sha256: '0'.repeat(64) }]]);
  const content = newContent(join(folder, 'content'), folder);
  const preparation = { folder, content, making: { base: '', isAirGapped: false }, manifest };
  await expect(prepareSite(preparation, found)).rejects.toThrow(BundleRefused);
});

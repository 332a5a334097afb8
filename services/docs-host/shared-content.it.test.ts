import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { askHost, visitHost } from '../../test/support/ask-host.ts';
import { exampleBundle } from '../../test/support/example-bundle.ts';
import { hostedSites, waiting } from '../../test/support/hosted-sites.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { contentFile, type StoredBytes } from './content-folder.ts';
import { readListParts, readVersionList, storedIn } from './version-list.ts';

const { platform, started, siteFolder } = hostedSites();

async function expectShown(at: { url: string }, version: string): Promise<void> {
  const page = async () => (await askHost(at.url, 'docs.localhost')).text;
  await expect.poll(page, waiting).toContain(`Version ${version}</p>`);
}

/** The stored files, and those that the lists of versions name. */
async function files(): Promise<{ stored: Set<string>; named: Set<string>; versions: string[] }> {
  const site = await siteFolder();
  const entries = await readdir(join(site, 'content'), { recursive: true, withFileTypes: true });
  const versions = await readdir(join(site, 'versions'));
  const content = join(site, 'content');
  const lists = await Promise.all(
    versions.map(async (id) => {
      const { shards } = await readListParts(join(site, 'versions', id)).catch(() => ({ shards: [] }));
      const lines = await Promise.all(
        shards.map(({ sha256 }) => readFile(contentFile(content, sha256)).catch(() => '')),
      );
      return [...shards, ...lines.flatMap((line) => storedIn(Buffer.from(line)))];
    }),
  );
  return {
    stored: new Set(entries.filter((entry) => entry.isFile()).map(({ name }) => name)),
    named: new Set(lists.flatMap((list) => list.map(({ sha256 }) => sha256))),
    versions,
  };
}

const strays = async () => {
  const { stored, named } = await files();
  return { tooMany: stored.difference(named).size, missing: named.difference(stored).size };
};

test('versions share the files that are the same, and the files of those that are not kept are removed', async () => {
  const running = await started();
  for (let at = 0; at < 9; at += 1) {
    const bundle = await exampleBundle('same', {
      'changes.html': `<html><body>${at} ${'text '.repeat(200)}</body></html>`,
    });
    const served = platform().deploy({ bundle });
    const isHere = async () => running.log.filter(({ msg }) => msg === 'a deployment is served').length;
    await expect.poll(isHere, waiting).toBe(at + 1);
    expect(served.sizeBytes).toBe(bundle.length);
  }
  const { stored, versions } = await files();
  expect(versions.length).toBeGreaterThan(5);
  // Each version adds a page and its source, a manifest, and compressed copies of both.
  expect(stored.size).toBeLessThan(40 + versions.length * 7);
  expect((await strays()).missing).toBe(0);
  await running.stop();
  // Versions that were served a moment ago are kept for pages that readers have open, until a host starts.
  const again = await started();
  // Compressed copies that the newest one lacks are made at the start, in a version of their own.
  await expect.poll(async () => (await files()).versions.length, waiting).toBe(6);
  await expect.poll(strays, waiting).toEqual({ tooMany: 0, missing: 0 });
  expect(await visitHost(again.url, 'docs.localhost')).toEqual([]);
});

test('files that an unfinished or half removed version left are removed at the next start', async () => {
  platform().deploy({ bundle: await exampleBundle('one') });
  const first = await started();
  await expectShown(first, 'one');
  await first.stop();
  const site = await siteFolder();
  for (const left of ['versions/unfinished-a', 'removed/b']) {
    const stray = contentFile(join(site, 'content'), 'ab'.repeat(32));
    await mkdir(dirname(stray), { recursive: true });
    await writeFile(stray, 'stray');
    await mkdir(join(site, left, 'new'), { recursive: true });
    await writeFile(join(site, left, 'new', 'half'), 'half');
    const again = await started();
    expect([left, await strays()]).toEqual([left, { tooMany: 0, missing: 0 }]);
    expect((await files()).versions).toHaveLength(1);
    expect(await readdir(join(site, 'removed')).catch(() => [])).toEqual([]);
    await again.stop();
  }
});

/** Turns a stored version into one of the program before, which unpacked the bundle of each version into a folder of its own. */
async function asUnpackedBefore(site: string): Promise<void> {
  const content = join(site, 'content');
  for (const id of await readdir(join(site, 'versions'))) {
    const version = join(site, 'versions', id);
    for (const { bundled } of (await readVersionList(version, content))?.lines() ?? []) {
      const [path = '', { sha256 } = { sha256: '' }] = bundled ?? [];
      const to = join(version, 'files', path);
      await mkdir(dirname(to), { recursive: true });
      await writeFile(to, await readFile(contentFile(content, sha256)));
    }
    const source = JSON.parse(await readFile(join(version, 'source.json'), 'utf8')) as object;
    await writeFile(join(version, 'source.json'), JSON.stringify({ ...source, bundle: undefined }));
    const head = JSON.parse(await readFile(join(version, 'site.json'), 'utf8')) as object;
    await writeFile(join(version, 'site.json'), JSON.stringify({ ...head, formatVersion: 3 }));
    await mkdir(join(version, 'pages'), { recursive: true });
  }
  await rm(content, { recursive: true });
}

test('what an earlier program unpacked is served without the platform, and its folders are removed', async () => {
  platform().deploy({ bundle: await exampleBundle('one') });
  const first = await started();
  await expectShown(first, 'one');
  await first.stop();
  const site = await siteFolder();
  await asUnpackedBefore(site);
  await platform().close();
  const again = await started();
  await expectShown(again, 'one');
  expect(await visitHost(again.url, 'docs.localhost')).toEqual([]);
  const inVersions = async () => {
    const { versions } = await files();
    return (await Promise.all(versions.map((id) => readdir(join(site, 'versions', id))))).flat().sort();
  };
  await expect.poll(inVersions, waiting).toEqual(['site.json', 'source.json']);
  expect(await strays()).toEqual({ tooMany: 0, missing: 0 });
});

/** Turns a stored version into one of the program before, which wrote all lines of its list into one file of the version. */
async function asListedBefore(site: string): Promise<void> {
  const content = join(site, 'content');
  for (const id of await readdir(join(site, 'versions'))) {
    const version = join(site, 'versions', id);
    const list = await readVersionList(version, content);
    const lines = Buffer.concat([...(list?.lines() ?? [])].map(({ bytes }) => bytes));
    const { head } = JSON.parse(await readFile(join(version, 'site.json'), 'utf8')) as { head: object };
    const { shards, pieces, ...about } = head as { shards: StoredBytes[]; pieces: StoredBytes[] };
    const stored = { size: lines.length, sha256: sha256Of(lines) };
    await writeFile(join(version, 'site.json'), JSON.stringify({ formatVersion: 4, ...about, lines: stored }));
    await writeFile(join(version, 'site.list'), lines);
    await writeFile(join(version, 'site.pieces'), '');
    for (const { sha256 } of [...shards, ...pieces]) await rm(contentFile(content, sha256));
  }
}

test('versions of the program before are served as they are, also after a rollback, and their files are shared and removed', async () => {
  const deployed = await Promise.all(['one', 'two'].map((version) => exampleBundle(version)));
  const first = await started();
  for (const [at, bundle] of deployed.entries()) {
    platform().deploy({ bundle });
    await expectShown(first, ['one', 'two'][at] ?? '');
  }
  await first.stop();
  const site = await siteFolder();
  const before = new Set((await files()).versions);
  await asListedBefore(site);
  const downloads = platform().downloads();
  const again = await started();
  await expectShown(again, 'two');
  expect(await visitHost(again.url, 'docs.localhost')).toEqual([]);
  platform().deploy({ bundle: deployed[0] ?? Buffer.alloc(0) });
  await expectShown(again, 'one');
  expect(platform().downloads()).toBe(downloads);
  expect((await files()).versions.filter((id) => before.has(id))).not.toEqual([]);
  for (let at = 0; at < 7; at += 1) {
    platform().deploy({ bundle: await exampleBundle('one', { 'new.txt': `${at}` }) });
    await expect.poll(async () => (await askHost(again.url, 'docs.localhost', '/new.txt')).text, waiting).toBe(`${at}`);
  }
  await again.stop();
  // Versions that were served a moment ago are removed when a host starts.
  const last = await started();
  await expectShown(last, 'one');
  await expect.poll(async () => (await files()).versions.filter((id) => before.has(id)), waiting).toEqual([]);
  await expect.poll(strays, waiting).toEqual({ tooMany: 0, missing: 0 });
});

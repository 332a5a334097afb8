import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { beforeEach, expect, test } from 'vitest';
import { askHost, visitHost } from '../../test/support/ask-host.ts';
import { docsHosts } from '../../test/support/docs-host.ts';
import { exampleBundle } from '../../test/support/example-bundle.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { type SitesPlatform, sitesPlatform } from '../../test/support/sites-platform.ts';
import { contentFile } from './content-folder.ts';
import { prepareVersion, type VersionRequest } from './prepare-version.ts';
import { readPreparedSite } from './prepared-site.ts';
import { readVersionList, type VersionList } from './version-list.ts';

const { folder, host, atEnd } = docsHosts();
/** The process that makes copies has a low priority, so on a busy machine they take long. */
const waiting = { timeout: 110_000, interval: 50 };
/** Limit of a test in which children start three times. */
const longest = { timeout: 240_000 };

let platform: SitesPlatform;
beforeEach(async () => {
  platform = await sitesPlatform();
  atEnd(() => platform.close());
});

/** Pages of more bytes than are compressed before a version is served, and text that does not become smaller. */
const pages = Object.fromEntries(
  Array.from({ length: 60 }, (_, at) => [
    `pages/p${at}.html`,
    `<html><body>${`${at} of many words `.repeat(1_000)}</body></html>`,
  ]),
);
const noise = Array.from({ length: 700 }, () => String.fromCharCode(33 + Math.floor(Math.random() * 90))).join('');

/** The list of the active version. */
async function served(): Promise<VersionList | undefined> {
  const root = join(folder(), 'docs-host/sites');
  const [site = ''] = await readdir(root);
  const { active } = JSON.parse(await readFile(join(root, site, 'state.json'), 'utf8')) as { active: string };
  return await readVersionList(join(root, site, 'versions', active), join(root, site, 'content'));
}

async function hasAllCopies(): Promise<boolean> {
  const list = await served();
  const isCopied = (at: number) => list?.file(`pages/p${at}.html`)?.gzip !== undefined;
  return list?.lacksCopies === undefined && Array.from({ length: 60 }, (_, at) => at).every(isCopied);
}

/** The bytes that a reader gets who accepts one encoding. */
async function decoded(url: string, path: string, encoding: 'br' | 'gzip'): Promise<string> {
  const answer = await askHost(url, 'docs.localhost', path, { headers: { 'accept-encoding': encoding } });
  expect([path, answer.status, answer.headers['content-encoding']]).toEqual([path, 200, encoding]);
  return (encoding === 'br' ? brotliDecompressSync : gunzipSync)(answer.body).toString();
}

test(
  'a new site is served before its copies are made, in every encoding, and has all of them afterwards',
  longest,
  async () => {
    const running = await host(platform.env, { sweepMs: 100, copiesPauseMs: 50 });
    platform.deploy({ bundle: await exampleBundle('one', { ...pages, 'noise.txt': noise }) });
    const isShown = async () => (await askHost(running.url, 'docs.localhost', '/pages/p59')).status;
    await expect.poll(isShown, waiting).toBe(200);
    const page = (await askHost(running.url, 'docs.localhost', '/pages/p59')).text;
    for (const encoding of ['br', 'gzip'] as const)
      expect(await decoded(running.url, '/pages/p59', encoding)).toBe(page);
    await expect.poll(hasAllCopies, waiting).toBe(true);
    expect(await visitHost(running.url, 'docs.localhost')).toEqual([]);
    for (const encoding of ['br', 'gzip'] as const)
      expect(await decoded(running.url, '/pages/p59', encoding)).toBe(page);
  },
);

test('a host that was stopped before copies were made makes them after its next start', longest, async () => {
  platform.deploy({ bundle: await exampleBundle('one', pages) });
  const first = await host(platform.env, { copiesPauseMs: 60_000 });
  await expect.poll(async () => (await askHost(first.url, 'docs.localhost', '/pages/p1')).status, waiting).toBe(200);
  expect((await served())?.lacksCopies).toBe(true);
  await first.stop();
  const again = await host(platform.env, { copiesPauseMs: 50 });
  await expect.poll(hasAllCopies, waiting).toBe(true);
  expect(await visitHost(again.url, 'docs.localhost')).toEqual([]);
});

test('a version whose copies are made later has the same files and copies as one that was made with them', async () => {
  const file = join(newFolder(), 'site.tar.gz');
  await writeFile(file, await exampleBundle('one', { ...pages, 'noise.txt': noise }));
  const content = newFolder();
  const prepared = async (more: Partial<VersionRequest>): Promise<string> => {
    const at = newFolder();
    const place = { kind: 'archive', file } as const;
    await prepareVersion({ place, folder: at, content, making: { base: '' }, maxBytes: 1e8, ...more });
    return at;
  };
  const filesOf = async (at: string) =>
    Object.fromEntries(
      [...((await readVersionList(at, content))?.files() ?? [])].map(([path, { lacksCopies: _, ...each }]) => [
        path,
        each,
      ]),
    );
  const later = await prepared({ copies: 'later' });
  expect((await readVersionList(later, content))?.lacksCopies).toBe(true);
  const made = await prepared({ place: { kind: 'without copies', version: later } });
  expect(await filesOf(made)).toEqual(await filesOf(await prepared({})));
  const list = await readPreparedSite(made, content);
  expect([list?.lacksCopies, list?.file('noise.txt')?.lacksCopies]).toEqual([undefined, undefined]);
});

test('a file that is lost or cut before its copies are made has none, and all others have theirs', async () => {
  const file = join(newFolder(), 'site.tar.gz');
  await writeFile(file, await exampleBundle('one', pages));
  const content = newFolder();
  const making = { base: '' };
  const [later, next] = [newFolder(), newFolder()];
  const place = { kind: 'archive', file } as const;
  await prepareVersion({ place, folder: later, content, making, maxBytes: 1e8, copies: 'later' });
  const list = await readVersionList(later, content);
  const lacking = [...(list?.files() ?? [])].filter(([, { lacksCopies }]) => lacksCopies === true);
  const [[lost, { sha256 }], [cut, { sha256: other }]] = lacking as [(typeof lacking)[0], (typeof lacking)[0]];
  await rm(contentFile(content, sha256));
  await truncate(contentFile(content, other), 100);
  const copies = { kind: 'without copies', version: later } as const;
  await prepareVersion({ place: copies, folder: next, content, making, maxBytes: 1e8 });
  const made = await readVersionList(next, content);
  expect(made?.lacksCopies).toBeUndefined();
  for (const [path] of lacking)
    expect([path, made?.file(path)?.gzip !== undefined]).toEqual([path, ![lost, cut].includes(path)]);
});

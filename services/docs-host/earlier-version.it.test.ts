import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { exampleBundle, exampleFiles } from '../../test/support/example-bundle.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { piecedBundle } from '../../test/support/pieced-bundle.ts';
import { BundleRefused } from './bundle-refused.ts';
import { contentFile, newContent } from './content-folder.ts';
import { heldIn } from './held-pieces.ts';
import { missingRanges } from './piece-ranges.ts';
import { prepareVersion, type SiteMaking } from './prepare-version.ts';
import { readPreparedSite } from './prepared-site.ts';
import { storeShards } from './sorted-lines.ts';
import { readPieceLines, readVersionList, storedIn, writeHead } from './version-list.ts';

const page = (text: string) =>
  `<!doctype html>\n<html lang="en">\n<head></head>\n<body><p>${text}</p>${'word '.repeat(300)}<img src="./logo.svg" alt=""></body>\n</html>\n`;
const own = {
  'index.html': page('start'),
  'guides/x.html': page('x'),
  'guides/index.html': page('guides'),
  'guides/x.md': '# X\n',
  'logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"></svg>',
  '_bindery/site.js': `window.a = 1;${' '.repeat(600)}\n`,
  '_bindery/theme.css': 'body { color: red }\n'.repeat(80),
};

/** A version, its content, and the names and bytes of everything in its list. */
type Made = { folder: string; content: string; bytes: Record<string, string> };

/** Prepares a bundle with these changes of `own`, in the content of an earlier version or in a new one. */
async function prepared(
  changes: Record<string, string>,
  earlier?: Made,
  making: SiteMaking = { base: '' },
): Promise<Made> {
  const folder = newFolder();
  const content = earlier?.content ?? newFolder();
  const file = join(newFolder(), 'site.tar.gz');
  await writeFile(file, await exampleBundle('one', { ...own, ...changes }));
  const place = { kind: 'archive', file } as const;
  await prepareVersion({ place, folder, content, making, maxBytes: 1e8, earlier: earlier?.folder });
  return { folder, content, bytes: await bytesIn(folder, content) };
}

async function bytesIn(folder: string, content: string): Promise<Record<string, string>> {
  const list = await readVersionList(folder, content);
  const lines = Buffer.concat([...(list?.lines() ?? [])].map((line) => line.bytes));
  const named = storedIn(lines).map(async ({ sha256 }) => [
    sha256,
    (await readFile(contentFile(content, sha256))).toString('base64'),
  ]);
  return { ...(Object.fromEntries(await Promise.all(named)) as Record<string, string>), list: lines.toString() };
}

/** The time at which each file of the content was written, which nothing changes later. */
async function writtenAt({ content }: Made): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const entry of await readdir(content, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) found.set(entry.name, (await stat(join(entry.parentPath, entry.name))).ino);
  return found;
}

test.each([
  ['one page changed', { 'guides/x.html': page('other') }, { base: '' }],
  ['nothing changed', {}, { base: '' }],
  ['a page is new', { 'guides/y.html': page('y') }, { base: '' }],
  ['a picture changed', { 'logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"><g/></svg>' }, { base: '' }],
  ['the path of the site changed', {}, { base: '/docs' }],
  ['it becomes air-gapped', {}, { base: '', deployment: 'air-gapped' as const }],
  ['it becomes a preview', {}, { base: '', preview: { label: 'x', date: '2026-11-28' } }],
])('with an earlier version, a version where %s has the same bytes as without it', async (_what, changes, making) => {
  const earlier = await prepared({});
  const next = await prepared(changes, earlier, making);
  expect(next.bytes).toEqual((await prepared(changes, undefined, making)).bytes);
  expect(await readPreparedSite(next.folder, next.content)).toBeDefined();
});

test('files that are the same stay as they are, and those that changed are added', async () => {
  const earlier = await prepared({});
  const before = await writtenAt(earlier);
  const next = await prepared({ 'guides/x.html': page('other') }, earlier);
  const after = await writtenAt(next);
  for (const [name, inode] of before) expect(after.get(name)).toBe(inode);
  // The page as it was and as it is served, both copies of it, the manifest with its copies, and the only shard of the list.
  expect(after.size - before.size).toBe(8);
});

test('pages are made again when a file that displays them changed, because they name its bytes', async () => {
  const earlier = await prepared({});
  const next = await prepared({ '_bindery/theme.css': 'body { color: blue }\n'.repeat(80) }, earlier);
  const [one, other] = await Promise.all(
    [earlier, next].map(({ folder, content }) => readVersionList(folder, content)),
  );
  const page = (list: typeof one) => list?.file('index.html');
  expect(page(one)?.source).toEqual(page(other)?.source);
  expect(page(one)?.sha256).not.toBe(page(other)?.sha256);
  expect(one?.file('_bindery/site.js')).toEqual(other?.file('_bindery/site.js'));
});

test('an earlier version that lost a file or its list is used as far as it can be', async () => {
  const lost = ['files', 'br', 'list', 'head'] as const;
  for (const what of lost) {
    const earlier = await prepared({});
    const list = await readVersionList(earlier.folder, earlier.content);
    const file = list?.file('index.html');
    const names = {
      files: contentFile(earlier.content, file?.source?.sha256 ?? ''),
      br: contentFile(earlier.content, file?.br?.sha256 ?? ''),
      list: contentFile(earlier.content, list?.shards[0]?.sha256 ?? ''),
      head: join(earlier.folder, 'site.json'),
    };
    await rm(names[what]);
    const next = await prepared({}, earlier);
    expect([what, next.bytes]).toEqual([what, (await prepared({})).bytes]);
  }
});

/** Prepares a bundle with these changes of `own` from its pieces. Those that the earlier version holds are left out. */
async function ofPieces(
  changes: Record<string, string | undefined>,
  earlier?: Made,
  making: SiteMaking = { base: '' },
): Promise<Made> {
  const [folder, packed] = [newFolder(), newFolder()];
  const content = earlier?.content ?? newFolder();
  const files = Object.fromEntries(
    Object.entries({ ...own, ...many, ...changes }).filter(([, text]) => text !== undefined),
  ) as Record<string, string>;
  const { bundle, pieces, manifestSha256 } = await piecedBundle(exampleFiles('same', files));
  const [file, list] = [join(packed, 'file'), join(packed, 'pieces.json')];
  await writeFile(list, JSON.stringify({ version: 1, pieces }));
  const known = earlier && (await readPieceLines(earlier.folder, earlier.content));
  const ranges = known && missingRanges(pieces, heldIn(known), bundle.length);
  expect(ranges === undefined).toBe(earlier === undefined);
  await writeFile(
    file,
    ranges === undefined ? bundle : Buffer.concat(ranges.map(({ start, end }) => bundle.subarray(start, end))),
  );
  const about = { list, manifestSha256 };
  const place =
    ranges === undefined
      ? ({ kind: 'archive', file, pieces: about } as const)
      : ({ kind: 'pieces', file, ranges, pieces: about } as const);
  await prepareVersion({ place, folder, content, making, maxBytes: 1e8, earlier: earlier?.folder });
  return { folder, content, bytes: await bytesIn(folder, content) };
}

const many = Object.fromEntries(
  Array.from({ length: 60 }, (_, at) => [
    `pages/p${at}.html`,
    // Digests do not compress, so the pages have most bytes of the bundle.
    page(Array.from({ length: 40 }, (_word, n) => sha256Of(`${at} ${n}`)).join(' ')),
  ]),
);
/** The version before the others, which leave its files as they are. */
let first: Promise<Made> | undefined;

const redirect = (to: string) =>
  `<!doctype html>\n<html lang="en">\n<head>\n<meta http-equiv="refresh" content="0; url=${to}">\n</head>\n<body></body>\n</html>\n`;

test.each<[what: string, changes: Record<string, string | undefined>, making?: SiteMaking]>([
  ['one page changed', { 'pages/p7.html': page('other') }],
  ['nothing changed', {}],
  ['a page and a text are new', { 'pages/q.html': page('q'), 'q.md': '# Q\n' }],
  ['two pages are gone', { 'pages/p58.html': undefined, 'pages/p59.html': undefined }],
  [
    'a page has another policy',
    {
      'pages/p7.html': page('x').replace(
        '<head>',
        `<head>\n<meta http-equiv="Content-Security-Policy" content="default-src 'none'">`,
      ),
    },
  ],
  ['a page became a redirect', { 'pages/p7.html': redirect('./p8.html') }],
  ['a redirect leads elsewhere', { 'old.html': redirect('./pages/p8.html') }],
  ['a redirect became a page', { 'old.html': page('old') }],
  ['a style sheet changed', { '_bindery/theme.css': 'body { color: blue }\n'.repeat(80) }],
  ['redirects with wildcards are new', { '_bindery/redirects.json': '{"version":1,"redirects":[]}' }],
  [
    'it becomes a preview',
    { 'pages/p7.html': page('other') },
    { base: '', preview: { label: 'x', date: '2026-11-28' } },
  ],
])('a version of changed pieces where %s is the same as one of all of them', async (_what, changes, making) => {
  const next = await ofPieces(changes, await (first ??= ofPieces({})), making);
  const whole = await ofPieces(changes, undefined, making);
  expect(await sortedOut(next)).toEqual(await sortedOut(whole));
  expect(await readPreparedSite(next.folder, next.content)).toBeDefined();
});

/** The files and redirects of a version, and the contents of its pieces. Numbers of policies depend on the versions before. */
async function sortedOut({ folder, content }: Made): Promise<unknown> {
  const list = await readVersionList(folder, content);
  const pieces = await readPieceLines(folder, content);
  const redirects = [...(list?.lines() ?? [])].filter(({ name }) => name.startsWith('/'));
  return {
    files: [...(list?.files() ?? [])],
    redirects: redirects.map(({ bytes }) => bytes.toString()),
    wildcards: list?.wildcards,
    token: list?.token,
    manifest: list?.manifest,
    pieces: [...(pieces?.each() ?? [])].map(({ bytes }) => bytes.toString()),
  };
}

test('the version after one of changed pieces finds their contents', async () => {
  const next = await ofPieces({ 'pages/p7.html': page('other') }, await (first ??= ofPieces({})));
  const changes = { 'pages/p7.html': page('again'), 'pages/p3.html': page('three') };
  expect(await sortedOut(await ofPieces(changes, next))).toEqual(await sortedOut(await ofPieces(changes)));
});

test('pieces that do not make the bundle of the manifest are refused', async () => {
  const earlier = await ofPieces({});
  const head = join(earlier.folder, 'site.json');
  const list = await readVersionList(earlier.folder, earlier.content);
  // The version before says of a page that it has other bytes than it has.
  const wrong = [...(list?.lines() ?? [])].map(({ bytes, name }) =>
    name === 'pages/p3.html'
      ? Buffer.from(bytes.toString().replace(/("source":\{"size":\d+,"sha256":")[0-9a-f]{4}/, '$1abcd'))
      : Buffer.from(bytes),
  );
  const added = newContent(earlier.content, newFolder());
  const shards = await storeShards(added, wrong);
  await added.commit();
  if (list === undefined) throw new Error('there is no list');
  const { base, isAirGapped, token, manifest, wildcards, policies, pieces } = list;
  await writeHead(earlier.folder, { base, isAirGapped, token, manifest, wildcards, policies, pieces }, shards);
  expect(await readFile(head, 'utf8')).toContain(shards[0]?.sha256);
  await expect(
    ofPieces({ 'pages/p3.html': page('three'), '_bindery/theme.css': 'body { color: red }' }, earlier),
  ).resolves.toBeDefined();
  await expect(ofPieces({ '_bindery/theme.css': 'body { color: red }' }, earlier)).rejects.toThrow(BundleRefused);
});

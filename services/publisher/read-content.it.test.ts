import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { blobKey, siteModelKey, versionFilesKey } from '#shared/contracts/stored-objects.ts';
import { projectPool } from '#shared/docs/project/analyze-project.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { type AgingStore, agingStore } from '../../test/support/aging-store.ts';
import { packTar } from '../../test/support/archives.ts';
import { testCaller } from '../../test/support/make-commit.ts';
import { memoryBus } from '../../test/support/memory-bus.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { openUploads, type Uploads } from './project-files.ts';
import { publishProject } from './publish-project.ts';
import { readContent } from './read-content.ts';

const navigation = ['index', 'guides/kept', 'guides/old'];
const docsJson = (pages: string[]) =>
  JSON.stringify({ name: 'Docs', theme: 'mint', colors: { primary: '#0d9373' }, navigation: { pages } });
const first = {
  'docs.json': docsJson(navigation),
  'index.mdx': '---\ntitle: Start\n---\n\nHello.\n',
  'guides/kept.mdx': '---\ntitle: Kept\ngroups: [a\n---\n\nKept.\n',
  'guides/old.mdx': '# Old\n',
};
const { 'guides/old.mdx': _, ...others } = first;
const second = {
  ...others,
  'docs.json': docsJson([...navigation.slice(0, 2), 'constructor']),
  'index.mdx': '---\ntitle: Start\n---\n\nHello, Ada.\n',
  'constructor.mdx': '# New\n',
  'logo.png': '\u0089PNG',
};

const bus = memoryBus();
const pool = projectPool({ slots: 1 });
const signal = new AbortController().signal;
let objects: AgingStore;
let uploads: Uploads;
let versions: [string, string];

beforeAll(async () => {
  uploads = openUploads({ folder: newFolder(), places: 1 });
  objects = agingStore();
  const context = { bus, objectStore: objects.store, pool, clock: { now: () => new Date() }, random: randomBase62 };
  const publish = async (files: Record<string, string>) =>
    (
      await publishProject(
        { ...context, uploads, readerVersion: 'today' },
        testCaller,
        Readable.from([await packTar(files)]),
        { sends: 'all files' },
        signal,
      )
    ).answer.contentVersion;
  versions = [await publish(first), await publish(second)];
});
afterAll(() => Promise.all([pool.close(), uploads.close()]));

const reading = () => readContent({ bus, objectStore: objects.store });
const content = (at: 0 | 1, organization = 'acme') => ({ organization, domain: 'docs', contentVersion: versions[at] });

test('two contents differ in pages and in other files, which are listed in parts', async () => {
  const { changes, summary, nextCursor } = await reading().changes(
    content(1),
    { from: versions[0], limit: 200 },
    signal,
  );
  expect(summary).toEqual({ added: 1, removed: 1, changed: 1, unchanged: 1, otherFiles: 2 });
  expect(changes).toEqual([
    { kind: 'page', path: 'constructor', title: 'New', change: 'added' },
    { kind: 'page', path: 'guides/old', title: 'Old', change: 'removed' },
    { kind: 'page', path: 'index', title: 'Start', change: 'changed' },
    { kind: 'file', path: 'docs.json', change: 'changed' },
    { kind: 'file', path: 'logo.png', change: 'added' },
  ]);
  expect(nextCursor).toBeUndefined();
  const seen: string[] = [];
  for (let cursor: string | undefined = '0'; cursor !== undefined; ) {
    const part = await reading().changes(content(1), { from: versions[0], limit: 2, cursor }, signal);
    seen.push(...part.changes.map(({ path }) => path));
    cursor = part.nextCursor;
  }
  expect(seen).toEqual(changes.map(({ path }) => path));
  const same = await reading().changes(content(0), { from: versions[0], limit: 200 }, signal);
  expect(same).toMatchObject({ changes: [], summary: { unchanged: 3 } });
});

test('a page has its source in both contents, or in the one that has it', async () => {
  const start = await reading().source(content(1), { page: '/', from: versions[0] }, signal);
  expect(start.source).toEqual({
    ...{ file: 'index.mdx', title: 'Start', sizeBytes: second['index.mdx'].length },
    text: second['index.mdx'],
  });
  expect(start.before?.text).toBe(first['index.mdx']);
  const old = await reading().source(content(1), { page: 'guides/old', from: versions[0] }, signal);
  expect([old.source, old.before?.text]).toEqual([undefined, '# Old\n']);
  const settings = await reading().source(content(1), { file: 'docs.json' }, signal);
  expect(settings.source?.text).toBe(second['docs.json']);
  await expect(reading().source(content(1), { page: 'guides/old' }, signal)).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('guides/old'),
  });
  await expect(reading().source(content(1), { page: '__proto__' }, signal)).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('findings name their line, and show it', async () => {
  const { diagnostics, summary } = await reading().diagnostics(content(0), { limit: 50 }, signal);
  expect(diagnostics.map(({ file, line, excerpt }) => [file, line, excerpt])).toEqual([
    ['guides/kept.mdx', undefined, undefined],
    ['guides/kept.mdx', 4, '---'],
  ]);
  expect(summary.errors + summary.warnings + summary.infos).toBe(diagnostics.length);
  const none = await reading().diagnostics(content(0), { limit: 50, cursor: '999' }, signal);
  expect(none.diagnostics).toEqual([]);
});

test('a file that was not kept has no text', async () => {
  const key = blobKey('acme', sha256Of(second['constructor.mdx']));
  const bytes = await objects.store.get(key);
  await objects.store.remove(key);
  const gone = await reading().source(content(1), { page: 'constructor' }, signal);
  expect(gone.source).not.toHaveProperty('text');
  await objects.store.put(key, bytes ?? Buffer.from(''));
});

test('a content without the list of its files is compared by its site model', async () => {
  await objects.store.remove(versionFilesKey(content(0)));
  const { summary } = await reading().changes(content(1), { from: versions[0], limit: 200 }, signal);
  expect(summary).toMatchObject({ added: 1, removed: 1, changed: 1 });
});

test('a content of another organization, or one that was deleted, is not found', async () => {
  const foreign = reading().changes(content(1, 'globex'), { from: versions[0], limit: 1 }, signal);
  await expect(foreign).rejects.toMatchObject({ code: 'not_found' });
  const unknown = `cv_${'0'.repeat(32)}`;
  await expect(reading().source(content(1), { page: 'index', from: unknown }, signal)).rejects.toMatchObject({
    code: 'not_found',
  });
  await objects.store.remove(siteModelKey(content(0)));
  await expect(reading().diagnostics(content(0), { limit: 1 }, signal)).rejects.toMatchObject({ code: 'not_found' });
});

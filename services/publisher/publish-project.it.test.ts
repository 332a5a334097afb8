import { randomBytes } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { arrivedFilesPrefix, arrivedFilesSchema, blobKey, siteModelKey } from '#shared/contracts/stored-objects.ts';
import { projectPool } from '#shared/docs/project/analyze-project.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { fileListName, fileListText } from '#shared/interfaces/http/listed-files.ts';
import { type ObjectStore, ObjectStoreUnavailable } from '#shared/storage/object-store.ts';
import { contentLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { type AgingStore, agingStore } from '../../test/support/aging-store.ts';
import { contentCommit, testCaller } from '../../test/support/make-commit.ts';
import { memoryBus } from '../../test/support/memory-bus.ts';
import { packTar } from '../../test/support/archives.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { openUploads, type Uploads } from './project-files.ts';
import { publishProject } from './publish-project.ts';

const page = '# Hello\n';
const project = {
  'docs.json': JSON.stringify({ name: 'Docs', theme: 'mint', colors: { primary: '#0d9373' }, navigation: ['index'] }),
  'index.mdx': page,
};
const caller = testCaller;
const clock = { now: () => new Date() };
const bus = memoryBus();
const pool = projectPool({ slots: 1 });
let uploadFolder: string;
let uploads: Uploads;
let objects: AgingStore;

beforeAll(async () => {
  uploadFolder = newFolder();
  uploads = openUploads({ folder: uploadFolder, places: 1 });
  objects = agingStore();
});
afterAll(() => Promise.all([pool.close(), uploads.close()]));

const publish = async (objectStore: ObjectStore, files: Record<string, string> = project, readerVersion = 'today') =>
  publishProject(
    { bus, objectStore, pool, clock, random: randomBase62, uploads, readerVersion },
    caller,
    Readable.from([await packTar(files)]),
    { sends: 'all files' },
    new AbortController().signal,
  );

test('a version that is ended while it is published again is stored again', async () => {
  const { answer } = await publish(objects.store);
  const { contentVersion } = answer;
  const modelKey = siteModelKey({ organization: 'acme', domain: 'docs', contentVersion });
  const subject = contentLogSubject('acme', 'docs');
  // The version is known when the upload arrives, and its two files are there; it ends, and its objects are swept, before the log is written.
  let ended = false;
  let looks = Promise.resolve(0);
  const sweeping: ObjectStore = {
    ...objects.store,
    async head(key, options) {
      const before = looks;
      const { promise, resolve } = Promise.withResolvers<number>();
      looks = promise;
      const count = (await before) + 1;
      const found = await objects.store.head(key, options);
      if (count === 2) {
        ended = true;
        const previous = await bus.content.last(subject);
        const data = { organization: 'acme', domain: 'docs', contentVersion };
        const commit = contentCommit({ type: 'ContentDeleted', version: 1, data }, previous);
        await bus.content.append(commit, { sequence: previous?.sequence ?? 0 });
        for (const swept of await objects.keys()) await objects.store.remove(swept);
      }
      resolve(count);
      return found;
    },
  };
  expect((await publish(sweeping)).answer).toEqual(answer);
  expect(ended).toBe(true);
  const state = (await bus.content.last(subject))?.commit.data.state;
  expect(state).toMatchObject({ latest: contentVersion, versions: [{ contentVersion }] });
  expect(await objects.keys()).toEqual(expect.arrayContaining([blobKey('acme', sha256Of(page)), modelKey]));
});

test('a project that an earlier program read is read again, and its earlier content version stays', async () => {
  const ofReader = async (version: string) => (await publish(objects.store, project, version)).answer.contentVersion;
  const [before, after] = [await ofReader('before'), await ofReader('after')];
  expect(after).not.toBe(before);
  expect(await ofReader('after')).toBe(after);
  const state = (await bus.content.last(contentLogSubject('acme', 'docs')))?.commit.data.state;
  expect(state?.latest).toBe(after);
  expect(state?.versions.map(({ contentVersion }) => contentVersion)).toEqual(expect.arrayContaining([before, after]));
  const keys = [before, after].map((contentVersion) =>
    siteModelKey({ organization: 'acme', domain: 'docs', contentVersion }),
  );
  expect(await objects.keys()).toEqual(expect.arrayContaining(keys));
});

test('ignored files of a project are not stored', async () => {
  const tool = 'module.exports = 1;';
  await publish(objects.store, { ...project, 'logo.svg': '<svg/>', 'node_modules/tool/index.js': tool });
  const stored = await objects.keys();
  expect(stored).toEqual(expect.arrayContaining([page, '<svg/>'].map((text) => blobKey('acme', sha256Of(text)))));
  expect(stored).not.toContain(blobKey('acme', sha256Of(tool)));
});

test('of an upload that was cut, the files count that could be stored', async () => {
  const pictures = Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`p${at}.png`, randomBytes(300_000)]));
  const listed = Object.entries({ ...project, ...pictures }).map(([path, content]) => ({
    path,
    sha256: sha256Of(content),
    sizeBytes: Buffer.byteLength(content),
  }));
  const packed = await packTar({ [fileListName]: fileListText(listed), ...pictures });
  const arriving = new Readable({ read() {} });
  for (let at = 0; at < packed.length * 0.9; at += 65_536) arriving.push(packed.subarray(at, at + 65_536));
  let room = 2;
  const full: ObjectStore = {
    ...objects.store,
    async put(key, body, options) {
      if (key.startsWith('blobs/') && (room -= 1) < 0) throw new ObjectStoreUnavailable('no space is left');
      await objects.store.put(key, body, options);
    },
  };
  const context = { bus, objectStore: full, pool, clock, random: randomBase62, uploads, readerVersion: 'today' };
  const publishing = publishProject(
    context,
    caller,
    arriving,
    { sends: 'changed files' },
    new AbortController().signal,
  );
  const outcome = publishing.catch((error: unknown) => error);
  const folderBytes = async () => {
    const files = await readdir(uploadFolder, { recursive: true });
    const sizes = files.map(async (file) => (await stat(join(uploadFolder, file)).catch(() => undefined))?.size ?? 0);
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  };
  await expect.poll(folderBytes, { timeout: 60_000 }).toBeGreaterThan(1_500_000);
  arriving.destroy(new Error('the network is gone'));
  expect(await outcome).toMatchObject({ message: 'the network is gone' });
  const [record = ''] = await objects.keys(arrivedFilesPrefix({ organization: 'acme', domain: 'docs' }));
  const { files } = arrivedFilesSchema.parse(
    JSON.parse(Buffer.from((await objects.store.get(record)) ?? '').toString()),
  );
  expect(files).toHaveLength(2);
  for (const [sha256] of files) expect(await objects.keys()).toContain(blobKey('acme', sha256));
});

test('a publication in which only the text of pages changed stores the same objects as one that reads the whole project', async () => {
  const before = {
    ...project,
    'guides/a.mdx': "import N from '/snippets/n.mdx'\n\n<N /> [start](/index)\n",
    'snippets/n.mdx': 'A note.\n',
    'notes.psd': 'not a file of the site',
  };
  const after = { ...before, 'index.mdx': '# Hello\n\nMore text. [a](/guides/a)\n' };
  const signal = new AbortController().signal;
  const sent = (files: Record<string, string>, listed: Record<string, string>) => {
    const list = Object.entries(listed).map(([path, content]) => ({
      ...{ path, sha256: sha256Of(content), sizeBytes: Buffer.byteLength(content) },
    }));
    return packTar({ [fileListName]: fileListText(list), ...files });
  };
  /** Publishes both versions, the second with a list. `pool` reads the second. */
  const stored = async (reader: typeof pool) => {
    const store = agingStore();
    const context = { bus: memoryBus(), objectStore: store.store, clock, random: randomBase62, uploads };
    const all = { ...context, pool, readerVersion: 'today' };
    await publishProject(all, caller, Readable.from([await sent(before, before)]), { sends: 'changed files' }, signal);
    const changed = await sent({ 'index.mdx': after['index.mdx'] }, after);
    const { answer } = await publishProject(
      { ...all, pool: reader },
      caller,
      Readable.from([changed]),
      { sends: 'changed files' },
      signal,
    );
    const objects = new Map<string, string>();
    for (const key of (await store.keys()).sort()) {
      const bytes = Buffer.from((await store.store.get(key)) ?? '');
      objects.set(
        key,
        key.endsWith('.gz') ? gunzipSync(bytes).toString().split('\n').sort().join('\n') : String(bytes),
      );
    }
    return { answer, objects };
  };
  /** The parts of the project that children were asked to read. */
  const requests: string[] = [];
  const noting = (refuses: boolean): typeof pool => ({
    ...pool,
    async run(request, options) {
      requests.push('changed' in (request as object) ? 'changed pages' : 'all files');
      if (refuses && requests.at(-1) === 'changed pages') throw new Error('the child died');
      return pool.run(request, options);
    },
  });
  const revised = await stored(noting(false));
  const whole = await stored(noting(true));
  expect(requests).toEqual(['changed pages', 'changed pages', 'all files']);
  expect(revised).toEqual(whole);
  expect(revised.objects.get(blobKey('acme', sha256Of(after['index.mdx'])))).toBe(after['index.mdx']);
});

import { chmod, mkdir, open, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ContentEvent, type ContentState, contentAggregate } from '#shared/aggregates/content/content.ts';
import { deadLetterKey } from '#shared/contracts/dead-letters.ts';
import { blobKey, pageMarkdownKey, siteModelKey } from '#shared/contracts/stored-objects.ts';
import { readDocsProject } from '#shared/docs/project/read-docs-project.ts';
import { type ChildPool, childPool } from '#shared/docs/sandbox/child-pool.ts';
import { nextCommit } from '#shared/messaging/log/commit-chain.ts';
import { BadMessage } from '#shared/messaging/parse-message.ts';
import { contentLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { randomBase62, systemClock } from '#shared/runtime/time-and-ids.ts';
import type { SearchIndex } from '#shared/search/search-index.ts';
import { sqliteSearchIndex } from '#shared/search/sqlite/sqlite-search-index.ts';
import { folderObjectStore } from '#shared/storage/folder-object-store.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { type MemoryBus, memoryBus } from '../support/memory-bus.ts';
import { memoryProject } from '../support/memory-project.ts';
import { newFolder } from '../support/new-folder.ts';
import { pageReader } from '#services/indexer/cut-pages.ts';
import type { CutRequest } from '#services/indexer/read-page.ts';
import { readContentLog } from '#services/indexer/read-content-log.ts';
import { repairIndexes } from '#services/indexer/repair-indexes.ts';

const organization = 'acme';
const domain = 'docs';
const subject = contentLogSubject(organization, domain);
const version = (digit: string): string => `cv_${digit.repeat(32)}`;
const scope = (contentVersion: string) => ({ organization, domain, contentVersion });

const docsJson = (pages: string[]): string =>
  JSON.stringify({ theme: 'mint', name: 'Acme', colors: { primary: '#000000' }, navigation: { pages } });

const files = {
  'docs.json': docsJson(['index', 'guides/keys', 'guides/secret', 'guides/broken', 'staff']),
  'index.mdx': '---\ntitle: Welcome\ndescription: Where to begin with Acme.\n---\n\nHello <Install />.\n',
  'guides/keys.mdx':
    "---\ntitle: API keys\n---\nimport Install from '/snippets/install.mdx'\n\n## Rotate a key\n\nPress the turquoise button.\n\n<Install />\n",
  'guides/secret.mdx': '---\ntitle: Secret\nnoindex: true\n---\n\nNobody finds turquoise here.\n',
  'guides/broken.mdx': `---\ntitle: Broken page\n---\n\n${'> '.repeat(500)}too deep\n`,
  'guides/unlisted.mdx': '---\ntitle: Unlisted\n---\n\nAn unlisted turquoise page.\n',
  'staff.mdx': '---\ntitle: Staff\ngroups: ["staff"]\n---\n\nThe magenta runbook.\n',
  'snippets/install.mdx': 'Install it with the vermilion command.',
};

let folder: string;
let bus: MemoryBus;
let objectStore: ObjectStore;
let searchIndex: SearchIndex;
let pool: ChildPool;
/** Files of the pages that children were asked to read. */
let asked: string[];
let stop: AbortController;
let reading: Promise<void>;
let context: Parameters<typeof readContentLog>[0];

beforeEach(async () => {
  folder = newFolder();
  bus = memoryBus();
  objectStore = folderObjectStore({
    folder: join(folder, 'objects'),
    publicBaseUrl: 'http://x',
  });
  searchIndex = sqliteSearchIndex(join(folder, 'search'));
  const children = childPool({ ...pageReader, slots: 1 });
  asked = [];
  pool = {
    ...children,
    run(request, options) {
      asked.push(...(request as CutRequest).pages.map(({ file }) => file));
      return children.run(request, options);
    },
  };
  stop = new AbortController();
  const logger = pino({ level: 'silent' });
  context = { bus, objectStore, searchIndex, pool, slots: 1, logger, clock: systemClock, random: randomBase62 };
  context.lettersAgainEveryMs = 50;
  reading = readContentLog(context, stop.signal, stop.signal);
});

afterEach(async () => {
  stop.abort();
  await reading;
  await pool.close();
  await searchIndex.close();
  await objectStore.close();
});

async function store(contentVersion: string, contents: Record<string, string>): Promise<void> {
  const project = memoryProject(contents);
  for (const file of project.files)
    await objectStore.put(blobKey(organization, file.sha256), await project.read(file.path, file.sizeBytes));
  const model = { ...(await readDocsProject(project)), contentVersion };
  await objectStore.put(siteModelKey({ organization, domain, contentVersion }), Buffer.from(JSON.stringify(model)));
}

async function append(...events: ContentEvent[]): Promise<void> {
  const previous = await bus.content.last(subject);
  const time = new Date();
  const state = events.reduce<ContentState | undefined>(
    (current, event) =>
      contentAggregate.evolve(current, event, {
        time: time.toISOString(),
        actor: { kind: 'operator', id: 'operator' },
      }),
    previous?.commit.data.state,
  ) as ContentState;
  const origin = {
    id: `c${previous?.sequence ?? 0}`,
    source: 'publisher',
    actor: { kind: 'key', id: 'k' } as const,
    time,
    causationId: 'r',
    correlationId: 'r',
  };
  await bus.content.append(nextCommit(subject, previous, events, state, origin), {
    sequence: previous?.sequence ?? 0,
  });
}

const published = (contentVersion: string): ContentEvent => ({
  type: 'ContentPublished',
  version: 1,
  data: { organization, domain, contentVersion, pageCount: 1, fileCount: 1, sizeBytes: 1 },
});

const paths = async (contentVersion: string, query: string, groups: string[] = []) =>
  (await searchIndex.search({ ...scope(contentVersion), query, limit: 10, filter: { groups } })).map(
    (found) => found.path,
  );

const indexFile = (contentVersion = version('1')): string =>
  join(folder, 'search', organization, domain, `${contentVersion}.db`);

const stateNow = async () => (await bus.content.last(subject))?.commit.data.state;

test('published content becomes searchable, as the visibility matrix says', async () => {
  await store(version('1'), files);
  await append(published(version('1')));
  await bus.memoryReaders.indexerContent.idle();

  expect(await stateNow()).toMatchObject({ searched: version('1'), versions: [{ indexed: true }] });
  expect(await paths(version('1'), 'turquoise')).toEqual(['guides/keys']);
  expect(await paths(version('1'), 'vermilion command')).toContain('guides/keys');
  expect(await paths(version('1'), 'where to begin')).toEqual(['index']);
  expect(await paths(version('1'), 'magenta')).toEqual([]);
  expect(await paths(version('1'), 'magenta', ['staff'])).toEqual(['staff']);
  expect(await paths(version('1'), 'broken page')).toContain('guides/broken');

  const [keys] = await searchIndex.search({ ...scope(version('1')), query: 'turquoise', limit: 1 });
  expect(keys).toMatchObject({ anchor: 'rotate-a-key', heading: 'Rotate a key', title: 'API keys' });
  const page = await searchIndex.findPage(scope(version('1')), 'guides/keys', []);
  expect(page?.markdown).toMatch(/^# API keys\n/);
  expect(await searchIndex.findPage(scope(version('1')), 'guides/secret', [])).toBeUndefined();
});

test('only changed pages of a second version are read; the others are copied', async () => {
  await store(version('1'), files);
  await store(version('2'), {
    ...files,
    'index.mdx': '---\ntitle: Welcome\n---\n\nNow [ultramarine](/guides/keys).\n',
  });
  await append(published(version('1')));
  await bus.memoryReaders.indexerContent.idle();
  asked.length = 0;
  await append(published(version('2')));
  await bus.memoryReaders.indexerContent.idle();
  // The page that cannot be read is tried again.
  expect(asked.toSorted()).toEqual(['guides/broken.mdx', 'index.mdx']);
  expect(await paths(version('2'), 'turquoise')).toEqual(['guides/keys']);
  expect(await paths(version('2'), 'ultramarine')).toEqual(['index', 'guides/keys']);
  expect(await paths(version('1'), 'ultramarine')).toEqual([]);
});

test('one changed page of a thousand is the only one that is read and written', async () => {
  const names = Array.from({ length: 1_000 }, (_, at) => `pages/page-${at}`);
  const large = {
    'docs.json': docsJson(names),
    ...Object.fromEntries(names.map((name, at) => [`${name}.mdx`, `---\ntitle: Page ${at}\n---\n\nText ${at}.\n`])),
  };
  await store(version('1'), large);
  await store(version('2'), { ...large, 'pages/page-500.mdx': '---\ntitle: Page 500\n---\n\nNow ultramarine.\n' });
  await append(published(version('1')));
  await bus.memoryReaders.indexerContent.idle();
  expect(asked).toHaveLength(1_000);
  asked.length = 0;
  await append(published(version('2')));
  await bus.memoryReaders.indexerContent.idle();
  expect(asked).toEqual(['pages/page-500.mdx']);
  expect(await paths(version('2'), 'ultramarine')).toEqual(['pages/page-500']);
  const rows = (table: string, digit: string): string[] => {
    const db = new DatabaseSync(indexFile(version(digit)), { readOnly: true });
    const found = db.prepare(`SELECT * FROM ${table}`).all();
    db.close();
    return found.map((row) => JSON.stringify(row));
  };
  for (const table of ['pages', 'passages']) {
    const before = new Set(rows(table, '1'));
    expect(rows(table, '2').filter((row) => !before.has(row))).toHaveLength(1);
  }
});

test('synonyms of docs.json are those of their version, also when no page is read again or the index is built again', async () => {
  const withSynonyms = (...synonyms: string[][]): Record<string, string> => ({
    ...files,
    'docs.json': JSON.stringify({ ...JSON.parse(files['docs.json']), search: { synonyms } }),
  });
  await store(version('1'), files);
  await store(version('2'), withSynonyms(['credential', 'turquoise button']));
  for (const digit of ['1', '2']) {
    await append(published(version(digit)));
    await bus.memoryReaders.indexerContent.idle();
  }
  expect(await paths(version('1'), 'credential')).toEqual([]);
  expect(await paths(version('2'), 'credential')).toEqual(['guides/keys']);
  expect(asked.filter((file) => file === 'guides/keys.mdx')).toHaveLength(1);
  await rm(indexFile(version('2')));
  await repairIndexes(context, stop.signal, stop.signal);
  expect(await paths(version('2'), 'credential')).toEqual(['guides/keys']);
});

const pageBytes = 4_096;

type Harm = (file: string) => Promise<unknown> | void;

const changeDatabase =
  (statement: string): Harm =>
  (file) => {
    const db = new DatabaseSync(file);
    db.exec(statement);
    db.close();
  };
const harms: [string, Harm][] = [
  ['no database', (file) => writeFile(file, 'no database')],
  ['deleted', (file) => rm(file)],
  ['empty', (file) => truncate(file)],
  ['truncated', async (file) => truncate(file, Math.floor((await stat(file)).size / pageBytes / 2) * pageBytes)],
  ['truncated within a page', async (file) => truncate(file, (await stat(file)).size - 100)],
  ['without a table', changeDatabase('DROP TABLE passages')],
  ['without a column', changeDatabase('ALTER TABLE facts DROP COLUMN heading')],
  ['of another shape', changeDatabase('PRAGMA user_version = 1')],
  [
    'with another letter in a text',
    async (file) => {
      const bytes = await readFile(file);
      bytes.write('Turquoise', bytes.indexOf('turquoise button'));
      await writeFile(file, bytes);
    },
  ],
  ['a folder', async (file) => rm(file).then(() => mkdir(join(file, 'inside'), { recursive: true }))],
];

const zeroedPage = (_: unknown, page: number): [string, Harm] => [
  `page ${page} is zeros`,
  async (file) => {
    const handle = await open(file, 'r+');
    await handle.write(Buffer.alloc(pageBytes), 0, pageBytes, page * pageBytes);
    await handle.close();
  },
];

describe.each(['while the service runs', 'when the service starts'])('%s', (when) => {
  const repair = async (): Promise<void> => {
    if (when === 'while the service runs') return repairIndexes(context, stop.signal, stop.signal);
    const other = sqliteSearchIndex(join(folder, 'search'));
    await repairIndexes({ ...context, searchIndex: other }, stop.signal, stop.signal);
    return other.close();
  };

  test('a damaged index file is built again from the log', async () => {
    await store(version('1'), files);
    await append(published(version('1')));
    await bus.memoryReaders.indexerContent.idle();
    const whole = await readFile(indexFile());
    const pageCount = whole.length / pageBytes;
    for (const [damage, harm] of [...harms, ...Array.from({ length: pageCount }, zeroedPage)]) {
      // An earlier damaged file occupies the name under which this one is moved away.
      await mkdir(`${indexFile()}.damaged`, { recursive: true });
      expect(await paths(version('1'), 'turquoise')).toEqual(['guides/keys']);
      await harm(indexFile());
      await repair();
      expect({ damage, isWhole: (await readFile(indexFile())).equals(whole) }).toEqual({ damage, isWhole: true });
      await rm(`${indexFile()}.damaged`, { recursive: true });
    }
  });

  test('an index file that may only be read is searched, and built upon', async () => {
    await store(version('1'), files);
    await store(version('2'), { ...files, 'index.mdx': '---\ntitle: Welcome\n---\n\nNow ultramarine.\n' });
    await append(published(version('1')));
    await bus.memoryReaders.indexerContent.idle();
    await chmod(indexFile(), 0o400);
    await repair();
    expect(await paths(version('1'), 'turquoise')).toEqual(['guides/keys']);
    await append(published(version('2')));
    await bus.memoryReaders.indexerContent.idle();
    expect(await paths(version('2'), 'ultramarine')).toEqual(['index']);
    // Root may write to read-only files, so the test checks that the owner may write.
    expect((await stat(indexFile(version('2')))).mode & 0o600).toBe(0o600);
  });
});

test('a log that cannot be read keeps no other index from being built again', async () => {
  await store(version('1'), files);
  await append(published(version('1')));
  await bus.memoryReaders.indexerContent.idle();
  await rm(indexFile());
  const broken = contentLogSubject('aardvark', 'docs');
  const content = {
    ...bus.content,
    subjects: async (filter: string) => [broken, ...(await bus.content.subjects(filter))],
    last: async (asked: string) => {
      if (asked === broken) throw new BadMessage(`message 1 on ${broken} is not JSON.`);
      return bus.content.last(asked);
    },
  };
  const other = sqliteSearchIndex(join(folder, 'search'));
  await repairIndexes({ ...context, bus: { content }, searchIndex: other }, stop.signal, stop.signal);
  await other.close();
  expect(await paths(version('1'), 'turquoise')).toEqual(['guides/keys']);
});

test('the same commit again changes nothing', async () => {
  await store(version('1'), files);
  await append(published(version('1')));
  await bus.memoryReaders.indexerContent.idle();
  const before = await bus.content.last(subject);
  bus.memoryReaders.indexerContent.push({ subject, sequence: 1, value: structuredClone(before?.commit) });
  await bus.memoryReaders.indexerContent.idle();
  expect((await bus.content.last(subject))?.sequence).toBe(before?.sequence);
});

test('the last of several quickly published versions is searched', async () => {
  await store(version('1'), files);
  await store(version('2'), { ...files, 'index.mdx': '---\ntitle: Welcome\n---\n\nNow ultramarine.\n' });
  await append(published(version('1')));
  await append(published(version('2')));
  await bus.memoryReaders.indexerContent.idle();
  expect((await stateNow())?.searched).toBe(version('2'));
  expect(await paths(version('2'), 'ultramarine')).toEqual(['index']);
});

test('promoting an older version makes it the searched one; deleting takes a version out', async () => {
  await store(version('1'), files);
  await store(version('2'), files);
  await append(published(version('1')));
  await bus.memoryReaders.indexerContent.idle();
  await append(published(version('2')));
  await bus.memoryReaders.indexerContent.idle();
  // An earlier indexer stored this object.
  await objectStore.put(pageMarkdownKey(scope(version('2')), 'guides/keys'), Buffer.from('# API keys'));
  await append({ type: 'ContentPromoted', version: 1, data: { organization, domain, contentVersion: version('1') } });
  await bus.memoryReaders.indexerContent.idle();
  expect((await stateNow())?.searched).toBe(version('1'));
  await append({ type: 'ContentDeleted', version: 1, data: { organization, domain, contentVersion: version('2') } });
  await bus.memoryReaders.indexerContent.idle();
  expect(await searchIndex.passageCount(scope(version('2')))).toBeUndefined();
  expect(await objectStore.get(pageMarkdownKey(scope(version('2')), 'guides/keys'))).toBeUndefined();
  expect(await paths(version('1'), 'turquoise')).toEqual(['guides/keys']);
});

test('missing content becomes a dead letter, and the searched version stays', async () => {
  await store(version('1'), files);
  await append(published(version('1')));
  await bus.memoryReaders.indexerContent.idle();
  await append(published(version('3')));
  await bus.memoryReaders.indexerContent.idle();
  expect(bus.recorded.deadLetters).toMatchObject([
    { service: 'indexer', reason: expect.stringContaining('site model') },
  ]);
  expect((await stateNow())?.searched).toBe(version('1'));
});

test('content whose files come back is searched, and its dead letter is settled', async () => {
  const letters = async () =>
    Object.fromEntries(
      await Promise.all(
        (await bus.deadLetters.keys()).map(async (key) => [key, (await bus.deadLetters.get(key))?.document.state]),
      ),
    );
  await append(published(version('1')));
  await expect.poll(letters).toEqual({ [deadLetterKey('indexer', 'CONTENT', 1)]: 'aside' });
  // Publishing the same files again stores them, and adds nothing to the log.
  await store(version('1'), files);
  await expect.poll(letters).toEqual({});
  expect((await stateNow())?.searched).toBe(version('1'));
  expect(await paths(version('1'), 'turquoise')).toEqual(['guides/keys']);
  expect(bus.recorded.deadLetters.map(({ outcome }) => outcome)).toEqual(['set-aside', 'retried']);
});

import { join } from 'node:path';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { contentAggregate } from '#shared/aggregates/content/content.ts';
import { blobKey, siteModelKey } from '#shared/contracts/stored-objects.ts';
import { readDocsProject } from '#shared/docs/project/read-docs-project.ts';
import { ChildTimedOut } from '#shared/docs/sandbox/child.ts';
import { nextCommit } from '#shared/messaging/log/commit-chain.ts';
import { contentLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { randomBase62, systemClock } from '#shared/runtime/time-and-ids.ts';
import { sqliteSearchIndex } from '#shared/search/sqlite/sqlite-search-index.ts';
import { folderObjectStore } from '#shared/storage/folder-object-store.ts';
import { localChildren } from '../../test/support/local-children.ts';
import { memoryBus } from '../../test/support/memory-bus.ts';
import { memoryProject } from '../../test/support/memory-project.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { patience } from './patience.ts';
import { type CutRequest, readAndCut } from './read-page.ts';
import { readContentLog } from './read-content-log.ts';
import { keepIndexesWhole } from './repair-indexes.ts';

const contentVersion = `cv_${'1'.repeat(32)}`;
const domain = 'docs';

/** An indexer whose children wait for `read` before they read pages. */
function indexing(read: (request: CutRequest, deadlineMs: number) => Promise<void>) {
  const folder = newFolder();
  const bus = memoryBus();
  const objectStore = folderObjectStore({
    folder: join(folder, 'objects'),
    publicBaseUrl: 'http://x',
  });
  const searchIndex = sqliteSearchIndex(join(folder, 'search'));
  const stop = new AbortController();
  const children = localChildren((request) => readAndCut(request as CutRequest));
  const pool: Pick<typeof children, 'run'> = {
    async run(request, options) {
      await Promise.race([
        read(request as CutRequest, options.deadlineMs),
        new Promise((_resolve, reject) =>
          options.signal?.addEventListener('abort', () => reject(options.signal?.reason as Error)),
        ),
      ]);
      return children.run(request, options);
    },
  };
  const logger = pino({ level: 'silent' });
  const context = { bus, objectStore, searchIndex, pool, slots: 1, logger, patience: patience() };
  const reading = readContentLog({ ...context, clock: systemClock, random: randomBase62 }, stop.signal, stop.signal);
  const repairs: Promise<void>[] = [];
  onTestFinished(async () => {
    stop.abort(new Error('the test has ended'));
    await reading;
    await Promise.all(repairs);
    await searchIndex.close();
    await objectStore.close();
  });

  return {
    searchIndex,
    repair: () => void repairs.push(keepIndexesWhole(context, stop.signal, stop.signal)),
    publish: async (organization: string, pages: Record<string, string>): Promise<void> => {
      const navigation = { pages: Object.keys(pages).map((file) => file.replace('.mdx', '')) };
      const settings = { theme: 'mint', name: 'X', colors: { primary: '#000000' }, navigation };
      const project = memoryProject({ 'docs.json': JSON.stringify(settings), ...pages });
      for (const file of project.files)
        await objectStore.put(blobKey(organization, file.sha256), await project.read(file.path, file.sizeBytes));
      const model = { ...(await readDocsProject(project)), contentVersion };
      const scope = { organization, domain, contentVersion };
      await objectStore.put(siteModelKey(scope), Buffer.from(JSON.stringify(model)));
      const time = new Date();
      const data = { ...scope, pageCount: 1, fileCount: 1, sizeBytes: 1 };
      const event = { type: 'ContentPublished', version: 1, data } as const;
      const actor = { kind: 'key', id: 'k' } as const;
      const state = contentAggregate.evolve(undefined, event, { time: time.toISOString(), actor });
      const subject = contentLogSubject(organization, domain);
      const origin = { id: 'c1', source: 'publisher', actor, time, causationId: 'r', correlationId: 'r' };
      await bus.content.append(nextCommit(subject, undefined, [event], state, origin), { sequence: 0 });
    },
    find: async (organization: string, query: string) => {
      const found = await searchIndex.search({ organization, domain, contentVersion, query, limit: 50 });
      return found.map(({ path }) => path);
    },
    searched: async (organization: string) =>
      (await bus.content.last(contentLogSubject(organization, domain)))?.commit.data.state.searched,
  };
}

test('the publication of an organization does not wait for the pages of another, which hang', async () => {
  const never = new Promise<void>(() => {});
  const { publish, searched } = indexing(({ pages }) =>
    pages.some(({ file }) => file === 'hangs.mdx') ? never : Promise.resolve(),
  );
  await publish('acme', { 'hangs.mdx': 'x' });
  await publish('globex', { 'index.mdx': 'y' });
  await expect.poll(() => searched('globex')).toBe(contentVersion);
  expect(await searched('acme')).toBeUndefined();
});

test('many pages that hang cost no more than a few deadlines, and the pages beside them are read', async () => {
  const hung: number[] = [];
  const { publish, searched, find } = indexing(({ pages }, deadlineMs) => {
    if (!pages.some(({ file }) => file.startsWith('h'))) return Promise.resolve();
    hung.push(deadlineMs);
    return Promise.reject(new ChildTimedOut(deadlineMs));
  });
  const names = Array.from({ length: 200 }, (_, at) => (at % 16 === 0 ? `good-${at}.mdx` : `h-${at}.mdx`));
  await publish('acme', Object.fromEntries(names.map((name) => [name, 'Turquoise.'])));
  await expect.poll(() => searched('acme')).toBe(contentVersion);
  const good = names.filter((name) => name.startsWith('good')).map((name) => name.replace('.mdx', ''));
  expect((await find('acme', 'turquoise')).sort()).toEqual(good.sort());
  expect(hung.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(400_000);
});

test('an index is built again although the pages of another organization hang', async () => {
  let hangs = false;
  const never = new Promise<void>(() => {});
  const { publish, searched, searchIndex, repair } = indexing(({ pages }) =>
    hangs && pages.some(({ file }) => file === 'hangs.mdx') ? never : Promise.resolve(),
  );
  const scopes = ['acme', 'globex'].map((organization) => ({ organization, domain, contentVersion }));
  await publish('acme', { 'hangs.mdx': 'x' });
  await publish('globex', { 'index.mdx': 'y' });
  for (const scope of scopes) {
    await expect.poll(() => searched(scope.organization)).toBe(contentVersion);
    await searchIndex.remove(scope);
  }
  hangs = true;
  repair();
  await expect.poll(() => searchIndex.passageCount({ organization: 'globex', domain, contentVersion })).toBe(1);
  expect(await searchIndex.passageCount({ organization: 'acme', domain, contentVersion })).toBeUndefined();
});

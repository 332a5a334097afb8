import { readdir } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pino from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type CutRequest, readAndCut } from '#services/indexer/read-page.ts';
import { readSitePages } from '#services/indexer/site-pages.ts';
import { openStoredContent } from '#services/indexer/stored-content.ts';
import { contentAggregate } from '#shared/aggregates/content/content.ts';
import { publishContent } from '#shared/aggregates/content/decide.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import { handleCommand } from '#shared/messaging/log/handle-command.ts';
import { contentLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { randomBase62, systemClock } from '#shared/runtime/time-and-ids.ts';
import type { ElasticsearchSettings } from '#shared/search/elasticsearch/elasticsearch-connection.ts';
import { elasticsearchSearchIndex } from '#shared/search/elasticsearch/elasticsearch-search-index.ts';
import { aliasOf } from '#shared/search/elasticsearch/elasticsearch-connection.ts';
import { sqliteSearchIndex } from '#shared/search/sqlite/sqlite-search-index.ts';
import { folderObjectStore } from '#shared/storage/folder-object-store.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { seededRandom } from '../support/chaos/fault-injection.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { chaosProject, localProject } from '../support/docs-projects.ts';
import { newFolder } from '../support/new-folder.ts';
import { type RefusingProxy, refusingProxy } from '../support/refusing-proxy.ts';
import { environmentOn, startServiceProcess } from '../support/service-process.ts';
import { type ElasticsearchServer, startElasticsearch } from '../support/start-elasticsearch.ts';
import { startTestBus, type TestBus } from '../support/start-bus.ts';
import { storeProject } from '../support/stored-project.ts';
import { localChildren } from '../support/local-children.ts';

/*
 * The indexer is killed at random moments of a build, by default three times for each engine with a new seed. To choose their number, or to repeat a seed:
 *
 *   BINDERY_CHAOS_KILLS=50 BINDERY_CHAOS_SEED=7 npm run test:slow -- indexer-kills
 */
const kills = Number(process.env.BINDERY_CHAOS_KILLS ?? 3);
const seed = Number(process.env.BINDERY_CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** Longest delay of a kill for each page. A build takes longer, so that most kills hit one. */
const longestGapMsOfPage = 2;
const minuteMs = 60_000;

const scope = { organization: 'acme', domain: 'docs', contentVersion: `cv_${'1'.repeat(32)}` };
const subject = contentLogSubject(scope.organization, scope.domain);

describeWithServers(
  ['nats-server', 'elasticsearch'],
  `an indexer that is killed (seed ${seed}) while it indexes ${chaosProject.name}`,
  () => {
    const random = seededRandom(seed);
    let folder: string;
    let bus: TestBus;
    let publisher: BusOf<'publisher'>;
    let elasticsearch: ElasticsearchServer;
    let objectStore: ObjectStore;
    let pageCount: number;
    let undisturbed: Promise<void>;

    beforeAll(async () => {
      folder = newFolder();
      [bus, elasticsearch] = await Promise.all([startTestBus(), startElasticsearch()]);
      publisher = await bus.connect('publisher');
      const objects = join(folder, 'objects');
      objectStore = folderObjectStore({ folder: objects, publicBaseUrl: 'http://x' });
      const model = await storeProject(objectStore, scope, await localProject(chaosProject.folder));
      pageCount = model.pages.length;
      undisturbed = indexUndisturbed();
      // A rejection is handled where the promise is awaited.
      undisturbed.catch(() => undefined);
    }, 4 * minuteMs);
    afterAll(async () => {
      await undisturbed?.catch(() => undefined);
      await Promise.all([bus?.stop(), elasticsearch?.stop(), objectStore?.close()]);
    });

    /** Builds the index in both engines, without a second process. */
    async function indexUndisturbed(): Promise<void> {
      const signal = AbortSignal.timeout(4 * minuteMs);
      const content = await openStoredContent(objectStore, scope, signal);
      const pool = localChildren((request) => readAndCut(request as CutRequest));
      const context = { pool, slots: 1, logger: pino({ level: 'silent' }) };
      const indexes = [
        sqliteSearchIndex(join(folder, 'undisturbed')),
        elasticsearchSearchIndex(settings('undisturbed')),
      ];
      const builds = await Promise.all(indexes.map((index) => index.startBuild(scope, { signal })));
      for await (const pages of readSitePages(context, scope, content, () => true, signal))
        await Promise.all(builds.map((build) => build.add(pages)));
      await Promise.all(builds.map((build) => build.commit()));
      await Promise.all(indexes.map((index) => index.close()));
    }

    const settings = (prefix: string): ElasticsearchSettings => ({
      ...{ product: 'elasticsearch', nodes: [elasticsearch.url], prefix, shards: 1, replicas: 0 },
    });

    /** Starts indexers, kills each at a random moment after `hasBegun`, and lets the last one finish. Returns how many died before the index was complete. */
    async function indexWithKills(
      environment: Record<string, string>,
      hasBegun: (indexer: number) => Promise<boolean>,
      isIndexed: () => Promise<boolean>,
    ): Promise<number> {
      let struck = 0;
      const moments: number[] = [];
      for (let at = 0; at < kills; at += 1) {
        // The first one dies as soon as it has begun.
        const gapMs = at === 0 ? 0 : random.between(0, longestGapMsOfPage * pageCount);
        const indexer = await startIndexer(environment);
        await vi.waitUntil(async () => (await hasBegun(at)) || (await isIndexed()), {
          timeout: minuteMs,
          interval: 10,
        });
        await delay(gapMs);
        await indexer.stop('SIGKILL');
        moments.push(gapMs);
        if (await isIndexed()) break;
        struck += 1;
      }
      const last = await startIndexer(environment);
      await vi.waitUntil(isIndexed, { timeout: 2 * minuteMs, interval: 50 });
      await last.stop();
      process.stdout.write(
        `seed ${seed}: killed ${moments.join(', ')} ms after the beginning, ${struck} in the middle of it\n`,
      );
      return struck;
    }

    const startIndexer = (environment: Record<string, string>) =>
      startServiceProcess('indexer', {
        ...environmentOn(bus, folder),
        BINDERY_OBJECT_FOLDER: join(folder, 'objects'),
        BINDERY_INDEXER_PORT: '0',
        ...environment,
      });

    const searched = async () => (await publisher.content.last(subject))?.commit.data.state.searched;

    test(
      'leaves the same SQLite file, byte by byte of its rows, once another one has ended',
      async () => {
        const origin = { source: 'publisher', actor: { kind: 'key', id: 'k' } as const, causationId: 'r' };
        await handleCommand({ log: publisher.content, clock: systemClock, random: randomBase62 }, contentAggregate, {
          subject,
          decide: (state) => publishContent(state, { ...scope, pageCount, fileCount: 1, sizeBytes: 1 }),
          origin: { ...origin, correlationId: 'r' },
        });
        const files = join(folder, 'search', scope.organization, scope.domain);
        const left = async () => (await readdir(files).catch(() => [])).filter((name) => name.endsWith('.building'));
        const struck = await indexWithKills(
          { BINDERY_SEARCH_ENGINE: 'sqlite' },
          async (indexer) => (await left()).length > indexer,
          async () => (await searched()) === scope.contentVersion,
        );
        expect(struck).toBeGreaterThan(0);
        await undisturbed;
        const file = `${scope.contentVersion}.db`;
        const rows = rowsOf(join(files, file));
        expect(rows).toEqual(rowsOf(join(folder, 'undisturbed', scope.organization, scope.domain, file)));
        expect(rows['pages']?.count).toBeGreaterThan(pageCount / 4);
      },
      6 * minuteMs,
    );

    test(
      'leaves the same documents in Elasticsearch, which had lost its index',
      async () => {
        let bulks = 0;
        const proxy: RefusingProxy = await refusingProxy(elasticsearch.url, () => {
          bulks += 1;
          return 'stored';
        });
        const reader = elasticsearchSearchIndex(settings('killed'));
        let before = 0;
        let indexers = 0;
        const struck = await indexWithKills(
          {
            BINDERY_SEARCH_ENGINE: 'elasticsearch',
            BINDERY_ELASTICSEARCH_URL: proxy.url,
            BINDERY_ELASTICSEARCH_INDEX_PREFIX: 'killed',
            BINDERY_ELASTICSEARCH_REPLICAS: '0',
          },
          async (indexer) => {
            if (indexer >= indexers) [before, indexers] = [bulks, indexer + 1];
            return bulks > before;
          },
          // At first there is no index, and then an index without a shard.
          async () => (await reader.passageCount(scope).catch(() => undefined)) !== undefined,
        );
        expect(struck).toBeGreaterThan(0);
        await undisturbed;
        const documents = await documentsOf(elasticsearch.url, 'killed');
        expect(documents).toEqual(await documentsOf(elasticsearch.url, 'undisturbed'));
        expect(documents.filter((one) => one.startsWith('["page"')).length).toBeGreaterThan(pageCount / 4);
        await Promise.all([reader.close(), proxy.close()]);
      },
      6 * minuteMs,
    );
  },
);

type Rows = { count: number; digest: string };

/** Rows of each table, including those of the full-text indexes. */
function rowsOf(file: string): Record<string, Rows> {
  const db = new DatabaseSync(file, { readOnly: true });
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'");
  const rows = tables.all().map(({ name }): [string, Rows] => {
    const all = db.prepare(`SELECT * FROM "${String(name)}" ORDER BY 1`).all();
    return [String(name), { count: all.length, digest: sha256Of(JSON.stringify(all)) }];
  });
  db.close();
  return Object.fromEntries(rows);
}

/** The searched documents, one line each, without the fields that differ between two builds of the same content. */
async function documentsOf(url: string, prefix: string): Promise<string[]> {
  const alias = aliasOf({ prefix });
  await fetch(`${url}/${alias}/_refresh`, { method: 'POST' });
  type Hit = { _source: Record<string, unknown>; sort: unknown[] };
  const ask = async (body: object): Promise<Hit[]> => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${url}/${alias}/_search`, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { hits: { hits: Hit[] } }).hits.hits;
  };
  const [version] = await ask({ query: { term: { kind: 'searched' } } });
  const build = String(version?._source['build']);
  const documents: Hit[] = version === undefined ? [] : [version];
  const sort = ['kind', 'filters.path', { position: { order: 'asc', missing: 0 } }];
  const some = { size: 2_000, query: { term: { build } }, sort };
  for (let after: unknown[] | undefined; ; ) {
    const hits = await ask(after === undefined ? some : { ...some, search_after: after });
    documents.push(...hits.filter(({ _source }) => _source['kind'] !== 'searched'));
    after = hits.at(-1)?.sort;
    if (after === undefined) break;
  }
  return documents.map(({ _source: { kind, build: _, ...rest } }) =>
    JSON.stringify([kind, sha256Of(JSON.stringify(rest)), (rest['rank'] as { path?: string } | undefined)?.path]),
  );
}

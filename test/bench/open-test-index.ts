import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { elasticsearchSearchIndex } from '#shared/search/elasticsearch/elasticsearch-search-index.ts';
import type { SearchIndex } from '#shared/search/search-index.ts';
import { sqliteSearchIndex } from '#shared/search/sqlite/sqlite-search-index.ts';
import { startElasticsearch } from '../support/start-elasticsearch.ts';

export type TestIndex = {
  index: SearchIndex;
  /** The folder of the files, or the address and index of the cluster, with its process if the benchmark started it. */
  place: { folder: string } | { url: string; prefix: string; pid: number | undefined };
  end: () => Promise<void>;
};

/**
 * An empty search index of an engine: `sqlite`, `elasticsearch` (starts that of the tests), or the address of an Elasticsearch that
 * runs. `end` closes it; in an Elasticsearch that runs, an index called `bindery-bench-…` stays.
 */
export async function openTestIndex(engine: string): Promise<TestIndex> {
  if (engine === 'sqlite') {
    const folder = await mkdtemp(join(tmpdir(), 'bindery-bench-search-'));
    const index = sqliteSearchIndex(folder);
    return {
      index,
      place: { folder },
      end: () => index.close().then(() => rm(folder, { recursive: true, force: true })),
    };
  }
  const server = engine === 'elasticsearch' ? await startElasticsearch() : undefined;
  const prefix = `bindery-bench-${randomBytes(4).toString('hex')}`;
  const url = server?.url ?? engine;
  const settings = { product: 'elasticsearch', nodes: [url], prefix, shards: 1, replicas: 0 } as const;
  // Slow searches are measured, too, so the timeout is long.
  const index = elasticsearchSearchIndex({ ...settings, searchWithinMs: 60_000 });
  return {
    index,
    place: { url, prefix, pid: server?.pid },
    async end() {
      await index.close();
      await server?.stop();
    },
  };
}

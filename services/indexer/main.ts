import { briefly, childPool } from '#shared/docs/sandbox/child-pool.ts';
import { withSnapshotSoon } from '#shared/docs/sandbox/child-snapshot.ts';
import { describeConfinement, kernelConfinement } from '#shared/docs/sandbox/confinement.ts';
import { requireNativeParser } from '#shared/docs/sandbox/native-code.ts';
import { openEmbedder } from '#shared/embedding/open-embedder.ts';
import { leadByTurns } from '#shared/messaging/leases.ts';
import { type Running, type Service, startService } from '#shared/service/start-service.ts';
import { openSearchIndex } from '#shared/search/open-search-index.ts';
import type { SearchIndex } from '#shared/search/search-index.ts';
import type { IndexerConfig } from './config.ts';
import { pageReader } from './cut-pages.ts';
import { keepVectors } from './keep-vectors.ts';
import { patience } from './patience.ts';
import { readContentLog } from './read-content-log.ts';
import { keepIndexesWhole } from './repair-indexes.ts';

export { indexerSettings as settings } from './config.ts';

/** Grace period for indexing in flight at shutdown. After it, another indexer indexes the content from the start. */
const drainMs = 3_000;

/** Makes published content searchable. */
export function start(config: IndexerConfig): Promise<Running> {
  return startService('indexer', config, async (service) => {
    requireNativeParser();
    const searchIndex = await openSearchIndex(config);
    const { slots } = config;
    service.logger.info(`children that read tenants' bytes: ${describeConfinement(kernelConfinement())}`);
    const program = await withSnapshotSoon(pageReader, service.logger, service.stopping);
    const pool = childPool({ ...program, ...briefly, slots });
    const abandon = new AbortController();
    const context = { ...service, searchIndex, pool, slots, patience: patience() };
    const reading = readContentLog(context, service.stopping, abandon.signal);
    const repairing = keepIndexesWhole(context, service.stopping, abandon.signal);
    const embedding = embed(config, service, searchIndex);
    return {
      checks: { search: () => searchIndex.check('build') },
      async drain() {
        const timer = setTimeout(() => abandon.abort(new Error('The service stops.')), drainMs);
        await Promise.all([reading, repairing, embedding]);
        clearTimeout(timer);
      },
      async close() {
        await pool.close();
        await searchIndex.close();
      },
    };
  });
}

/** Makes vectors for passages while this indexer has the lease, if there is an embedder. Never rejects, and ends when the service stops. */
async function embed(config: IndexerConfig, service: Service<'indexer'>, searchIndex: SearchIndex): Promise<void> {
  const { bus, instance: holder, logger, metrics, stopping } = service;
  const embedder = await openEmbedder(config, metrics);
  const { startVectors } = searchIndex;
  if (embedder === undefined) return;
  if (startVectors === undefined) {
    logger.warn('vectors are not kept in OpenSearch: passages are searched by words alone');
    return;
  }
  const context = { bus, embedder, logger, searchIndex: { startVectors } };
  await leadByTurns(
    { leases: bus.leases, role: 'vectors', holder, logger },
    (held) => keepVectors(context, held),
    stopping,
  );
}

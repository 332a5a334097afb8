import { setTimeout as wait } from 'node:timers/promises';
import { contentLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import type { BusParts } from '#shared/messaging/bus.ts';
import { indexContent, type IndexingContext } from './index-content.ts';

type RepairContext = IndexingContext & { bus: Pick<BusParts, 'content'> };

const repairEveryMs = 20_000;

/** Makes sure, at the start and every 20 seconds, that what the content log says is searched is in the index. Ends when `stop` aborts. Never rejects. */
export async function keepIndexesWhole(context: RepairContext, stop: AbortSignal, abandon: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    try {
      await repairIndexes(context, stop, abandon);
    } catch (error) {
      if (!stop.aborted) context.logger.warn({ err: error }, 'search indexes could not be looked through');
    }
    await wait(repairEveryMs, undefined, { signal: stop, ref: false }).catch(() => undefined);
  }
}

/** Builds again, from the log, each searched version whose index is gone, was damaged, or has the shape of an earlier program. */
export async function repairIndexes(context: RepairContext, stop: AbortSignal, abandon: AbortSignal): Promise<void> {
  const { bus, searchIndex, logger } = context;
  for (const subject of await bus.content.subjects(contentLogSubject('*', '*'))) {
    if (stop.aborted) return;
    const state = (await bus.content.last(subject))?.commit.data.state;
    if (state?.searched === undefined) continue;
    const scope = { organization: state.organization, domain: state.domain, contentVersion: state.searched };
    try {
      if ((await searchIndex.passageCount(scope)) !== undefined) continue;
      logger.warn(scope, 'the index of a searched version is gone, damaged or old; it is built again');
      await indexContent(context, scope, undefined, abandon);
    } catch (error) {
      logger.error({ err: error, ...scope }, 'an index could not be built again');
    }
  }
}

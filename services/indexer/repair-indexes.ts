import { setTimeout as wait } from 'node:timers/promises';
import { contentLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import type { BusParts } from '#shared/messaging/bus.ts';
import { Poison } from '#shared/runtime/failures.ts';
import type { SearchScope } from '#shared/search/search-index.ts';
import { indexContent, type IndexingContext } from './index-content.ts';

type RepairContext = IndexingContext & { bus: Pick<BusParts, 'content'> };

const repairEveryMs = 20_000;

/**
 * Checks at the start and every 20 seconds that the versions that the content log marks as searched are in the index. Ends when `stop` aborts. Never
 * rejects.
 */
export async function keepIndexesWhole(context: RepairContext, stop: AbortSignal, abandon: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    try {
      await repairIndexes(context, stop, abandon);
    } catch (error) {
      if (!stop.aborted) context.logger.warn({ err: error }, 'search indexes could not be checked');
    }
    await wait(repairEveryMs, undefined, { signal: stop, ref: false }).catch(() => undefined);
  }
}

/**
 * Rebuilds from the log each searched version whose index is missing, damaged, or has the format of an earlier program. A version that cannot be
 * built, or whose log cannot be read, does not delay the others.
 */
export async function repairIndexes(context: RepairContext, stop: AbortSignal, abandon: AbortSignal): Promise<void> {
  const { bus, searchIndex, logger } = context;
  for (const subject of await bus.content.subjects(contentLogSubject('*', '*'))) {
    if (stop.aborted) return;
    const searched = await searchedVersion(context, subject);
    if (searched === undefined) continue;
    try {
      if ((await searchIndex.passageCount(searched)) !== undefined) continue;
      logger.warn(searched, 'the index of a searched version is gone, damaged or old; it is built again');
      await indexContent(context, searched, undefined, abandon);
    } catch (error) {
      logger.error({ err: error, ...searched }, 'an index could not be built again');
    }
  }
}

/** Also undefined when the domain's log cannot be read. */
export async function searchedVersion(
  { bus, logger }: Pick<RepairContext, 'bus' | 'logger'>,
  subject: string,
): Promise<SearchScope | undefined> {
  try {
    const { organization, domain, searched } = (await bus.content.last(subject))?.commit.data.state ?? {};
    if (organization === undefined || domain === undefined || searched === undefined) return undefined;
    return { organization, domain, contentVersion: searched };
  } catch (error) {
    if (!(error instanceof Poison)) throw error;
    logger.error({ err: error, subject }, 'the searched version is not known, so its index is not checked');
    return undefined;
  }
}

import { setTimeout as wait } from 'node:timers/promises';
import { contentLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import type { BusParts } from '#shared/messaging/bus.ts';
import { Poison } from '#shared/runtime/failures.ts';
import type { SearchScope } from '#shared/search/search-index.ts';
import { indexContent, type IndexingContext } from './index-content.ts';
import { organizationsAtOnce, type OrganizationTurns, organizationTurns, TooMuchWaits } from './organization-turns.ts';

type RepairContext = IndexingContext & { bus: Pick<BusParts, 'content'> };

const repairEveryMs = 20_000;

/**
 * Checks at the start and every 20 seconds that the versions that the content log marks as searched are in the index. A version that takes long to
 * rebuild does not delay the next check of other organizations. Ends when `stop` aborts and no rebuild is in progress. Never rejects.
 */
export async function keepIndexesWhole(context: RepairContext, stop: AbortSignal, abandon: AbortSignal): Promise<void> {
  const inTurn = organizationTurns(organizationsAtOnce, 1);
  const checks = new Set<Promise<void>>();
  while (!stop.aborted) {
    const check = repairIndexes(context, stop, abandon, inTurn)
      .catch((error: unknown) => {
        if (!stop.aborted) context.logger.warn({ err: error }, 'search indexes could not be checked');
      })
      .finally(() => checks.delete(check));
    checks.add(check);
    await wait(repairEveryMs, undefined, { signal: stop, ref: false }).catch(() => undefined);
  }
  await Promise.all(checks);
}

/**
 * Rebuilds from the log each searched version whose index is missing, damaged, or has the format of an earlier program. A version that cannot be
 * built, or whose log cannot be read, does not delay the others, and an organization whose pages hang delays no other. Organizations that have work in
 * `inTurn` already are left out.
 */
export async function repairIndexes(
  context: RepairContext,
  stop: AbortSignal,
  abandon: AbortSignal,
  inTurn: OrganizationTurns = organizationTurns(organizationsAtOnce, 1),
): Promise<void> {
  const subjects = await context.bus.content.subjects(contentLogSubject('*', '*'));
  const ofOrganizations = Map.groupBy(subjects, (subject) => subject.split('.')[1] ?? '');
  const repairs = [...ofOrganizations].map(async ([organization, own]) => {
    const work = async (): Promise<void> => {
      for (const subject of own) if (!stop.aborted) await repairIndex(context, subject, abandon);
    };
    await inTurn(organization, abandon, work).catch((error: unknown) => {
      if (!(error instanceof TooMuchWaits)) throw error;
    });
  });
  const outcomes = await Promise.allSettled(repairs);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

async function repairIndex(context: RepairContext, subject: string, abandon: AbortSignal): Promise<void> {
  const { searchIndex, logger } = context;
  const searched = await searchedVersion(context, subject);
  if (searched === undefined) return;
  try {
    if ((await searchIndex.passageCount(searched)) !== undefined) return;
    logger.warn(searched, 'the index of a searched version is missing, damaged or old; it is rebuilt');
    await indexContent(context, searched, undefined, abandon);
  } catch (error) {
    logger.error({ err: error, ...searched }, 'an index could not be rebuilt');
  }
}

/** The searched version of a domain; undefined if there is none, or its log cannot be read. */
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

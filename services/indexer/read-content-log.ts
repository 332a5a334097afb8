import { contentAggregate, type ContentCommit, type ContentEvent } from '#shared/aggregates/content/content.ts';
import { markIndexed, versionToIndex } from '#shared/aggregates/content/decide.ts';
import type { BusParts } from '#shared/messaging/bus.ts';
import { consume } from '#shared/messaging/queue/consume.ts';
import { handleCommand } from '#shared/messaging/log/handle-command.ts';
import { contentLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import type { RetryPolicy } from '#shared/runtime/retry.ts';
import type { Clock, RandomDigits } from '#shared/runtime/time-and-ids.ts';
import type { SearchScope } from '#shared/search/search-index.ts';
import { indexContent, type IndexingContext, removeContent } from './index-content.ts';
import { organizationsAtOnce, organizationTurns } from './organization-turns.ts';

type IndexerContext = IndexingContext & {
  bus: Pick<BusParts, 'content' | 'contentReader' | 'deadLetters' | 'deadLetterLog'>;
  clock: Clock;
  random: RandomDigits;
  /** Interval in which dead letters are handled again, ten minutes by default. */
  lettersAgainEveryMs?: number;
};

/** Backoff of indexing. Its upper bound limits the delay after an outage of the search engine. */
const indexingRetry: RetryPolicy = { firstPauseMs: 2_000, longestPauseMs: 15_000 };
/** Limit of deliveries. A commit that fails each time, over about ten minutes, becomes a dead letter for operators. Outages of the engine do not count. */
const mostDeliveries = 40;
/** Interval at which dead letters are handled again. Missing files may come back: the project is published again, or the object store is restored. */
const lettersAgainEveryMs = 600_000;

/** Limit of the commits of one organization that wait here or are handled. Further ones are given back to the bus. */
const mostOfOrganization = 3;
/** Commits in flight: those that are handled, and room for others while commits of some organizations wait for their turn. */
const commitsInFlight = 12;

/**
 * Keeps the search index up to date with the content log, until `stop` aborts. Commits in flight are then finished, or returned when `abandon`
 * aborts. A dead letter does not stop later publications: each commit is handled with the latest state. Organizations do not wait for each other,
 * because the pages of one may hang; the commits of one organization are handled one after the other.
 */
export async function readContentLog(context: IndexerContext, stop: AbortSignal, abandon: AbortSignal): Promise<void> {
  const { bus, logger } = context;
  const inTurn = organizationTurns(organizationsAtOnce, mostOfOrganization);
  await consume({
    service: 'indexer',
    stream: 'CONTENT',
    deadLetters: bus.deadLetters,
    deadLetterLog: bus.deadLetterLog,
    logger,
    retry: indexingRetry,
    mostDeliveries,
    againEveryMs: context.lettersAgainEveryMs ?? lettersAgainEveryMs,
    reader: await bus.contentReader(),
    slots: commitsInFlight,
    handle: (commit, _delivery, signal) =>
      inTurn(commit.data.state.organization, signal, () => handleCommit(context, commit, signal)),
    stop,
    abandon,
  });
}

/** Updates the search index to the domain's content after this commit. Idempotent. */
async function handleCommit(context: IndexerContext, commit: ContentCommit, signal: AbortSignal): Promise<void> {
  const { organization, domain } = commit.data.state;
  const current = await context.bus.content.last(contentLogSubject(organization, domain), { fromLeader: true });
  const state = current?.commit.data.state ?? commit.data.state;
  for (const contentVersion of commit.data.events.flatMap(endedBy)) {
    // A version that was deleted and published again stays.
    const isGone = !state.versions.some((version) => version.contentVersion === contentVersion);
    if (isGone) await removeContent(context, { organization, domain, contentVersion }, signal);
  }
  const contentVersion = versionToIndex(state);
  if (contentVersion === undefined) return;
  const scope = { organization, domain, contentVersion };
  const passageCount =
    (await context.searchIndex.passageCount(scope)) ?? (await indexContent(context, scope, state.searched, signal));
  await appendIndexed(context, scope, passageCount, commit);
}

function endedBy(event: ContentEvent): string[] {
  switch (event.type) {
    case 'ContentDeleted':
      return [event.data.contentVersion];
    case 'ContentsEnded':
      return event.data.contentVersions;
    case 'ContentPublished':
    case 'ContentIndexed':
    case 'ContentPromoted':
    case 'LabelRemoved':
      return [];
  }
}

async function appendIndexed(
  { bus, clock, random, logger }: IndexerContext,
  scope: SearchScope,
  passageCount: number,
  { id, correlationId, traceparent }: ContentCommit,
): Promise<void> {
  const actor = { kind: 'service', id: 'indexer' } as const;
  const { events } = await handleCommand({ log: bus.content, clock, random }, contentAggregate, {
    subject: contentLogSubject(scope.organization, scope.domain),
    decide: (state) => (state === undefined ? [] : markIndexed(state, scope.contentVersion, passageCount)),
    origin: { source: 'indexer', actor, causationId: id, correlationId, traceparent },
  });
  if (events.length > 0) logger.info({ ...scope, passageCount }, 'content is searched');
}

import type { Bus } from '#shared/bus/bus.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { evolveContent } from '#shared/content-log/evolve-content.ts';
import type { ContentCommit, ContentState } from '#shared/contracts/content-events.ts';
import { ConcurrentAppend } from '#shared/event-log/concurrent-append.ts';
import { nextCommit } from '#shared/event-log/next-commit.ts';
import { randomBase62 } from '#shared/identifiers/base62.ts';
import type { SearchScope } from '#shared/search/search-index.ts';
import { contentLogSubject } from '#shared/subjects/subject-names.ts';
import { indexed, versionToIndex } from './decide-indexing.ts';
import { indexContent, type IndexingParts, removeContent } from './index-content.ts';

export type HandlerParts = IndexingParts & { bus: Pick<Bus, 'content'>; clock: Clock };

const MAX_TRIES = 10;

/** Brings the search index to where the domain's content is after this commit. The same commit again does nothing more. */
export async function handleCommit(parts: HandlerParts, commit: ContentCommit, signal: AbortSignal): Promise<void> {
  const { organization, domain } = commit.data.state;
  const current = await parts.bus.content.last(contentLogSubject(organization, domain), { fromLeader: true });
  const state = current?.commit.data.state ?? commit.data.state;
  for (const event of commit.data.events) {
    const { contentVersion } = event.data;
    // Deleted and published again since: it stays.
    const isGone = !state.versions.some((version) => version.contentVersion === contentVersion);
    if (event.type === 'ContentDeleted' && isGone)
      await removeContent(parts, { organization, domain, contentVersion }, signal);
  }
  const contentVersion = versionToIndex(state);
  if (contentVersion === undefined) return;
  const scope = { organization, domain, contentVersion };
  const passageCount = (await parts.searchIndex.passageCount(scope)) ?? (await indexContent(parts, scope, signal));
  await appendIndexed(parts, scope, passageCount, commit);
}

async function appendIndexed(
  parts: HandlerParts,
  scope: SearchScope,
  passageCount: number,
  cause: ContentCommit,
): Promise<void> {
  const subject = contentLogSubject(scope.organization, scope.domain);
  const id = `ci_${randomBase62(22)}`;
  for (let tries = 1; ; tries += 1) {
    const previous = await parts.bus.content.last(subject, { fromLeader: true });
    if (!previous) return;
    const before = previous.commit.data.state;
    const events = indexed(before, scope.contentVersion, passageCount);
    if (events.length === 0) return;
    const time = parts.clock.now();
    const state = events.reduce<ContentState>((next, event) => evolveContent(next, event, time.toISOString()), before);
    const commit = nextCommit(subject, previous, events, state, {
      id,
      source: 'indexer',
      actor: { kind: 'service', id: 'indexer' },
      time,
      causationId: cause.id,
      correlationId: cause.correlationId,
      traceparent: cause.traceparent,
    });
    try {
      await parts.bus.content.append(commit, { sequence: previous.sequence });
      parts.logger.info({ ...scope, passageCount }, 'content is searched');
      return;
    } catch (error) {
      if (!(error instanceof ConcurrentAppend) || tries === MAX_TRIES) throw error;
    }
  }
}

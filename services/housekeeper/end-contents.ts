import type { ContentState } from '#shared/aggregates/content/content.ts';
import type { Caller } from '#shared/contracts/internal/caller.ts';
import { publisher } from '#shared/contracts/internal/publisher.ts';
import { ApiError } from '#shared/http/errors.ts';
import { callService, type ServiceAddress } from '#shared/http/internal-client.ts';
import { contentLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { nextTraceparent } from '#shared/runtime/telemetry.ts';
import type { RandomDigits } from '#shared/runtime/time-and-ids.ts';
import type { HousekeeperContext } from './context.ts';
import type { ContentId } from '#shared/contracts/identifiers.ts';

/**
 * Has the publisher end the content versions that are not needed, and answers with them. Their objects are removed in the next round, when
 * the content log says that they ended: a job that began meanwhile is seen by then.
 */
export async function endContents(context: HousekeeperContext, signal: AbortSignal): Promise<ContentId[]> {
  const { bus, clock, logger, keepObjectsMs, dryRun } = context;
  const all: ContentId[] = [];
  const since = new Date(clock.now().getTime() - keepObjectsMs);
  for (const subject of (await bus.content.subjects(contentLogSubject('*', '*'))).toSorted()) {
    signal.throwIfAborted();
    const last = await bus.content.last(subject, { fromLeader: true });
    if (last === undefined) continue;
    const state = last.commit.data.state;
    const old = unusedVersions(state, since);
    if (old.length === 0) continue;
    const { organization, domain } = state;
    const needed = await neededByJobs(context, organization, domain, since, signal);
    const ended = old.flatMap((contentVersion) =>
      needed.has(contentVersion) ? [] : { organization, domain, contentVersion },
    );
    if (ended.length === 0) continue;
    if (!dryRun) for (const content of ended) await context.endContent(content, signal);
    all.push(...ended);
    logger.info(
      { organization, domain, contents: ended.length },
      `content versions that are not needed ${dryRun ? 'would be' : 'were'} ended`,
    );
  }
  return all;
}

/** Versions that were published before `since` and are neither the latest, nor searched, nor labelled. Pure. */
export function unusedVersions(state: ContentState, since: Date): string[] {
  const used = new Set([state.latest, state.searched, ...Object.values(state.labels)]);
  return state.versions
    .filter(({ contentVersion, publishedAt }) => !used.has(contentVersion) && Date.parse(publishedAt) < since.getTime())
    .map(({ contentVersion }) => contentVersion);
}

async function neededByJobs(
  { keptJobs }: HousekeeperContext,
  organization: string,
  domain: string,
  endedSince: Date,
  signal: AbortSignal,
): Promise<Set<string>> {
  const needed = new Set<string>();
  for await (const job of keptJobs(organization, endedSince, signal)) {
    if (job.domain === domain) needed.add(job.contentVersion);
  }
  return needed;
}

/** Ends content versions through the publisher, which alone decides on content; as a service, not for a key. */
export function endContentBy(options: ServiceAddress & { random: RandomDigits }): HousekeeperContext['endContent'] {
  return async ({ organization, domain, contentVersion }, signal) => {
    const caller: Caller = {
      requestId: `hk_${options.random(22)}`,
      organization,
      domain,
      actor: { kind: 'service', id: 'housekeeper' },
      // There is no request behind this: no key, no plan, no address.
      organizationPlan: 'free',
      groupTrust: 'claimed',
      trustedGroups: [],
      address: '',
      traceparent: nextTraceparent(),
    };
    try {
      const answer = await callService(publisher.deleteContent, options, {
        caller,
        signal,
        params: { contentVersion },
      });
      await answer.json();
    } catch (error) {
      // A caller made it the latest, labelled it or deleted it just now.
      if (!(error instanceof ApiError && (error.code === 'in_use' || error.code === 'not_found'))) throw error;
    }
  };
}

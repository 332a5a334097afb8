import type { ContentState } from '#shared/aggregates/content/content.ts';
import type { Caller } from '#shared/contracts/internal/caller.ts';
import { publisher } from '#shared/contracts/internal/publisher.ts';
import { ApiError } from '#shared/http/errors.ts';
import { callService, type ServiceAddress } from '#shared/http/internal-client.ts';
import { contentLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { nextTraceparent } from '#shared/runtime/telemetry.ts';
import type { ContentId, EndContent, HousekeeperContext } from './context.ts';

type Parts = Pick<
  HousekeeperContext,
  'bus' | 'clock' | 'logger' | 'jobSources' | 'keepObjectsMs' | 'endContent' | 'dryRun'
>;

/**
 * Has the publisher end the content versions that nobody needs: its log says so then, and the next round removes their objects. Not this
 * one: a job that began meanwhile is seen by then. Answers with those versions.
 */
export async function endContents(parts: Parts, signal: AbortSignal): Promise<ContentId[]> {
  const { bus, clock, logger, keepObjectsMs } = parts;
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
    const needed = await neededByJobs(parts, organization, domain, since, signal);
    const ended = old
      .filter((contentVersion) => !needed.has(contentVersion))
      .map((contentVersion) => ({ organization, domain, contentVersion }));
    if (ended.length === 0) continue;
    if (!parts.dryRun) for (const content of ended) await parts.endContent(content, signal);
    all.push(...ended);
    logger.info(
      { organization, domain, contents: ended.length },
      `content versions that nobody needs ${parts.dryRun ? 'would be' : 'were'} ended`,
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
  { jobSources }: Parts,
  organization: string,
  domain: string,
  endedSince: Date,
  signal: AbortSignal,
): Promise<Set<string>> {
  const needed = new Set<string>();
  for (const jobs of jobSources) {
    for await (const job of jobs(organization, endedSince, signal)) {
      if (job.domain === domain) needed.add(job.contentVersion);
    }
  }
  return needed;
}

/** Ends content versions through the publisher, which alone decides on content; as a service, not for a key. */
export function askPublisher(options: ServiceAddress & { random: (length: number) => string }): EndContent {
  return async ({ organization, domain, contentVersion }, signal) => {
    const caller: Caller = {
      requestId: `hk_${options.random(22)}`,
      organization,
      domain,
      actor: { kind: 'service', id: 'housekeeper' },
      // Nothing of a request: no key, no plan, no address.
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
      // Somebody made it the latest, labelled it or deleted it just now.
      if (!(error instanceof ApiError && (error.code === 'in_use' || error.code === 'not_found'))) throw error;
    }
  };
}

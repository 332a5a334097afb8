import type { ContentState } from '#shared/aggregates/content/content.ts';
import type { Caller } from '#shared/interfaces/internal/caller.ts';
import { publisher } from '#shared/interfaces/internal/publisher.ts';
import { ApiError } from '#shared/http/errors.ts';
import { callService, type ServiceAddress } from '#shared/interfaces/internal/internal-client.ts';
import { contentLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { Unavailable } from '#shared/runtime/failures.ts';
import { newTraceparent } from '#shared/runtime/tracing.ts';
import type { RandomDigits } from '#shared/runtime/time-and-ids.ts';
import type { HousekeeperContext } from './context.ts';
import type { ContentId } from '#shared/contracts/identifiers.ts';

/**
 * Asks the publisher to end the content versions that are not needed, and returns them. Their objects are removed in the next round, when the content
 * log shows the end: a job that began meanwhile is seen by then. An organization whose versions cannot be judged or ended keeps them, and the others
 * are processed; in the end the chore rejects, or their names are in `notJudged`.
 */
export async function endContents(
  context: HousekeeperContext,
  signal: AbortSignal,
  notJudged?: Set<string>,
): Promise<ContentId[]> {
  const { bus, logger } = context;
  const all: ContentId[] = [];
  const failed: string[] = [];
  const subjects = (await bus.content.subjects(contentLogSubject('*', '*'))).toSorted();
  for (const [organization, ofOrganization] of Map.groupBy(subjects, (subject) => subject.split('.')[1] ?? '')) {
    try {
      all.push(...(await endContentsOf(context, organization, ofOrganization, signal)));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Unavailable) throw error;
      logger.error({ err: error, organization }, 'the content versions of an organization could not be ended');
      failed.push(organization);
    }
  }
  for (const organization of failed) notJudged?.add(organization);
  if (failed.length > 0 && notJudged === undefined)
    throw new Error(`The content versions of these organizations were not ended: ${failed.join(', ')}.`);
  return all;
}

async function endContentsOf(
  { bus, clock, logger, keepObjectsMs, dryRun, keptJobs, endContent }: HousekeeperContext,
  organization: string,
  subjects: readonly string[],
  signal: AbortSignal,
): Promise<ContentId[]> {
  const all: ContentId[] = [];
  const since = new Date(clock.now().getTime() - keepObjectsMs);
  const unused = new Map<string, Set<string>>();
  for (const subject of subjects) {
    signal.throwIfAborted();
    const last = await bus.content.last(subject, { fromLeader: true });
    const old = last === undefined ? [] : unusedVersions(last.commit.data.state, since);
    if (last !== undefined && old.length > 0) unused.set(last.commit.data.state.domain, new Set(old));
  }
  if (unused.size === 0) return all;
  // All domains of an organization are checked together, because each check reads all of its jobs.
  for await (const job of keptJobs(organization, since, signal)) {
    unused.get(job.domain)?.delete(job.contentVersion);
  }
  for (const [domain, contentVersions] of unused) {
    const ended = [...contentVersions].map((contentVersion) => ({ organization, domain, contentVersion }));
    if (ended.length === 0) continue;
    if (!dryRun) for (const content of ended) await endContent(content, signal);
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

/** Ends content versions through the publisher, which alone decides on content. The actor is the service, not a key. */
export function endContentBy(options: ServiceAddress & { random: RandomDigits }): HousekeeperContext['endContent'] {
  return async ({ organization, domain, contentVersion }, signal) => {
    const caller: Caller = {
      requestId: `hk_${options.random(22)}`,
      organization,
      domain,
      actor: { kind: 'service', id: 'housekeeper' },
      // The housekeeper acts without a request, so there is no key, plan or address.
      organizationPlan: 'free',
      groupTrust: 'claimed',
      trustedGroups: [],
      address: '',
      traceparent: newTraceparent(),
    };
    try {
      const answer = await callService(publisher.deleteContent, options, {
        caller,
        signal,
        params: { contentVersion },
      });
      await answer.json();
    } catch (error) {
      // A caller made the version the latest, labelled it or deleted it meanwhile.
      if (!(error instanceof ApiError && (error.code === 'in_use' || error.code === 'not_found'))) throw error;
    }
  };
}

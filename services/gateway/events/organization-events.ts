import { LRUCache } from 'lru-cache';
import type { OrganizationEvent } from '#shared/interfaces/http/events.ts';
import type { SiteDocument } from '#shared/interfaces/read-models.ts';
import type { GatewayContext } from '../context.ts';
import { changeWait, isNewer, type Revision } from '../newest-revisions.ts';
import { exportJobOf, type JobView, readJob } from '../exports/read-job.ts';
import { deploymentView } from '../sites/site-addresses.ts';

/** Number of jobs and sites whose last sent state is kept for each connection, to leave out older and equal states. */
const mostKnown = 1_000;
/** Difference of the clocks of services. A site that changed at most this time before the connection counts as changed after it. */
const clockSkewMs = 60_000;

type Following = Pick<GatewayContext, 'bus' | 'jobStatusFeed' | 'sitesFeed' | 'sitesBase' | 'clock'>;

/** Revision and commit of the state that was sent last. */
type Sent = Pick<Revision, 'revision' | 'commitId'>;

/**
 * Changed exports and deployments of an organization as server-sent events, until `signal` aborts. A slow client gets the newest state of each and misses
 * some in between. Updates of exports may get lost on the way, so jobs that run are read again every 15 seconds.
 */
export async function* organizationEvents(
  context: Following,
  organization: string,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const since = context.clock.now().toISOString();
  const jobs = new LRUCache<string, JobView>({ max: mostKnown });
  const sites = new LRUCache<string, Sent & { deployments: Map<number, string> }>({ max: mostKnown });
  /** Changes that are not sent yet, the newest state of each job and site. */
  const waiting = new Map<string, { job: JobView } | { site: SiteDocument }>();
  const changes = changeWait(signal);
  const seenJob = (job: JobView) => {
    if (!isNewer(job, jobs.get(job.state.jobId))) return;
    jobs.set(job.state.jobId, job);
    waiting.set(job.state.jobId, { job });
    changes.tell();
  };
  const seenSite = (site: SiteDocument) => {
    waiting.set(`site ${site.state.domain}`, { site });
    changes.tell();
  };
  const changesOf = (site: SiteDocument): OrganizationEvent[] => {
    const { state, revision, commitId, updatedAt } = site;
    const sent = sites.get(state.domain);
    if (!isNewer(site, sent)) return [];
    const views = state.deployments.map((each) => deploymentView(context.sitesBase, state, each));
    sites.set(state.domain, {
      ...{ revision, commitId },
      deployments: new Map(views.map((view) => [view.id, JSON.stringify(view)])),
    });
    // The feed begins with all sites, and most of them have not changed.
    if (sent === undefined && Date.parse(updatedAt) < Date.parse(since) - clockSkewMs) return [];
    return views
      .filter((view) => sent?.deployments.get(view.id) !== JSON.stringify(view))
      .map((deployment) => ({ event: 'deployment', data: { domain: state.domain, deployment } }));
  };
  const readAgain = async () => {
    const running = [...jobs.values()].filter(({ state: { phase } }) => !hasEnded(phase));
    // A failure is retried at the next heartbeat; changes arrive meanwhile.
    await Promise.allSettled(
      running.map(async ({ state }) => seenJob(await readJob(context, organization, state.jobId))),
    );
  };
  const stops = [
    context.jobStatusFeed.watchAll(organization, seenJob),
    context.sitesFeed.onChangeOfAny(organization, seenSite),
  ];
  try {
    yield asText({ event: 'following', data: { since } });
    while (!signal.aborted) {
      const [next] = waiting;
      if (next !== undefined) {
        const [key, change] = next;
        waiting.delete(key);
        const events: OrganizationEvent[] =
          'job' in change ? [{ event: 'export', data: exportJobOf(change.job) }] : changesOf(change.site);
        for (const event of events) yield asText(event);
        continue;
      }
      if (await changes.wait()) continue;
      await readAgain();
      yield ': still here\n\n';
    }
  } finally {
    for (const stop of stops) stop();
    changes.close();
  }
}

const hasEnded = (phase: JobView['state']['phase']): boolean =>
  phase === 'completed' || phase === 'failed' || phase === 'cancelled';

const asText = ({ event, data }: OrganizationEvent): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

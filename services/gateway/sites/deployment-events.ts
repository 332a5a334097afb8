import type { SiteState } from '#shared/aggregates/site/site.ts';
import type { SiteDocument } from '#shared/interfaces/read-models.ts';
import { siteKey } from '#shared/interfaces/read-models.ts';
import { siteLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { askBus } from '../ask-bus.ts';
import type { GatewayContext } from '../context.ts';
import { newestRevisions } from '../newest-revisions.ts';
import { deploymentList, deploymentView } from './site-addresses.ts';
import { listedDeployments } from './site-commands.ts';

/** A site's state at a revision. `lost`: commits that were shown before, and that the log has lost. */
type SiteAt = Pick<SiteDocument, 'state' | 'revision' | 'commitId' | 'lost'>;

/**
 * The deployments of a site as server-sent events: first `deployments` with all of them, then `deployment` for each one that is new or changed, until
 * the site is closed. A slow reader gets the newest state of each and misses some in between.
 */
export async function* deploymentEvents(
  context: Pick<GatewayContext, 'bus' | 'sitesFeed' | 'sitesBase'>,
  { organization, domain }: Pick<SiteState, 'organization' | 'domain'>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { bus, sitesFeed, sitesBase } = context;
  const sites = newestRevisions<SiteAt>(
    {
      watch: (listener) => sitesFeed.onChange(siteKey(organization, domain), listener),
      async read() {
        const last = await askBus(bus.sites.last(siteLogSubject(organization, domain), { fromLeader: true }));
        if (last === undefined) return undefined;
        const { id: commitId, revision, data } = last.commit;
        return { state: data.state, revision, commitId };
      },
    },
    signal,
  );
  /** The deployments as they were sent, by their numbers. */
  let sent: Map<number, string> | undefined;
  for await (const site of sites) {
    if (site === 'quiet') {
      yield ': still here\n\n';
      continue;
    }
    const { state, revision } = site;
    const views = state.deployments.map((each) => deploymentView(sitesBase, state, each));
    if (sent === undefined) {
      const listed = await listedDeployments(context, organization, domain);
      yield asEvent(revision, 'deployments', deploymentList(sitesBase, state, listed));
    } else
      for (const view of views)
        if (sent.get(view.id) !== JSON.stringify(view)) yield asEvent(revision, 'deployment', view);
    sent = new Map(views.map((view) => [view.id, JSON.stringify(view)]));
    if (!state.isOpen) return;
  }
}

const asEvent = (revision: number, event: string, data: object): string =>
  `id: ${revision}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

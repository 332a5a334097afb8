import type { SiteState } from '#shared/aggregates/site/site.ts';
import type { SiteDocument } from '#shared/interfaces/read-models.ts';
import { siteKey } from '#shared/interfaces/read-models.ts';
import { siteLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { askBus } from '../ask-bus.ts';
import type { GatewayContext } from '../context.ts';
import { deploymentList, deploymentView } from './site-addresses.ts';
import { listedDeployments } from './site-commands.ts';

/** A site's state at a revision. `lost`: commits that were shown before, and that the log has lost. */
type SiteAt = Pick<SiteDocument, 'state' | 'revision' | 'commitId' | 'lost'>;

/** Interval at which the site is read again and a comment keeps the connection alive. */
const heartbeatMs = 15_000;

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
  let newest: SiteAt | undefined;
  let wake = () => {};
  const seen = (site: SiteAt) => {
    const isAfterLoss = site.lost?.some(({ commitId }) => commitId === newest?.commitId) ?? false;
    if (newest !== undefined && site.revision <= newest.revision && !isAfterLoss) return;
    newest = site;
    wake();
  };
  const read = async () => {
    const last = await askBus(bus.sites.last(siteLogSubject(organization, domain), { fromLeader: true }));
    if (last === undefined) return;
    const { id: commitId, revision, data } = last.commit;
    seen({ state: data.state, revision, commitId });
  };
  const stop = sitesFeed.onChange(siteKey(organization, domain), seen);
  const onAbort = () => wake();
  signal.addEventListener('abort', onAbort);
  let heartbeat: NodeJS.Timeout | undefined;
  /** The deployments as they were sent, by their numbers. */
  let sent: Map<number, string> | undefined;
  try {
    await read();
    let shown: SiteAt | undefined;
    while (!signal.aborted) {
      if (newest !== undefined && newest !== shown) {
        shown = newest;
        const { state, revision } = shown;
        const views = state.deployments.map((each) => deploymentView(sitesBase, state, each));
        if (sent === undefined) {
          const listed = await listedDeployments(context, organization, domain);
          yield asEvent(revision, 'deployments', deploymentList(sitesBase, state, listed));
        } else
          for (const view of views)
            if (sent.get(view.id) !== JSON.stringify(view)) yield asEvent(revision, 'deployment', view);
        sent = new Map(views.map((view) => [view.id, JSON.stringify(view)]));
        if (!state.isOpen) return;
        continue;
      }
      const waited = await new Promise<'change' | 'heartbeat'>((resolve) => {
        wake = () => resolve('change');
        heartbeat = setTimeout(() => resolve('heartbeat'), heartbeatMs);
        // The site may have changed or the signal aborted while the last event was sent.
        if (signal.aborted || newest !== shown) wake();
      });
      clearTimeout(heartbeat);
      if (waited === 'change') continue;
      // A failure is retried at the next heartbeat; changes arrive meanwhile.
      await read().catch(() => {});
      yield ': still here\n\n';
    }
  } finally {
    clearTimeout(heartbeat);
    stop();
    signal.removeEventListener('abort', onAbort);
  }
}

const asEvent = (revision: number, event: string, data: object): string =>
  `id: ${revision}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

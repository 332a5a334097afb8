import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sitesBaseOf } from '#shared/interfaces/http/sites-base.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import type { DocsHostConfig } from './config.ts';
import { copiesQueue } from './copies-queue.ts';
import { deploymentQueue } from './deployment-queue.ts';
import { bundleOutcomes } from './follow-bundle.ts';
import type { DeploymentRetries } from './platform-site.ts';
import { openPlatformSites } from './platform-sites.ts';
import type { ServedSource, SourceParts } from './serve-one-site.ts';
import { type FeedTimes, followSitesFeed } from './sites-feed.ts';
import type { SitesPlatform } from './sites-settings.ts';
import { type CountTimes, sendCounts } from './send-counts.ts';
import { siteCounts } from './site-counts.ts';
import { versionLists } from './version-lists.ts';

const usualRetries: DeploymentRetries = {
  unavailable: { firstPauseMs: 1_000, longestPauseMs: 60_000 },
  refused: { firstPauseMs: 5_000, longestPauseMs: 600_000 },
};

const sweepMs = 15_000;
/** Maximum time until a host that starts without sites is ready. Bundles that do not arrive must not keep it from serving other sites. */
const firstMs = 60_000;
const lagBuckets = [0.25, 0.5, 1, 1.5, 2, 3, 5, 10, 30, 60, 300];

/** Waiting times that tests shorten. */
export type SitesTimes = {
  feed?: FeedTimes;
  retries?: DeploymentRetries;
  sweepMs?: number;
  goneMs?: number;
  firstMs?: number;
  copiesPauseMs?: number;
  counts?: CountTimes;
};

/** Serves all sites and previews of a platform. */
export async function servePlatformSites(
  platform: SitesPlatform,
  config: DocsHostConfig,
  { dataFolder, logger, signal, metrics }: SourceParts,
  times: SitesTimes = {},
): Promise<ServedSource> {
  const lists = versionLists(config.listsMegabytes * 1_000_000);
  const queue = deploymentQueue();
  const isBusy = (): boolean => queue.counts().waiting + queue.counts().running > 0;
  const copies = copiesQueue(isBusy, logger, signal, times.copiesPauseMs);
  const onOutcome = metrics.counter(
    'bindery_docs_host_bundles_total',
    'Checks for a newer bundle, by outcome.',
    'outcome',
    bundleOutcomes,
  );
  const onSwapped = metrics.histogram(
    'bindery_docs_host_deployment_lag_seconds',
    'Time from a deployment being live on the platform until this host answers from it.',
    lagBuckets,
  );
  const maxBytes = config.maxBundleMegabytes * 1_000_000;
  const tools = { platform, lists, queue, copies, logger, signal, maxBytes, onOutcome, onSwapped };
  const counts = siteCounts();
  const sites = await openPlatformSites(
    join(dataFolder, 'sites'),
    { ...tools, retries: times.retries ?? usualRetries },
    {
      trustProxy: config.trustProxy,
      counts,
      base: config.sitesBase === undefined ? undefined : sitesBaseOf(config.sitesBase),
      goneMs: times.goneMs,
    },
  );
  const sending = sendCounts(platform, counts, {
    ...{ folder: join(dataFolder, 'counts'), logger, signal, times: times.counts },
  });
  const feed = followSitesFeed(platform, sites.reader, { logger, signal, times: times.feed });
  metrics.gauge('bindery_docs_host_sites', 'Sites and previews that the host knows.', () => sites.counts().sites);
  metrics.gauge(
    'bindery_docs_host_sites_served',
    'Sites and previews with a version to answer from.',
    () => sites.counts().served,
  );
  metrics.gauge(
    'bindery_docs_host_deployments_waiting',
    'Sites whose deployment waits for others.',
    () => queue.counts().waiting,
  );
  metrics.gauge('bindery_docs_host_copies_waiting', 'Sites whose compressed copies are still to be made.', () =>
    copies.size(),
  );
  metrics.gauge('bindery_docs_host_lists_bytes', 'Memory of lists of files.', () => lists.counts().bytes);
  const { served } = sites.counts();
  if (served > 0) logger.info({ sites: served }, 'the stored sites are served');
  let isReady = served > 0;
  let wholeAt: number | undefined;

  /**
   * A host with stored sites is ready at once. An empty one is ready when it has tried to serve each site, because readers of all sites may reach it.
   */
  function missing(): string | undefined {
    if (isReady) return undefined;
    if (!feed.wasWhole()) return `no site is here, and the platform has not named any: ${feed.problem()}`;
    wholeAt ??= performance.now();
    isReady = sites.areTried() || performance.now() - wholeAt >= (times.firstMs ?? firstMs);
    const { sites: all, served: now } = sites.counts();
    return isReady ? undefined : `${now} of ${all} sites are ready so far`;
  }

  async function sweepRegularly(): Promise<void> {
    while (!signal.aborted) {
      await delay(times.sweepMs ?? sweepMs, undefined, { signal }).catch(() => {});
      await sites.sweep().catch((error: unknown) => logger.warn(`a version cannot be removed: ${messageOf(error)}`));
    }
  }

  return {
    sites: sites.hosted,
    missing,
    degraded() {
      const feedProblem = feed.problem();
      const countsProblem = sending.problem();
      const [first, ...others] = sites.problems();
      const more = others.length === 0 ? '' : ` ${others.length} more sites have a problem.`;
      return {
        ...(feedProblem !== undefined && { feed: feedProblem }),
        ...(countsProblem !== undefined && { counts: countsProblem }),
        ...(first !== undefined && { sites: `${first.site}: ${first.problem}${more}` }),
      };
    },
    follow: async () => {
      await Promise.all([feed.follow(), sites.checkAll(), sweepRegularly(), sending.follow()]);
      await sites.saved();
    },
  };
}

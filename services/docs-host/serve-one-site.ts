import type { Logger } from '#shared/runtime/telemetry.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import type { BundleOrigin, DocsHostConfig } from './config.ts';
import { bundleOutcomes, followBundle } from './follow-bundle.ts';
import { type HostedSites, oneSite } from './host-app.ts';
import { loginOf } from './login-settings.ts';
import { servedVersions } from './served-versions.ts';
import { openSiteFolder } from './site-folder.ts';
import { versionLists } from './version-lists.ts';

/** Parts of the host that its sites use. */
export type SourceParts = {
  /** Folder of the host. */
  dataFolder: string;
  logger: Logger;
  metrics: Metrics;
  /** Aborts when the host stops. */
  signal: AbortSignal;
};

/** The source of the sites that a host serves. */
export type ServedSource = {
  sites: HostedSites;
  /** The reason why the host is not ready; undefined if it is. */
  missing(): string | undefined;
  /** The reasons why newer versions are not served, by the names of features. */
  degraded(): Readonly<Record<string, string>>;
  /** Looks for newer versions until the host stops. */
  follow(): Promise<void>;
};

/** Serves one site, from the bundle that the settings name. */
export async function serveOneSite(
  origin: BundleOrigin,
  config: DocsHostConfig,
  { dataFolder, logger, signal, metrics }: SourceParts,
): Promise<ServedSource> {
  const lists = versionLists();
  const making = { base: config.basePath, deployment: config.deployment };
  const folder = await openSiteFolder(dataFolder, { making: () => making, lists, logger });
  const versions = servedVersions(folder);
  const onOutcome = metrics.counter(
    'bindery_docs_host_bundles_total',
    'Checks for a newer bundle, by outcome.',
    'outcome',
    bundleOutcomes,
  );
  const follower = followBundle(origin, config, { folder, versions, lists, logger, signal, onOutcome });
  const none =
    origin.kind === 'none'
      ? 'there is no version here, and with BINDERY_STATIC_EXPORT_ENABLED=0 none is looked for'
      : 'there is no version yet';
  const active = versions.active();
  if (active !== undefined) {
    const { label } = (await lists.of(active)).manifest;
    logger.info({ version: active.id, label }, 'the stored version is served');
  }
  return {
    sites: oneSite(versions, lists, {
      siteUrl: config.siteUrl,
      keptBy: loginOf(config).kind === 'none' ? 'public' : 'private',
    }),
    missing: () => (versions.active() === undefined ? (follower.problem() ?? none) : undefined),
    degraded() {
      const problem = follower.problem();
      return problem === undefined || versions.active() === undefined ? {} : { bundle: problem };
    },
    follow: follower.follow,
  };
}

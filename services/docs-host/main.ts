import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { redisAddressOf } from '#shared/http/redis-settings.ts';
import { endSlowClients, headerTimeouts } from '#shared/http/slow-bodies.ts';
import { withoutJsonSchemas } from '#shared/http/without-json-schemas.ts';
import { ConfigError } from '#shared/runtime/config.ts';
import { errorCode } from '#shared/runtime/failures.ts';
import { addHealthRoutes, type Health } from '#shared/runtime/health-routes.ts';
import { serviceMetrics } from '#shared/runtime/metrics.ts';
import type { Running } from '#shared/service/start-service.ts';
import { createLogger, type Logger } from '#shared/runtime/telemetry.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { FolderInUse, lockFolder } from '#shared/storage/lock-folder.ts';
import type { EndedSessions } from '#shared/login/ended-sessions.ts';
import { openEndedSessions } from '#shared/login/open-ended-sessions.ts';
import { bundleOrigin, type DocsHostConfig } from './config.ts';
import { hostApp } from './host-app.ts';
import { loginOf } from './login-settings.ts';
import { serveOneSite } from './serve-one-site.ts';
import { servePlatformSites, type SitesTimes } from './serve-platform-sites.ts';
import { portOf, sitesPlatform } from './sites-settings.ts';

export { docsHostSettings as settings } from './config.ts';

const healthStalledAfterMs = 60_000;

/**
 * Serves the documentation of one domain inside its readers' network, from a bundle, or all sites and previews of a platform. It needs no bus, no object
 * store and no other service, and serves its current versions while it looks for newer ones.
 */
export async function start(
  config: DocsHostConfig,
  logger: Logger = createLogger('docs-host', `docs-host-${randomBase62(8)}`),
  times: SitesTimes = {},
): Promise<Running> {
  const platform = sitesPlatform(config);
  const origin = platform === undefined ? bundleOrigin(config) : undefined;
  const loggerInstance: FastifyBaseLogger = logger;
  const dataFolder = join(config.dataFolder, 'docs-host');
  const lock = await lockSiteFolder(dataFolder);
  const stop = new AbortController();
  const metrics = serviceMetrics('docs-host');
  const parts = { dataFolder, logger, metrics, signal: stop.signal };
  const source =
    platform === undefined
      ? await serveOneSite(origin ?? { kind: 'none' }, config, parts)
      : await servePlatformSites(platform, config, parts, times);
  metrics.gauge('bindery_docs_host_ready', '1 if there is a version to serve.', () =>
    source.missing() === undefined ? 1 : 0,
  );
  metrics.gauge('bindery_docs_host_degraded', '1 if a newer bundle cannot be fetched.', () =>
    Object.keys(source.degraded()).length > 0 ? 1 : 0,
  );
  const health: Health = {
    checks: {
      site: async () => {
        const problem = source.missing();
        if (problem !== undefined) throw new Error(problem);
      },
    },
    draining: () => stop.signal.aborted,
    degraded: () => source.degraded(),
    metrics,
    // Readers reach the port of the sites.
    isPublic: config.healthPort === undefined,
  };
  const ended = await endedSessionsOf(config, dataFolder, logger);
  const app = hostApp(config, source.sites, logger, ended);
  const healthApp =
    config.healthPort === undefined
      ? undefined
      : Fastify({
          ...withoutJsonSchemas,
          loggerInstance,
          logController: new LogController({ disableRequestLogging: true }),
          forceCloseConnections: true,
          http: headerTimeouts,
        });
  if (healthApp !== undefined) endSlowClients(healthApp.server, { stalledAfterMs: healthStalledAfterMs });
  addHealthRoutes(healthApp ?? app, 'docs-host', health);
  const healthUrl =
    healthApp && (await listenOn(healthApp, config.host, config.healthPort ?? 0, 'BINDERY_DOCS_HOST_HEALTH_PORT'));
  const url = await listenOn(app, config.host, portOf(config), 'BINDERY_DOCS_HOST_PORT');
  const following = source.follow();
  return {
    name: 'docs-host',
    url,
    insideUrl: healthUrl ?? url,
    async stop() {
      stop.abort();
      await following;
      await app.close();
      await healthApp?.close();
      ended?.close();
      await lock.release();
    },
  };
}

/** The ended sessions, shared by all replicas of the host; undefined for one site without a login. */
async function endedSessionsOf(
  config: DocsHostConfig,
  dataFolder: string,
  logger: Logger,
): Promise<EndedSessions | undefined> {
  // A site of a platform may get a login at any time.
  if (config.sites === 'one' && loginOf(config).kind === 'none') return undefined;
  const folder = join(dataFolder, 'ended-sessions');
  return await openEndedSessions('docs-host', { redis: redisAddressOf(config), folder }, logger);
}

/** Returns the address. Rejects with `ConfigError` when the port is taken; `name` is its setting. */
async function listenOn(
  app: Pick<FastifyInstance, 'listen'>,
  host: string,
  port: number,
  name: string,
): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    if (errorCode(error) !== 'EADDRINUSE') throw error;
    throw new ConfigError(`The port ${port} is taken. Set ${name} to another one.`, { cause: error });
  }
}

/** Each host removes versions that it does not serve, so two hosts on one folder would remove each other's. */
async function lockSiteFolder(folder: string): Promise<{ release(): Promise<void> }> {
  await mkdir(folder, { recursive: true });
  return await lockFolder(folder).catch((error: unknown) => {
    if (!(error instanceof FolderInUse)) throw error;
    throw new FolderInUse(
      `Another documentation host uses ${folder}. Give each host its own folder with BINDERY_DATA, or stop the other one first.`,
    );
  });
}

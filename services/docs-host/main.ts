import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { redisAddressOf } from '#shared/http/redis-settings.ts';
import { endSlowClients, headerTimeouts } from '#shared/http/slow-bodies.ts';
import { ConfigError } from '#shared/runtime/config.ts';
import { errorCode } from '#shared/runtime/failures.ts';
import { addHealthRoutes, type Health } from '#shared/runtime/health-routes.ts';
import { serviceMetrics } from '#shared/runtime/metrics.ts';
import type { Running } from '#shared/service/start-service.ts';
import { createLogger, type Logger } from '#shared/runtime/telemetry.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { FolderInUse, lockFolder } from '#shared/storage/lock-folder.ts';
import { endedSessionsInFolder } from './ended-sessions-folder.ts';
import { type EndedSessions, endedSessions } from './ended-sessions.ts';
import { bundleOrigin, type DocsHostConfig } from './config.ts';
import { bundleOutcomes, followBundle } from './follow-bundle.ts';
import { hostApp } from './host-app.ts';
import { servedVersions } from './served-versions.ts';
import { loginOf } from './login-settings.ts';
import { openSiteFolder } from './site-folder.ts';

export { docsHostSettings as settings } from './config.ts';

const healthStalledAfterMs = 60_000;

/**
 * Serves the documentation of one domain inside its readers' network, from a bundle. It needs no bus, no object store and no other service, and
 * serves its current version while it looks for a newer one.
 */
export async function start(
  config: DocsHostConfig,
  logger: Logger = createLogger('docs-host', `docs-host-${randomBase62(8)}`),
): Promise<Running> {
  const origin = bundleOrigin(config);
  const loggerInstance: FastifyBaseLogger = logger;
  const dataFolder = join(config.dataFolder, 'docs-host');
  const lock = await lockSiteFolder(dataFolder);
  const folder = await openSiteFolder(dataFolder, config.basePath, logger, config.deployment);
  const versions = servedVersions(folder);
  const stop = new AbortController();
  const metrics = serviceMetrics('docs-host');
  const onOutcome = metrics.counter(
    'bindery_docs_host_bundles_total',
    'Checks for a newer bundle, by outcome.',
    'outcome',
    bundleOutcomes,
  );
  const follower = followBundle(origin, config, { folder, versions, logger, signal: stop.signal, onOutcome });
  metrics.gauge('bindery_docs_host_ready', '1 if there is a version to serve.', () => (versions.active() ? 1 : 0));
  metrics.gauge('bindery_docs_host_degraded', '1 if a newer bundle cannot be fetched.', () =>
    follower.problem() ? 1 : 0,
  );
  const none =
    origin.kind === 'none'
      ? 'there is no version here, and with BINDERY_STATIC_EXPORT_ENABLED=0 none is looked for'
      : 'there is no version yet';
  const health: Health = {
    checks: {
      site: async () => {
        if (versions.active() === undefined) throw new Error(follower.problem() ?? none);
      },
    },
    draining: () => stop.signal.aborted,
    degraded: () => {
      const problem = follower.problem();
      return problem === undefined || versions.active() === undefined ? {} : { bundle: problem };
    },
    metrics,
    // Readers reach the site's port.
    isPublic: config.healthPort === undefined,
  };
  const ended = await openEndedSessions(config, dataFolder, logger);
  const app = hostApp(config, versions, logger, ended);
  const healthApp =
    config.healthPort === undefined
      ? undefined
      : Fastify({
          loggerInstance,
          logController: new LogController({ disableRequestLogging: true }),
          forceCloseConnections: true,
          http: headerTimeouts,
        });
  if (healthApp !== undefined) endSlowClients(healthApp.server, { stalledAfterMs: healthStalledAfterMs });
  addHealthRoutes(healthApp ?? app, 'docs-host', health);
  const healthUrl =
    healthApp && (await listenOn(healthApp, config.host, config.healthPort ?? 0, 'BINDERY_DOCS_HOST_HEALTH_PORT'));
  const url = await listenOn(app, config.host, config.port, 'BINDERY_DOCS_HOST_PORT');
  const active = versions.active();
  if (active !== undefined)
    logger.info({ version: active.id, label: active.site.manifest.label }, 'the stored version is served');
  const following = follower.follow();
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

/** The ended sessions, shared by all replicas of the host; undefined without a login. */
async function openEndedSessions(
  config: DocsHostConfig,
  dataFolder: string,
  logger: Logger,
): Promise<EndedSessions | undefined> {
  const login = loginOf(config);
  if (login.kind === 'none') return undefined;
  const address = redisAddressOf(config);
  if (address === undefined) return endedSessions(endedSessionsInFolder(join(dataFolder, 'ended-sessions')), logger);
  // The Redis client is loaded on demand, because it takes time and memory in each process.
  const { endedSessionsInRedis } = await import('./ended-sessions-redis.ts');
  return endedSessions(await endedSessionsInRedis(address), logger);
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

import { join } from 'node:path';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { redisAddressOf } from '#shared/http/redis-settings.ts';
import { endSlowClients, headerTimeouts } from '#shared/http/slow-bodies.ts';
import { openEndedSessions } from '#shared/login/open-ended-sessions.ts';
import { ConfigError } from '#shared/runtime/config.ts';
import { errorCode } from '#shared/runtime/failures.ts';
import { addHealthRoutes, type Health } from '#shared/runtime/health-routes.ts';
import { serviceMetrics } from '#shared/runtime/metrics.ts';
import { createLogger, type Logger } from '#shared/runtime/telemetry.ts';
import { type Clock, randomBase62, systemClock } from '#shared/runtime/time-and-ids.ts';
import type { Running } from '#shared/service/start-service.ts';
import { buildConsole } from './build-console.ts';
import type { ConsoleConfig } from './config.ts';

export { consoleSettings as settings } from './config.ts';

const healthStalledAfterMs = 60_000;

/**
 * Serves the console: pages about sites, exports, keys, questions and the audit for people who signed in. It has no access to the bus or the object
 * store, and asks the gateway with the rights of the person who looks.
 */
export async function start(
  config: ConsoleConfig,
  logger: Logger = createLogger('console', `console-${randomBase62(8)}`),
  clock: Clock = systemClock,
): Promise<Running> {
  let isStopping = false;
  const folder = join(config.dataFolder, 'console', 'ended-sessions');
  const ended = await openEndedSessions('console', { redis: redisAddressOf(config), folder }, logger);
  const health: Health = {
    checks: {},
    draining: () => isStopping,
    metrics: serviceMetrics('console'),
    isPublic: config.healthPort === undefined,
  };
  const app = await buildConsole(config, {
    ended,
    logger,
    clock,
    health: config.healthPort === undefined ? health : undefined,
  });
  const healthApp = config.healthPort === undefined ? undefined : appOfHealth(health, logger);
  const healthUrl =
    healthApp && (await listenOn(healthApp, config.host, config.healthPort ?? 0, 'BINDERY_CONSOLE_HEALTH_PORT'));
  const url = await listenOn(app, config.host, config.port, 'BINDERY_CONSOLE_PORT');
  return {
    name: 'console',
    url,
    insideUrl: healthUrl ?? url,
    async stop() {
      isStopping = true;
      await app.close();
      await healthApp?.close();
      ended.close();
    },
  };
}

function appOfHealth(health: Health, logger: Logger): FastifyInstance {
  const loggerInstance: FastifyBaseLogger = logger;
  const app = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
    http: headerTimeouts,
  });
  endSlowClients(app.server, { stalledAfterMs: healthStalledAfterMs });
  addHealthRoutes(app, 'console', health);
  return app;
}

/** Returns the address. Rejects with `ConfigError` when the port is taken; `name` is its setting. */
async function listenOn(app: FastifyInstance, host: string, port: number, name: string): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    if (errorCode(error) !== 'EADDRINUSE') throw error;
    throw new ConfigError(`The port ${port} is taken. Set ${name} to another one.`, { cause: error });
  }
}

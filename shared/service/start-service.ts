import { setTimeout as delay } from 'node:timers/promises';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { endSlowClients, headerTimeouts } from '#shared/http/slow-bodies.ts';
import { withoutJsonSchemas } from '#shared/http/without-json-schemas.ts';
import type { BusConnection, BusOf, BusParts } from '#shared/messaging/bus.ts';
import { countDeadLetters } from '#shared/messaging/queue/count-dead-letters.ts';
import { connectBus } from '#shared/messaging/nats/connect-bus.ts';
import type { BusUser } from '#shared/messaging/subjects/subject-table.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { type ObjectStoreConfig, openObjectStore } from '#shared/storage/open-object-store.ts';
import type { serviceSettings } from './common-settings.ts';
import type { ConfigOf } from '#shared/runtime/config.ts';
import { addHealthRoutes, type Health, type ReadinessChecks } from '#shared/runtime/health-routes.ts';
import { type Metrics, serviceMetrics } from '#shared/runtime/metrics.ts';
import { createLogger, type Logger } from '#shared/runtime/telemetry.ts';
import { type Clock, randomBase62, type RandomDigits } from '#shared/runtime/time-and-ids.ts';

/** Everything that a service gets at its start: its identity, its parts of the bus, the object store, and the signal to stop. */
export type Service<Name extends BusUser> = {
  name: Name;
  /** Name of this process, as holder of leases and source of commits and facts. */
  instance: string;
  logger: Logger;
  metrics: Metrics;
  bus: BusOf<Name>;
  objectStore: ObjectStore;
  clock: Clock;
  random: RandomDigits;
  /** Checks of the bus and the object store. */
  checks: ReadinessChecks;
  draining: () => boolean;
  /** Aborts when the service is told to stop. */
  stopping: AbortSignal;
};

/** The parts of one particular service. */
export type ServiceParts = {
  /**
   * The service's HTTP server, with the health routes, or a function that makes it with the health of a reader of logs. If absent, a server with only
   * these routes is started.
   */
  app?: FastifyInstance | ((health: Health) => FastifyInstance);
  /** A second server with the health routes, for a service whose `app` clients can reach. */
  inside?: { at: { host: string; port: number }; health: Health };
  /** Readiness checks in addition to the bus and the object store. */
  checks?: ReadinessChecks;
  /**
   * Time for which the service continues as before after the signal to stop, except that `/readyz` fails, so that load balancers send it no
   * new requests.
   */
  lingerMs?: number;
  /** Lets work in flight finish within a grace period of a few seconds. The server still answers meanwhile. */
  drain?: () => Promise<void>;
  /** Closes the resources that `open` opened, after the server. */
  close?: () => Promise<void>;
};

/** A started service. */
export type Running = {
  name: string;
  /** Base address of its HTTP server. */
  url: string;
  /** Base address of the server that has `/metrics`: the same, unless clients can reach it. */
  insideUrl: string;
  /** Lets work in flight finish within a grace period of a few seconds, releases leases, and closes the connections. */
  stop(): Promise<void>;
};

/** Connects a service, opens its parts, and listens. `stop` does the reverse in the opposite order. */
export async function startService<Name extends BusUser>(
  name: Name,
  config: ConfigOf<ReturnType<typeof serviceSettings>> & ObjectStoreConfig,
  open: (service: Service<Name>) => Promise<ServiceParts>,
): Promise<Running> {
  const instance = `${name}-${randomBase62(8)}`;
  const logger = createLogger(name, instance);
  const { natsUrl, natsPassword: password } = config;
  const bus = await connectBus({ service: name, instance, url: natsUrl, password, log: logger });
  const { clock } = bus;
  const objectStore = await openObjectStore(config, clock);
  const stop = new AbortController();
  const checks = { bus: () => bus.check(), 'object store': () => objectStore.check() };
  let isLeaving = false;
  const draining = () => isLeaving;
  const metrics = serviceMetrics(name);
  measureBus(metrics, bus);
  const tools = { logger, metrics, clock, random: randomBase62 };
  const parts = await open({ ...tools, name, instance, bus, objectStore, checks, draining, stopping: stop.signal });
  const setAside =
    'deadLetters' in bus
      ? countDeadLetters(bus.deadLetters as BusParts['deadLetters'], name, logger, stop.signal)
      : () => 0;
  metrics.gauge(
    'bindery_messages_set_aside',
    'Dead letters of the service, which "bindery dead list" shows.',
    setAside,
  );
  const health = { checks: { ...checks, ...parts.checks }, draining, setAside, metrics };
  const app = typeof parts.app === 'function' ? parts.app(health) : (parts.app ?? healthApp(name, logger, health));
  const url = await app.listen({ host: config.host, port: config.port });
  const inside = parts.inside && healthApp(name, logger, parts.inside.health);
  const insideUrl = (await inside?.listen({ ...parts.inside?.at })) ?? url;
  return {
    name,
    url,
    insideUrl,
    async stop() {
      isLeaving = true;
      await delay(parts.lingerMs ?? 0);
      stop.abort();
      await parts.drain?.();
      await closeServer(app);
      if (inside !== undefined) await closeServer(inside);
      await parts.close?.();
      await objectStore.close();
      await bus.close();
    },
  };
}

function measureBus(metrics: Metrics, bus: Pick<BusConnection, 'traffic'>): void {
  metrics.gauge('bindery_bus_connected', '1 while the service is connected to the bus.', () =>
    Number(bus.traffic().connected),
  );
  metrics.total('bindery_bus_disconnects_total', 'Connections to the bus that were lost.', 'bus', () => ({
    nats: bus.traffic().disconnects,
  }));
  metrics.total('bindery_bus_messages_total', 'Messages over the connection to the bus.', 'direction', () => {
    const { messagesIn, messagesOut } = bus.traffic();
    return { in: messagesIn, out: messagesOut };
  });
  metrics.total('bindery_bus_bytes_total', 'Bytes over the connection to the bus.', 'direction', () => {
    const { bytesIn, bytesOut } = bus.traffic();
    return { in: bytesIn, out: bytesOut };
  });
}

function healthApp(name: string, logger: Logger, health: Health): FastifyInstance {
  const loggerInstance: FastifyBaseLogger = logger;
  const app = Fastify({
    ...withoutJsonSchemas,
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
    http: headerTimeouts,
  });
  endSlowClients(app.server, { stalledAfterMs: healthStalledAfterMs });
  addHealthRoutes(app, name, health);
  return app;
}

/** Timeout of stalled requests for health or metrics, whose clients read the answer at once. */
const healthStalledAfterMs = 60_000;

const graceMs = 5_000;

/** Stops listening, lets requests in flight finish, and closes the remaining connections after `graceMs`. */
async function closeServer(app: FastifyInstance): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), graceMs);
  try {
    await app.close();
  } finally {
    clearTimeout(timer);
  }
}

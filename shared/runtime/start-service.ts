import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { BusOf, BusParts } from '#shared/messaging/bus.ts';
import { countDeadLetters } from '#shared/messaging/count-dead-letters.ts';
import { connectBus } from '#shared/messaging/nats/connect-bus.ts';
import type { BusUser } from '#shared/messaging/subjects/subject-table.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { type ObjectStoreConfig, openObjectStore } from '#shared/storage/open-object-store.ts';
import type { serviceSettings } from './common-settings.ts';
import type { ConfigOf } from './config.ts';
import { addHealthRoutes, type ReadinessChecks } from './health-routes.ts';
import { createLogger, type Logger } from './telemetry.ts';
import { type Clock, randomBase62, type RandomDigits, systemClock } from './time-and-ids.ts';

/** What every service is given: who it is, its parts of the bus, the object store, and when to stop. */
export type Service<Name extends BusUser> = {
  name: Name;
  /** Names this process: holder of leases, source of commits and facts. */
  instance: string;
  logger: Logger;
  bus: BusOf<Name>;
  objectStore: ObjectStore;
  clock: Clock;
  random: RandomDigits;
  /** Whether the bus and the object store can be used. */
  checks: ReadinessChecks;
  draining: () => boolean;
  /** Aborts when the service is told to stop. */
  stopping: AbortSignal;
};

/** What is special about one service. */
export type ServiceParts = {
  /** Its HTTP server, with the health routes; absent: one that has these alone. */
  app?: FastifyInstance;
  /** What it needs to be of use beside the bus and the object store. */
  checks?: ReadinessChecks;
  /** Lets work in hand end, for a few seconds at most. The server still answers meanwhile. */
  drain?: () => Promise<void>;
  /** Closes what `open` opened, after the server. */
  close?: () => Promise<void>;
};

/** A started service. */
export type Running = {
  name: string;
  /** Base address of its HTTP server. */
  url: string;
  /** Lets what is in hand finish (a few seconds at most), gives leases back, and closes the connections. */
  stop(): Promise<void>;
};

/** Connects a service, opens its parts, and listens. `stop` goes the same way back. */
export async function startService<Name extends BusUser>(
  name: Name,
  config: ConfigOf<ReturnType<typeof serviceSettings>> & ObjectStoreConfig,
  open: (service: Service<Name>) => Promise<ServiceParts>,
): Promise<Running> {
  const instance = `${name}-${randomBase62(8)}`;
  const logger = createLogger(name, instance);
  const { natsUrl: url, natsPassword: password } = config;
  const bus = await connectBus({ service: name, instance, url, password, log: logger });
  const objectStore = await openObjectStore(config);
  const stop = new AbortController();
  const checks = { bus: () => bus.check(), 'object store': () => objectStore.check() };
  const draining = () => stop.signal.aborted;
  const service = { name, instance, logger, bus, objectStore, clock: systemClock, random: randomBase62, checks };
  const parts = await open({ ...service, draining, stopping: stop.signal });
  const setAside =
    'deadLetters' in bus
      ? countDeadLetters(bus.deadLetters as BusParts['deadLetters'], name, logger, stop.signal)
      : () => 0;
  const app = parts.app ?? healthApp(name, logger, { ...checks, ...parts.checks }, { draining, setAside });
  const address = await app.listen({ host: config.host, port: config.port });
  return {
    name,
    url: address,
    async stop() {
      stop.abort();
      await parts.drain?.();
      await closeServer(app);
      await parts.close?.();
      await objectStore.close();
      await bus.close();
    },
  };
}

function healthApp(
  name: string,
  logger: Logger,
  checks: ReadinessChecks,
  { draining, setAside }: { draining: () => boolean; setAside: () => number },
): FastifyInstance {
  const loggerInstance: FastifyBaseLogger = logger;
  const app = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
  });
  addHealthRoutes(app, name, { checks, draining, setAside });
  return app;
}

const graceMs = 5_000;

/** Stops listening, lets requests that are being answered finish, and cuts off those that are not done after `graceMs`. */
async function closeServer(app: FastifyInstance): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), graceMs);
  try {
    await app.close();
  } finally {
    clearTimeout(timer);
  }
}

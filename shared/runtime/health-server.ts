import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Logger } from './telemetry.ts';
import { withDeadline } from './with-deadline.ts';

/** What a service needs to be of use, by name: each rejects with the reason when it is missing. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<void>>>;

const readinessDeadlineMs = 2_000;

/** Adds `/livez` (the process runs) and `/readyz` (200, or 503 with what is missing) to a server. */
export function addHealthRoutes(
  app: FastifyInstance,
  service: string,
  checks: ReadinessChecks,
  draining: () => boolean,
): void {
  app.get('/livez', { logLevel: 'silent' }, () => ({ service, live: true }));
  app.get('/readyz', { logLevel: 'silent' }, async (_request, reply) => {
    const missing: Record<string, string> = draining() ? { [service]: 'is stopping' } : {};
    await Promise.all(
      Object.entries(checks).map(async ([name, check]) => {
        const problem = await outcome(check);
        if (problem !== undefined) missing[name] = problem;
      }),
    );
    const ready = Object.keys(missing).length === 0;
    return reply.code(ready ? 200 : 503).send({ service, ready, missing });
  });
}

/** The HTTP server of a service that takes no calls. */
export function healthApp(
  service: string,
  logger: Logger,
  checks: ReadinessChecks,
  draining: () => boolean,
): FastifyInstance {
  const loggerInstance: FastifyBaseLogger = logger;
  const app = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
  });
  addHealthRoutes(app, service, checks, draining);
  return app;
}

async function outcome(check: () => Promise<void>): Promise<string | undefined> {
  const late = () => new Error(`did not answer within ${readinessDeadlineMs} ms`);
  return await withDeadline(check(), readinessDeadlineMs, late).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

const graceMs = 5_000;

/** Stops listening, lets requests that are being answered finish, and cuts off those that are not done after `graceMs`. */
export async function closeServer(app: FastifyInstance, withinMs = graceMs): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), withinMs);
  try {
    await app.close();
  } finally {
    clearTimeout(timer);
  }
}

/** A started service. `stop` lets what is in hand finish (at most a few seconds), gives leases back and ends connections. */
export type Running = {
  name: string;
  /** Base address of its HTTP server. */
  url: string;
  stop(): Promise<void>;
};

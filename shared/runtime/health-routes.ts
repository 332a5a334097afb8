import type { FastifyInstance } from 'fastify';
import { messageOf } from './failures.ts';
import { addMetricsRoute, type Metrics } from './metrics.ts';
import { traceRequests, tracingOf } from './tracing.ts';
import { withDeadline } from './with-deadline.ts';

/** What a service needs to be of use, by name: each rejects with the reason when it is missing. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<void>>>;

const readinessDeadlineMs = 2_000;

export type Health = {
  checks: ReadinessChecks;
  /**
   * What only a part of its work needs, in the same way. Without it the service is degraded and as ready as before: all copies lack it at the
   * same time, and nobody would be left who answers the rest.
   */
  partChecks?: ReadinessChecks;
  draining: () => boolean;
  /** How many messages the service has set aside. */
  setAside?: () => number;
  /** What works less well than it should, by name, as sentences. */
  degraded?: () => Readonly<Record<string, string>>;
  /** Measures the server's requests. */
  metrics: Metrics;
  /** Clients reach the server, so `/metrics` is left to another one. */
  isPublic?: boolean;
};

/**
 * Adds `/livez` (the process runs), `/readyz` (200, or 503 with what is missing) and `/metrics` to a server that has no routes yet. What is set
 * aside or degraded is said in `/readyz`, too, and makes the service no less ready.
 */
export function addHealthRoutes(
  app: FastifyInstance,
  service: string,
  { checks, partChecks = {}, draining, setAside = () => 0, degraded = () => ({}), metrics, isPublic = false }: Health,
): void {
  metrics.observeRequests(app);
  traceRequests(app, tracingOf(service));
  if (!isPublic) addMetricsRoute(app, metrics);
  app.get('/livez', { logLevel: 'silent' }, () => ({ service, live: true }));
  app.get('/readyz', { logLevel: 'silent' }, async (_request, reply) => {
    const [missing, lesser] = await Promise.all([problemsOf(checks), problemsOf(partChecks)]);
    if (draining()) missing[service] = 'is stopping';
    const ready = Object.keys(missing).length === 0;
    return reply
      .code(ready ? 200 : 503)
      .send({ service, ready, missing, degraded: { ...degraded(), ...lesser }, setAside: setAside() });
  });
}

/** By the names of checks. */
async function problemsOf(checks: ReadinessChecks): Promise<Record<string, string>> {
  const problems = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => ({ name, problem: await problemOf(check) })),
  );
  return Object.fromEntries(problems.flatMap(({ name, problem }) => (problem === undefined ? [] : [[name, problem]])));
}

function problemOf(check: () => Promise<void>): Promise<string | undefined> {
  const late = () => new Error(`did not answer within ${readinessDeadlineMs} ms`);
  return withDeadline(check(), readinessDeadlineMs, late).then(() => undefined, messageOf);
}

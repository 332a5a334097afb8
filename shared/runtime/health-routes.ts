import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { messageOf } from './failures.ts';
import { addMetricsRoute, type Metrics } from './metrics.ts';
import { programVersion } from './program-version.ts';
import { traceRequests, tracingOf } from './tracing.ts';
import { withDeadline } from './with-deadline.ts';

/** Checks of a service's dependencies, by name. Each rejects with the reason when its dependency is unavailable. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<void>>>;

const readinessDeadlineMs = 2_000;

export type Health = {
  checks: ReadinessChecks;
  /**
   * Checks of dependencies that only a part of the work needs. If one fails, the service is degraded but still ready: all copies lack the
   * dependency at the same time, and none would be left for the other work.
   */
  partChecks?: ReadinessChecks;
  draining: () => boolean;
  /** Number of the service's dead letters. */
  setAside?: () => number;
  /** Sentences about features that work less well than they should, by name. */
  degraded?: () => Readonly<Record<string, string>>;
  /** Metrics that measure the server's requests. */
  metrics: Metrics;
  /** True if clients can reach the server. Then `/metrics` is served elsewhere. */
  isPublic?: boolean;
};

/** Body of `/readyz`. Earlier versions, and servers that clients reach, do not tell their version. */
export const readinessSchema = z.object({
  service: z.string(),
  ready: z.boolean(),
  version: z.string().optional(),
  /** The reasons for which the service is not ready, by the names of checks. */
  missing: z.record(z.string(), z.string()),
  degraded: z.record(z.string(), z.string()).default({}),
  setAside: z.number().default(0),
});

export type Readiness = z.output<typeof readinessSchema>;

/** Runs the checks of a service. Each has two seconds. Never rejects. */
export async function readinessOf(
  service: string,
  { checks, partChecks = {}, draining, setAside = () => 0, degraded = () => ({}) }: Omit<Health, 'metrics'>,
): Promise<Readiness> {
  const [missing, lesser] = await Promise.all([problemsOf(checks), problemsOf(partChecks)]);
  if (draining()) missing[service] = 'is stopping';
  const ready = Object.keys(missing).length === 0;
  return { service, ready, missing, degraded: { ...degraded(), ...lesser }, setAside: setAside() };
}

/**
 * Adds `/livez` (the process runs), `/readyz` (200, or 503 with the failed checks) and `/metrics` to a server that has no routes yet.
 * `/readyz` also lists dead letters and degraded features, which do not make the service unready.
 */
export function addHealthRoutes(app: FastifyInstance, service: string, health: Health): void {
  const { metrics, isPublic = false } = health;
  metrics.observeRequests(app);
  traceRequests(app, tracingOf(service));
  if (!isPublic) addMetricsRoute(app, metrics);
  app.get('/livez', { logLevel: 'silent' }, () => ({ service, live: true }));
  app.get('/readyz', { logLevel: 'silent' }, async (_request, reply) => {
    const readiness = await readinessOf(service, health);
    return reply
      .code(readiness.ready ? 200 : 503)
      .send({ ...readiness, ...(!isPublic && { version: programVersion }) });
  });
}

/** The reasons of failed checks, by the names of the checks. */
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

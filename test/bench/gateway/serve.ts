/*
 * Runs one server of the benchmark in a separate process: the gateway, or a bare Fastify route that answers with the same bytes. It reports its port,
 * and on request its processor time and memory.
 */
import { jetstream } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { connect } from '@nats-io/transport-node';
import Fastify from 'fastify';
import { publicRoutes } from '#services/gateway/build-gateway.ts';
import { gatewaySettings } from '#services/gateway/config.ts';
import { exportJobOf, readJob } from '#services/gateway/exports/read-job.ts';
import { start } from '#services/gateway/main.ts';
import { publicRoute, type PublicRoute } from '#services/gateway/public-route.ts';
import { perHour } from '#services/gateway/rate-limits.ts';
import { exportJobSchema, toExportJob } from '#shared/interfaces/http/exports.ts';
import { inGeneration, type JobStatusDocument, jobStatusKey } from '#shared/interfaces/read-models.ts';
import { readModelTable } from '#shared/messaging/read-models.ts';
import { inboxPrefix } from '#shared/messaging/subjects/permissions.ts';
import { loadConfig } from '#shared/runtime/config.ts';
import { jobParams, type Served, type ServeOptions, statusPath } from './servers.ts';

/** Route for the status of an export, with a rate limit, which real routes that only read do not have. */
const limitedStatus: PublicRoute = publicRoute(
  {
    id: 'getLimitedExport',
    method: 'GET',
    path: statusPath,
    summary: 'Status of an export.',
    key: 'admin',
    params: jobParams,
    limits: [perHour('bench', 1_000_000_000)],
    answer: exportJobSchema,
    undocumented: true,
  },
  async (context, { principal, params }) => exportJobOf(await readJob(context, principal.organization, params.jobId)),
);

async function gateway(environment: Record<string, string>): Promise<number> {
  const running = await start(loadConfig(gatewaySettings, environment), [...publicRoutes, limitedStatus]);
  return Number(new URL(running.url).port);
}

async function bareRoute({ natsUrl, natsPassword, organization }: ServeOptions): Promise<number> {
  const connection = await connect({
    servers: natsUrl,
    user: 'gateway',
    pass: natsPassword,
    inboxPrefix: inboxPrefix('gateway'),
  });
  const bucket = inGeneration(readModelTable.jobStatus.bucket, 'blue');
  const documents = await new Kvm(jetstream(connection)).open(bucket, { allow_direct: true });
  const app = Fastify();
  app.get<{ Params: { jobId: string } }>(statusPath, async ({ params }) => {
    const entry = await documents.get(jobStatusKey(organization, params.jobId));
    if (entry === null) throw new Error(`There is no ${params.jobId}.`);
    const { state, revision, updatedAt } = entry.json<JobStatusDocument>();
    return toExportJob(state, revision, updatedAt);
  });
  return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port);
}

const say = (served: Served): void => void process.send?.(served);

process.on('message', () => {
  globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  say({ cpuSeconds: (user + system) / 1e6, residentBytes: process.memoryUsage().rss });
});
process.on('disconnect', () => process.exit(0));

const options = JSON.parse(process.env.SERVE ?? '{}') as ServeOptions;
say({ port: await (options.role === 'gateway' ? gateway(options.environment) : bareRoute(options)) });

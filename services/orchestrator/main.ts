import { rendererVersion } from '#shared/docs/render/renderer-version.ts';
import { logWithArchive } from '#shared/messaging/log/archived-jobs.ts';
import { leadByTurns } from '#shared/messaging/leases.ts';
import { type Running, startService } from '#shared/service/start-service.ts';
import type { OrchestratorConfig } from './config.ts';
import type { OrchestratorContext } from './context.ts';
import { lead } from './lead.ts';
import { measureExports } from './measure-exports.ts';
import { orchestratorApp } from './orchestrator-app.ts';
import { planMaker } from './plan-maker.ts';
import { workerPool } from './worker-pool.ts';

export { orchestratorSettings as settings } from './config.ts';

/** Time without a renderer of a version after which its jobs are planned again. Renderers restart in less, and the deadline of an export is much longer. */
const rendererGoneAfterMs = 30_000;
/** Time after which an unclaimed task is redispatched as a new attempt, if a worker is idle. */
const taskLostAfterMs = 30_000;

/** Time limit of a refusal, longer than a store takes to restart. */
const refusedForMs = 6 * 60_000;

/** Decides on exports while it has the lease; until then it waits as a spare. */
export function start(config: OrchestratorConfig): Promise<Running> {
  return startService('orchestrator', config, async (service) => {
    const { objectStore, clock, instance, logger, metrics, stopping } = service;
    const [renderers, bundlers] = [workerPool(clock), workerPool(clock)];
    const bus = { ...service.bus, exports: logWithArchive(service.bus.exports, objectStore) };
    const context: OrchestratorContext = {
      ...service,
      bus,
      rendererVersion: await rendererVersion(),
      renderers,
      bundlers,
      measures: measureExports(metrics, { 'page-renderer': renderers, bundler: bundlers }, clock),
      plans: planMaker(),
      taskLostAfterMs,
      rendererGoneAfterMs,
      refusedForMs,
      exportDeadlineMs: config.exportDeadlineMinutes * 60_000,
    };
    // A spare also watches the workers, so that it can hand out tasks as soon as it leads.
    const unwatch = [
      bus.presence.watch('page-renderer', (report) => context.renderers.heard(report)),
      bus.presence.watch('bundler', (report) => context.bundlers.heard(report)),
    ];
    const role = { leases: bus.leases, role: 'orchestrator', holder: instance, logger };
    const leading = leadByTurns(role, (signal) => lead(context, signal), stopping);
    const callerTokens = { gateway: config.gatewayToken };
    return {
      app: (health) => orchestratorApp(context, { ...health, callerTokens, logger }),
      async drain() {
        await leading;
        for (const end of unwatch) end();
        await context.plans.close();
      },
    };
  });
}

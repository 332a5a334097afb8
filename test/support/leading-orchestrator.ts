import pino from 'pino';
import type { OrchestratorContext } from '#services/orchestrator/context.ts';
import { lead } from '#services/orchestrator/lead.ts';
import { measureExports } from '#services/orchestrator/measure-exports.ts';
import { planMaker } from '#services/orchestrator/plan-maker.ts';
import { workerPool } from '#services/orchestrator/worker-pool.ts';
import { rendererVersion } from '#shared/docs/render/renderer-version.ts';
import { logWithArchive } from '#shared/messaging/log/archived-jobs.ts';
import { leadByTurns } from '#shared/messaging/leases.ts';
import { serviceMetrics } from '#shared/runtime/metrics.ts';
import { type Clock, randomBase62, systemClock } from '#shared/runtime/time-and-ids.ts';
import { folderObjectStore } from '#shared/storage/folder-object-store.ts';
import type { ExportHarness } from './export-harness.ts';
import { memoryBus } from './memory-bus.ts';

type Line = { msg: string; jobId?: string };

export type LeadingOrchestrator = {
  /** Log lines of the orchestrator, oldest first. */
  said: Line[];
  /** The renderers that it knows from their presence. */
  renderers: OrchestratorContext['renderers'];
  /** Resolves when its log has this line. */
  whenSaid: (msg: string) => Promise<void>;
  stop(): Promise<void>;
};

/** A context with a memory bus and a store without objects, at 11:00 on 1 March 2026. */
export function orchestratorContext({
  readObject = async () => undefined,
  ...changes
}: Partial<OrchestratorContext> & {
  readObject?: (key: string) => Promise<Buffer | undefined>;
} = {}): OrchestratorContext {
  const clock = { now: () => new Date('2026-03-01T11:00:00.000Z') };
  const store = folderObjectStore({
    ...{ folder: '/nowhere', publicBaseUrl: 'http://x.test', clock },
  });
  return {
    bus: memoryBus(),
    objectStore: { ...store, get: readObject },
    clock,
    logger: pino({ level: 'silent' }),
    random: (length) => 'r'.repeat(length),
    instance: 'orchestrator-test',
    rendererVersion: 'r-0123456789ab',
    ...pools(clock),
    ...times,
    ...changes,
  };
}

function pools(clock: Clock): Pick<OrchestratorContext, 'renderers' | 'bundlers' | 'measures' | 'plans'> {
  const [renderers, bundlers] = [workerPool(clock), workerPool(clock)];
  const workers = { 'page-renderer': renderers, bundler: bundlers };
  const measures = measureExports(serviceMetrics('orchestrator'), workers, clock);
  return { renderers, bundlers, measures, plans: planMaker() };
}

const times = { taskLostAfterMs: 30_000, rendererGoneAfterMs: 30_000, refusedForMs: 360_000, exportDeadlineMs: 60_000 };

/**
 * An orchestrator as the service starts it, with times that a test sets. `vanishes`: true if it stops without releasing its lease, like a process
 * that was killed.
 */
export async function leadingOrchestrator(
  harness: Pick<ExportHarness, 'bus' | 'objectStore'>,
  { vanishes = false, ...changes }: Partial<OrchestratorContext> & { vanishes?: boolean } = {},
): Promise<LeadingOrchestrator> {
  const instance = `orchestrator-${randomBase62(8)}`;
  const bus = await harness.bus.connect('orchestrator', instance);
  const said: Line[] = [];
  const listeners = new Set<() => void>();
  const hear = (line: string): void => {
    said.push(JSON.parse(line) as Line);
    for (const listener of listeners) listener();
  };
  const context: OrchestratorContext = {
    bus: { ...bus, exports: logWithArchive(bus.exports, harness.objectStore) },
    objectStore: harness.objectStore,
    clock: systemClock,
    logger: pino({ level: 'info' }, { write: hear }),
    random: randomBase62,
    instance,
    rendererVersion: await rendererVersion(),
    ...pools(systemClock),
    ...times,
    ...changes,
  };
  const unwatch = [
    bus.presence.watch('page-renderer', (report) => context.renderers.heard(report)),
    bus.presence.watch('bundler', (report) => context.bundlers.heard(report)),
  ];
  const leases: typeof bus.leases = {
    acquire: async (role, holder, signal) => {
      const lease = await bus.leases.acquire(role, holder, signal);
      return vanishes ? { lost: lease.lost, release: async () => {} } : lease;
    },
  };
  const stop = new AbortController();
  const role = { leases, role: 'orchestrator', holder: instance, logger: context.logger };
  const leading = leadByTurns(role, (signal) => lead(context, signal), stop.signal);
  return {
    said,
    renderers: context.renderers,
    whenSaid: (msg) =>
      new Promise((resolve) => {
        const listener = () => {
          if (!said.some((line) => line.msg === msg)) return;
          listeners.delete(listener);
          resolve();
        };
        listeners.add(listener);
        listener();
      }),
    async stop() {
      stop.abort();
      await leading;
      for (const end of unwatch) end();
      await context.plans.close();
      await bus.close();
    },
  };
}

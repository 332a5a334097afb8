import type { ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import type { Clock } from '#shared/runtime/time-and-ids.ts';
import type { HandedOutTasks, WorkerGroup } from './outstanding-tasks.ts';
import { creditsFor, type WorkerPool } from './worker-pool.ts';

/** Metrics of all exports together. A spare reports 0, so the maximum over several orchestrators counts. */
export type ExportMeasures = {
  /** Records that this process leads, until the returned function is called. */
  leads(jobs: () => readonly ExportJobState[], tasks: Pick<HandedOutTasks, 'inUseBy'>): () => void;
  taskLost(service: WorkerService): void;
  /** Counts a job that has ended. */
  ended(state: ExportJobState): void;
};

type WorkerService = WorkerGroup['service'];
const workerServices = ['page-renderer', 'bundler'] as const satisfies WorkerService[];
const activePhases = ['requested', 'rendering', 'closing', 'joining'] as const;
const outcomes = ['completed', 'failed', 'cancelled'] as const;

/** Bounds of the histogram, in seconds. A small site that was rendered before takes less than one second, a new one of many thousand pages takes minutes. */
const exportSeconds = [0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600];

type Leading = Parameters<ExportMeasures['leads']>;

export function measureExports(
  metrics: Pick<Metrics, 'gauge' | 'gauges' | 'counter' | 'histogram'>,
  workers: Record<WorkerService, Pick<WorkerPool, 'liveSlots'>>,
  clock: Clock,
): ExportMeasures {
  let leading: Leading | undefined;
  const states = (): readonly ExportJobState[] => (leading === undefined ? [] : leading[0]());
  const byService = (read: (service: WorkerService) => number) => () =>
    Object.fromEntries(workerServices.map((service) => [service, leading === undefined ? 0 : read(service)]));

  metrics.gauge('bindery_orchestrator_leads', '1 in the leading orchestrator.', () => Number(leading !== undefined));
  metrics.gauges('bindery_exports_active', 'Exports that have not ended.', 'phase', () => countByPhase(states()));
  metrics.gauges('bindery_exports_oldest_seconds', 'Age of the oldest export of each phase.', 'phase', () =>
    oldestByPhase(states(), clock.now()),
  );
  metrics.gauge('bindery_render_backlog_pages', 'Planned pages that are not rendered yet.', () =>
    backlogPages(states()),
  );
  metrics.gauges(
    'bindery_live_slots',
    'Slots of workers that take tasks.',
    'workers',
    byService((service) => workers[service].liveSlots()),
  );
  metrics.gauges(
    'bindery_task_credits',
    'Tasks that may be handed out at once.',
    'workers',
    byService((service) => creditsFor(workers[service].liveSlots())),
  );
  metrics.gauges(
    'bindery_tasks_out',
    'Tasks that were handed out and are not reported.',
    'workers',
    byService((service) => leading?.[1].inUseBy(service) ?? 0),
  );
  const countLost = metrics.counter(
    'bindery_tasks_lost_total',
    'Lost tasks, which no worker had in flight.',
    'workers',
    workerServices,
  );
  const countEnded = metrics.counter('bindery_exports_ended_total', 'Exports that have ended.', 'outcome', outcomes);
  const observe = metrics.histogram(
    'bindery_export_seconds',
    'Time from the request to the bundle of completed exports, in seconds.',
    exportSeconds,
  );

  return {
    leads(...now) {
      leading = now;
      return () => {
        leading = undefined;
      };
    },
    taskLost: countLost,
    ended({ phase, createdAt, completedAt }) {
      const outcome = outcomes.find((one) => one === phase);
      if (outcome !== undefined) countEnded(outcome);
      if (phase === 'completed' && completedAt !== undefined) {
        observe((Date.parse(completedAt) - Date.parse(createdAt)) / 1_000);
      }
    },
  };
}

function countByPhase(states: readonly ExportJobState[]): Record<string, number> {
  return Object.fromEntries(
    activePhases.map((phase) => [phase, states.filter((state) => state.phase === phase).length]),
  );
}

function oldestByPhase(states: readonly ExportJobState[], now: Date): Record<string, number> {
  const age = ({ createdAt }: ExportJobState) => Math.max(0, (now.getTime() - Date.parse(createdAt)) / 1_000);
  const oldest = Object.fromEntries(activePhases.map((phase): [string, number] => [phase, 0]));
  for (const state of states) oldest[state.phase] = Math.max(oldest[state.phase] ?? 0, age(state));
  return oldest;
}

function backlogPages(states: readonly ExportJobState[]): number {
  let pages = 0;
  for (const { phase, pageTotal, pageCount, failedPageCount } of states)
    if (phase === 'rendering') pages += Math.max(0, pageTotal - pageCount - failedPageCount);
  return pages;
}

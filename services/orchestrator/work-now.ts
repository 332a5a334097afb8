import { bundleUnit, closingUnit } from '#shared/aggregates/export-job/export-job.ts';
import type { HeldTask, InstallationWork, Worker } from '#shared/interfaces/http/installation.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { withDeadline } from '#shared/runtime/with-deadline.ts';
import type { OrchestratorContext } from './context.ts';
import type { LiveWorker } from './worker-pool.ts';

export type WorkContext = Pick<OrchestratorContext, 'renderers' | 'bundlers'> & {
  bus: Pick<OrchestratorContext['bus'], 'workQueues' | 'leaseHolders' | 'activeJobs'>;
};

/** Time limit of a part, so that the others are known within the time of a page. */
const partWithinMs = 1_200;

/**
 * The work queues, the holders of roles, and the workers with their tasks. It is derived from the bus and from the reports of workers, so that a spare
 * knows as much as the leader. Never rejects: a part that cannot be read is absent and has its reason in `problems`.
 */
export async function workNow({ bus, renderers, bundlers }: WorkContext): Promise<InstallationWork> {
  const problems: InstallationWork['problems'] = [];
  const part = async <T>(name: string, question: () => Promise<T>): Promise<T | undefined> => {
    const late = () => new Error(`The bus did not answer within ${partWithinMs / 1_000} s.`);
    try {
      return await withDeadline(question(), partWithinMs, late);
    } catch (error) {
      problems.push({ part: name, reason: messageOf(error) });
      return undefined;
    }
  };
  const [depths, leases, jobs] = await Promise.all([
    part('queues', () => bus.workQueues.depths()),
    part('leases', () => bus.leaseHolders.held()),
    part('exports', () => bus.activeJobs.keys()),
  ]);
  const organizations = new Map(jobs?.map((key) => [key.slice(key.indexOf('.') + 1), key.split('.')[0] ?? '']));
  const workers = [...renderers.workers(), ...bundlers.workers()].map((live) => workerOf(live, organizations));
  return {
    ...(depths !== undefined && {
      queues: depths.map((depth) => ({
        ...depth,
        service: depth.queue === 'bundle' ? 'bundler' : 'page-renderer',
      })),
    }),
    ...(leases !== undefined && { leases }),
    ...(jobs !== undefined && { activeExports: jobs.length }),
    workers,
    problems: problems.toSorted((one, other) => (one.part < other.part ? -1 : 1)),
  };
}

function workerOf({ report, tasks }: LiveWorker, organizations: ReadonlyMap<string, string>): Worker {
  const { service, instance, rendererVersion, slots, freeSlots, draining } = report;
  return {
    service,
    instance,
    ...(rendererVersion !== undefined && { rendererVersion }),
    slots,
    freeSlots,
    draining,
    tasks: tasks.flatMap(({ taskId, since }) => {
      const task = taskNamed(taskId);
      if (task === undefined) return [];
      const organization = organizations.get(task.jobId);
      return [{ ...task, ...(organization !== undefined && { organization }), since: since.toISOString() }];
    }),
  };
}

/** The work that the id of a task names (`taskIdOf`); undefined for an id of another form. Pure. */
export function taskNamed(taskId: string): Omit<HeldTask, 'since' | 'organization'> | undefined {
  const [jobId = '', unit = '', attempt = ''] = taskId.split('.');
  if (!/^[1-9]\d*$/.test(attempt)) return undefined;
  const common = { jobId, attempt: Number(attempt) };
  if (unit === closingUnit) return { ...common, work: 'closing' };
  if (unit === bundleUnit) return { ...common, work: 'bundle' };
  return /^\d+$/.test(unit) ? { ...common, work: 'chunk', chunk: Number(unit) } : undefined;
}

import type { ExportCommit } from '#shared/contracts/export-commit.ts';
import type { ExportEvent } from '#shared/contracts/export-events.ts';
import { jobStatusKey } from '#shared/contracts/read-model-keys.ts';
import type { StoredCommit } from '#shared/event-log/event-log.ts';
import { UnknownEvent } from '#shared/event-log/unknown-event.ts';
import { crashPoint } from '#shared/lifecycle/crash-point.ts';
import { type ActiveJob, activeJob, inTurn, stateOf } from './active-jobs.ts';
import { appendDecision } from './append-decision.ts';
import type { OrchestratorContext } from './context.ts';
import type { ExportCommand } from './export-command.ts';
import { isActive } from './job-phase.ts';

export type JobDesk = {
  /** By job id, oldest first. */
  jobs: ReadonlyMap<string, ActiveJob>;
  /** Begins to work on a job, unless it is on the desk already. It must be among the active jobs in the read model. */
  take(stored: StoredCommit<ExportCommit>): ActiveJob;
  /** Decides, appends, and acts on what the job's state is then. Rejects as `appendDecision` does. */
  change(job: ActiveJob, command: ExportCommand, causationId: string): Promise<ExportEvent[]>;
};

export type DeskEvents = {
  /** The job is at a new commit, or was just taken. */
  changed: (job: ActiveJob) => void;
  ended: (job: ActiveJob) => void;
};

/** The jobs that the leader works on. Every change of one goes through here. */
export function jobDesk(context: OrchestratorContext, on: DeskEvents, signal: AbortSignal): JobDesk {
  const jobs = new Map<string, ActiveJob>();

  async function end(job: ActiveJob): Promise<void> {
    jobs.delete(job.jobId);
    on.ended(job);
    // Whoever leads next would remove it, too.
    await context.bus.documents.activeJobs.remove(jobStatusKey(job.organization, job.jobId)).catch((error: unknown) => {
      context.logger.warn({ err: error, jobId: job.jobId }, 'an ended job stays among the active ones for now');
    });
  }

  return {
    jobs,
    take: (stored) => {
      const { jobId } = stored.commit.data.state;
      const known = jobs.get(jobId);
      if (known !== undefined) return known;
      const job = activeJob(stored);
      jobs.set(jobId, job);
      on.changed(job);
      return job;
    },
    change: (job, command, causationId) =>
      inTurn(job, async () => {
        const events = await appendDecision(context, job, command, causationId, signal).catch((error: unknown) => {
          // Nothing can be decided on a history that this program cannot read.
          if (error instanceof UnknownEvent && jobs.delete(job.jobId)) on.ended(job);
          throw error;
        });
        if (events.some(({ type }) => type === 'ExportCompleted')) crashPoint('after-completed', 'orchestrator');
        if (!isActive(stateOf(job).phase)) await end(job);
        else on.changed(job);
        return events;
      }),
  };
}

import type { ExportCommit } from '#shared/contracts/export-commit.ts';
import type { ExportJobState } from '#shared/contracts/export-job-state.ts';
import type { StoredCommit } from '#shared/event-log/event-log.ts';
import type { WorkUnit } from './job-phase.ts';

/** A job that the leader works on. */
export type ActiveJob = {
  organization: string;
  jobId: string;
  /** The last commit that we know. */
  stored: StoredCommit<ExportCommit>;
  /** Work that may be handed out, in order. */
  waiting: WorkUnit[];
  /** Turn in which it was handed out last; 0: never. */
  servedAt: number;
  /** Decisions on one job are made one after the other. */
  lastDecision: Promise<unknown>;
};

export const stateOf = (job: ActiveJob): ExportJobState => job.stored.commit.data.state;

export function activeJob(stored: StoredCommit<ExportCommit>): ActiveJob {
  const { organization, jobId } = stored.commit.data.state;
  return { organization, jobId, stored, waiting: [], servedAt: 0, lastDecision: Promise.resolve() };
}

/** Runs `decision` after those that were begun before on this job, whatever became of them. */
export function inTurn<T>(job: ActiveJob, decision: () => Promise<T>): Promise<T> {
  const turn = job.lastDecision.then(decision, decision);
  job.lastDecision = turn.catch(() => {});
  return turn;
}

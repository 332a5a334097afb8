import { pauseAfter, type RetryPolicy } from '#shared/runtime/retry.ts';
import type { ActiveJob } from './job-registry.ts';

/** Pauses between two tasks of a job whose tasks are postponed. A task that finds the store unavailable takes a slot for five seconds. */
const pauses: RetryPolicy = { firstPauseMs: 2_000, longestPauseMs: 15_000 };

type Refusal = { reason: string; forMs: number; pauseLeftMs: number; tries: number };

/**
 * Jobs whose tasks were postponed because the object store was unavailable, until a worker reports a success. Such a job has one task in flight at a
 * time, after pauses that grow, so that it does not take the slots that others need.
 */
export type RefusedJobs = {
  postponed(job: ActiveJob, reason: string): void;
  /** Called when a worker succeeded with a task, or the job ended. */
  forget(job: ActiveJob): void;
  /** Undefined for a job without a refusal; else whether its pause is over, and the number of its tries. */
  of(job: ActiveJob): { mayTry: boolean; tries: number } | undefined;
  /** Counts time. Returns the jobs whose pause is over now. */
  timePassed(elapsedMs: number): ActiveJob[];
  /** Jobs that were refused for at least this time, with the newest reason. */
  refusedFor(ms: number): { job: ActiveJob; reason: string }[];
};

export function refusedJobs(): RefusedJobs {
  const refusals = new Map<ActiveJob, Refusal>();
  return {
    postponed(job, reason) {
      const known = refusals.get(job) ?? { forMs: 0, pauseLeftMs: 0, tries: 0, reason };
      // Tasks that were in flight at the same time count as one try.
      const isTry = known.pauseLeftMs <= 0;
      const tries = known.tries + (isTry ? 1 : 0);
      const pauseLeftMs = isTry ? pauseAfter(tries, pauses) : known.pauseLeftMs;
      refusals.set(job, { ...known, reason, tries, pauseLeftMs });
    },
    forget: (job) => void refusals.delete(job),
    of(job) {
      const known = refusals.get(job);
      return known && { mayTry: known.pauseLeftMs <= 0, tries: known.tries };
    },
    timePassed(elapsedMs) {
      const over: ActiveJob[] = [];
      for (const [job, refusal] of refusals) {
        const wasPaused = refusal.pauseLeftMs > 0;
        refusal.forMs += elapsedMs;
        refusal.pauseLeftMs -= elapsedMs;
        if (wasPaused && refusal.pauseLeftMs <= 0) over.push(job);
      }
      return over;
    },
    refusedFor: (ms) => [...refusals].flatMap(([job, { forMs, reason }]) => (forMs >= ms ? [{ job, reason }] : [])),
  };
}

import { setTimeout } from 'node:timers/promises';
import { decide, type ExportCommand, type Knowledge, needsPlan } from '#shared/aggregates/export-job/decide.ts';
import {
  exportJobAggregate,
  type ExportCommit,
  type ExportEvent,
  type ExportJobState,
  isActive,
  type WorkUnit,
} from '#shared/aggregates/export-job/export-job.ts';
import { jobStatusKey } from '#shared/contracts/read-models.ts';
import { exportPlanSchema, planKey } from '#shared/contracts/stored-objects.ts';
import { nextCommit } from '#shared/messaging/commit-chain.ts';
import { ConcurrentAppend, type StoredCommit } from '#shared/messaging/event-log.ts';
import { UnknownEvent } from '#shared/messaging/parse-message.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { crashPoint } from '#shared/runtime/crash-point.ts';
import { nextTraceparent } from '#shared/runtime/telemetry.ts';
import type { OrchestratorContext } from './context.ts';

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
    await context.bus.activeJobs.remove(jobStatusKey(job.organization, job.jobId)).catch((error: unknown) => {
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

type AppendContext = Pick<OrchestratorContext, 'bus' | 'objectStore' | 'clock' | 'random' | 'instance' | 'logger'>;

const retryAfterMs = 1_000;
const actor = { kind: 'service' as const, id: 'orchestrator' };

/**
 * Decides on the newest commit of a job and appends what was decided, in one commit; keeps at it over conflicts and while the bus or
 * the store is away, until `signal` aborts. Gives the events; none when there was nothing to decide. Throws `UnknownEvent` when the job's
 * log cannot be read by this program.
 */
export async function appendDecision(
  context: AppendContext,
  job: ActiveJob,
  command: ExportCommand,
  causationId: string,
  signal: AbortSignal,
): Promise<ExportEvent[]> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await tryOnce(context, job, command, causationId);
    } catch (error) {
      if (error instanceof UnknownEvent || signal.aborted) throw error;
      if (!(error instanceof ConcurrentAppend)) {
        context.logger.warn({ err: error, jobId: job.jobId }, 'a decision could not be stored; it is made again');
        await setTimeout(retryAfterMs, undefined, { signal });
      }
    }
    await reload(context, job, signal);
  }
}

async function tryOnce(
  context: AppendContext,
  job: ActiveJob,
  command: ExportCommand,
  causationId: string,
): Promise<ExportEvent[]> {
  const known = await knowledgeFor(context, stateOf(job), command);
  const time = context.clock.now();
  const at = { time: time.toISOString(), actor };
  const events = decide(stateOf(job), command, at, known);
  if (events.length === 0) return [];
  const state = events.reduce((before, event) => exportJobAggregate.evolve(before, event, at), stateOf(job));
  const { commit: previous } = job.stored;
  const commit = nextCommit(previous.subject, job.stored, events, state, {
    id: `ec_${context.random(22)}`,
    source: context.instance,
    actor,
    time,
    causationId,
    correlationId: previous.correlationId,
    ...(previous.traceparent === undefined ? {} : { traceparent: nextTraceparent(previous.traceparent) }),
  });
  job.stored = await context.bus.exports.append(commit, { sequence: job.stored.sequence });
  return events;
}

/** Whatever became of an append, the log says it. */
async function reload(context: AppendContext, job: ActiveJob, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      const last = await lastCommit(context, job.organization, job.jobId);
      if (last !== undefined) job.stored = last;
      return;
    } catch (error) {
      if (error instanceof UnknownEvent || signal.aborted) throw error;
      await setTimeout(retryAfterMs, undefined, { signal });
    }
  }
}

export function lastCommit(
  { bus }: Pick<OrchestratorContext, 'bus'>,
  organization: string,
  jobId: string,
): Promise<StoredCommit<ExportCommit> | undefined> {
  return bus.exports.last(exportLogSubject(organization, jobId), { fromLeader: true });
}

/** Looks up what a decision needs beside the state, which is hardly ever anything. */
export async function knowledgeFor(
  context: Pick<OrchestratorContext, 'bus' | 'objectStore'>,
  state: ExportJobState,
  command: ExportCommand,
): Promise<Knowledge> {
  const known: Knowledge = {};
  if (needsPlan(command) && state.planHash !== undefined) {
    known.pagesOf = await pagesOfPlan(context, state.organization, state.planHash);
  }
  const isEnding = command.type === 'FoldFacts' && command.facts.some(({ type }) => type === 'BundleJoined');
  if (isEnding && state.replayOf !== undefined) {
    const subject = exportLogSubject(state.organization, state.replayOf);
    const original = (await context.bus.exports.last(subject, { fromLeader: true }))?.commit.data.state;
    known.original = { sha256: original?.bundle?.sha256, rendererVersion: original?.rendererVersion };
  }
  return known;
}

async function pagesOfPlan(
  { objectStore }: Pick<OrchestratorContext, 'objectStore'>,
  organization: string,
  planHash: string,
): Promise<(chunk: number) => readonly string[]> {
  const stored = await objectStore.get(planKey(organization, planHash));
  if (stored === undefined) return () => [];
  const { chunks } = exportPlanSchema.parse(JSON.parse(Buffer.from(stored).toString()));
  return (number) => {
    const chunk = chunks[number];
    return chunk?.kind === 'pages' ? chunk.paths : [];
  };
}

import { decide, type ExportCommand, type Knowledge, needsPlan } from '#shared/aggregates/export-job/decide.ts';
import {
  type ExportCommit,
  type ExportEvent,
  exportJobAggregate,
  type ExportJobState,
  isActive,
  type WorkUnit,
} from '#shared/aggregates/export-job/export-job.ts';
import type { RequestBehind } from '#shared/contracts/commit.ts';
import { jobStatusKey } from '#shared/interfaces/read-models.ts';
import { exportPlanSchema, planKey } from '#shared/contracts/stored-objects.ts';
import type { StoredCommit } from '#shared/messaging/log/event-log.ts';
import { handleCommand } from '#shared/messaging/log/handle-command.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { crashPoint } from '#shared/runtime/crash-point.ts';
import { Poison, Unavailable } from '#shared/runtime/failures.ts';
import { everySecond, retryUnavailable } from '#shared/runtime/retry.ts';
import { ownAttributes, tracingOf } from '#shared/runtime/tracing.ts';
import { BrokenObject, getJson } from '#shared/storage/stored-json.ts';
import type { OrchestratorContext } from './context.ts';

/** The log of a job that the leader works on has no commits: it was purged, or the bus was restored from an older backup. */
class LogGone extends Poison {
  override name = 'LogGone';
}

/** A job that the leader works on. */
export type ActiveJob = {
  organization: string;
  jobId: string;
  /** The newest known commit. */
  stored: StoredCommit<ExportCommit>;
  /** Work that may be handed out, in order. */
  waiting: WorkUnit[];
  /** The last turn in which it was served; 0: never. */
  servedAt: number;
  /** Serializes the decisions on one job. */
  lastDecision: Promise<unknown>;
  /** Hash of an earlier plan of the documentation whose bundle probably has most parts of this job's. */
  after?: string;
  /** The reason for which the last try to plan it failed; absent if it has a plan or was not tried. */
  planWaitsFor?: string;
  /** Number of times that workers postponed a unit. */
  postponements: Map<WorkUnit, number>;
};

export const stateOf = (job: ActiveJob): ExportJobState => job.stored.commit.data.state;

export function activeJob(stored: StoredCommit<ExportCommit>): ActiveJob {
  const { organization, jobId } = stored.commit.data.state;
  return {
    organization,
    jobId,
    stored,
    waiting: [],
    servedAt: 0,
    lastDecision: Promise.resolve(),
    postponements: new Map(),
  };
}

/** Removes a job that has ended from the index of active jobs. If this fails, the next leader does it. Never rejects. */
export async function leaveIndex(
  { bus, logger }: Pick<OrchestratorContext, 'bus' | 'logger'>,
  { organization, jobId }: Pick<ActiveJob, 'organization' | 'jobId'>,
): Promise<void> {
  await bus.activeJobs.remove(jobStatusKey(organization, jobId)).catch((error: unknown) => {
    logger.warn({ err: error, jobId }, 'a job that has ended is left in the index of active jobs to the next leader');
  });
}

export type JobRegistry = {
  /** Jobs by their ids, oldest first. */
  jobs: ReadonlyMap<string, ActiveJob>;
  /** Begins to work on a job, unless it is known already. It must be in the index of active jobs. */
  add(stored: StoredCommit<ExportCommit>): ActiveJob;
  /**
   * Decides, appends, and acts on the resulting state. Waits while the bus is unavailable. Rejects with `Unavailable` if something that the decision needs
   * cannot be read now, also for this job alone: the job stays unchanged, and other decisions on it continue, including its end at the deadline. A
   * job whose log is gone leaves the registry and the index of active jobs. A job that fails in any other way leaves the registry: see `setAside`.
   */
  change(job: ActiveJob, command: ExportCommand, causationId: string): Promise<readonly ExportEvent[]>;
};

export type RegistryListener = {
  added: (job: ActiveJob) => void;
  /** Called when the job has a new commit, or was just added. */
  changed: (job: ActiveJob) => void;
  ended: (job: ActiveJob) => void;
  /** Called when the job failed and left the registry, although it continues. It may have no task in flight, so nothing else may bring it back. */
  setAside: (job: ActiveJob) => void;
};

/** The jobs that the leader works on. Every change of a job goes through this registry. */
export function jobRegistry(context: OrchestratorContext, on: RegistryListener, signal: AbortSignal): JobRegistry {
  const { logger } = context;
  const jobs = new Map<string, ActiveJob>();
  const remove = (job: ActiveJob): void => {
    if (jobs.delete(job.jobId)) on.ended(job);
  };

  async function change(job: ActiveJob, command: ExportCommand, causationId: string): Promise<readonly ExportEvent[]> {
    const events = await decideAndAppend(context, job, command, causationId, signal).catch((error: unknown) => {
      if (error instanceof Unavailable) throw error;
      remove(job);
      if (!signal.aborted) leave(job, error);
      throw error;
    });
    if (events.some(({ type }) => type === 'ExportCompleted')) crashPoint('after-completed', 'orchestrator');
    if (isActive(stateOf(job).phase)) {
      on.changed(job);
      return events;
    }
    remove(job);
    context.measures.ended(stateOf(job));
    traceWhole(job);
    await leaveIndex(context, job);
    return events;
  }

  function leave(job: ActiveJob, error: unknown): void {
    const { jobId } = job;
    if (error instanceof LogGone) {
      logger.error({ err: error, jobId }, 'the log of an active job is gone; the job is given up');
      void leaveIndex(context, job);
      return;
    }
    logger.error({ err: error, jobId }, 'a job cannot be changed; it is set aside');
    on.setAside(job);
  }

  return {
    jobs,
    add(stored) {
      const { jobId } = stored.commit.data.state;
      const known = jobs.get(jobId);
      if (known !== undefined) return known;
      const job = activeJob(stored);
      jobs.set(jobId, job);
      on.added(job);
      on.changed(job);
      return job;
    },
    change(job, command, causationId) {
      const decision = () => change(job, command, causationId);
      const turn = job.lastDecision.then(decision, decision);
      job.lastDecision = turn.catch(() => {});
      return turn;
    },
  };
}

const tracing = tracingOf('orchestrator');

/** Records a span from the request to the end of an export, beside those of its parts. */
function traceWhole({ stored }: ActiveJob): void {
  const { traceparent: parent, data } = stored.commit;
  const { jobId, organization, domain, phase, pageCount, createdAt, error } = data.state;
  const attributes = { jobId, organization, domain, phase, pageCount };
  const span = tracing.start('export', {
    parent,
    attributes: ownAttributes(attributes),
    startedAt: new Date(createdAt),
  });
  span.end(error);
}

/** The events of one decision; empty if the state already contains it. Afterwards `job.stored` is the newest commit. */
async function decideAndAppend(
  context: OrchestratorContext,
  job: ActiveJob,
  command: ExportCommand,
  causationId: string,
  signal: AbortSignal,
): Promise<readonly ExportEvent[]> {
  const { subject, correlationId, traceparent } = job.stored.commit;
  const handled = await handleCommand({ ...context, log: patient(context, job, signal) }, exportJobAggregate, {
    subject,
    known: { stored: job.stored },
    async decide(state, metadata) {
      // After a conflict the newest commit may be the next leader's.
      signal.throwIfAborted();
      if (state === undefined) throw new LogGone(`The log of the job ${job.jobId} is gone.`);
      return decide(state, command, metadata, await knowledgeFor(context, state, command));
    },
    origin: {
      source: context.instance,
      actor: { kind: 'service', id: 'orchestrator' },
      causationId,
      correlationId,
      request: cancelRequestIn(command),
      // All work for an export belongs to the trace of the request for it.
      traceparent,
    },
  });
  if (handled.stored !== undefined) job.stored = handled.stored;
  return handled.events;
}

/** The request behind a cancellation, which is in its fact. Other decisions of the orchestrator have no request. */
function cancelRequestIn(command: ExportCommand): RequestBehind | undefined {
  if (command.type !== 'FoldFacts') return undefined;
  return command.facts.find((fact) => fact.type === 'CancelRequested')?.data.request;
}

/** The log of exports, whose appends are retried while the bus is unavailable. */
function patient({ bus, logger }: OrchestratorContext, { jobId }: ActiveJob, signal: AbortSignal) {
  const wait = <T>(call: () => Promise<T>): Promise<T> =>
    retryUnavailable(everySecond, signal, call, (error) =>
      logger.warn({ err: error, jobId }, 'a decision cannot be stored; it is retried'),
    );
  const log: Pick<typeof bus.exports, 'last' | 'append'> = {
    last: (...about) => wait(() => bus.exports.last(...about)),
    append: (...what) => wait(() => bus.exports.append(...what)),
  };
  return log;
}

/** The newest commit of a job, also of an archived one. Rejects with `Poison` when this program cannot read it. */
export async function lastCommit(
  { bus }: Pick<OrchestratorContext, 'bus'>,
  organization: string,
  jobId: string,
): Promise<StoredCommit<ExportCommit> | undefined> {
  return await bus.exports.last(exportLogSubject(organization, jobId), { fromLeader: true });
}

/** Reads the inputs that a decision needs beside the state; most need none. Rejects with `Unavailable` if they cannot be read now. */
async function knowledgeFor(
  context: Pick<OrchestratorContext, 'bus' | 'objectStore'>,
  state: ExportJobState,
  command: ExportCommand,
): Promise<Knowledge> {
  const known: Knowledge = {};
  if (needsPlan(command) && state.planHash !== undefined) {
    const key = planKey(state.organization, state.planHash);
    // Without a readable plan the pages of the chunk are unknown, so the job fails; otherwise its facts would be redelivered forever.
    const plan = await getJson(context.objectStore, key, exportPlanSchema).catch((error: unknown) => {
      if (error instanceof BrokenObject) return undefined;
      throw error;
    });
    known.pagesOf = (number) => {
      const chunk = plan?.chunks[number];
      return chunk?.kind === 'pages' ? chunk.paths : [];
    };
  }
  const isEnding = command.type === 'FoldFacts' && command.facts.some(({ type }) => type === 'BundleJoined');
  if (isEnding && state.replayOf !== undefined) {
    // A replay does not fail because its original is unreadable; there is nothing to compare with.
    const last = await lastCommit(context, state.organization, state.replayOf).catch((error: unknown) => {
      if (error instanceof Poison) return undefined;
      throw error;
    });
    const original = last?.commit.data.state;
    known.original = { sha256: original?.bundle?.sha256, rendererVersion: original?.rendererVersion };
  }
  return known;
}

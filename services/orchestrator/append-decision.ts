import { setTimeout } from 'node:timers/promises';
import type { ExportEvent } from '#shared/contracts/export-events.ts';
import type { ExportCommit } from '#shared/contracts/export-commit.ts';
import { ConcurrentAppend } from '#shared/event-log/concurrent-append.ts';
import type { StoredCommit } from '#shared/event-log/event-log.ts';
import { nextCommit } from '#shared/event-log/next-commit.ts';
import { UnknownEvent } from '#shared/event-log/unknown-event.ts';
import { exportLogSubject } from '#shared/subjects/subject-names.ts';
import { nextTraceparent } from '#shared/telemetry/trace-context.ts';
import { type ActiveJob, stateOf } from './active-jobs.ts';
import type { OrchestratorContext } from './context.ts';
import { decide } from './decide.ts';
import { evolve } from './evolve.ts';
import type { ExportCommand } from './export-command.ts';
import { knowledgeFor } from './knowledge-for.ts';

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
  const state = events.reduce((before, event) => evolve(before, event, at), stateOf(job));
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

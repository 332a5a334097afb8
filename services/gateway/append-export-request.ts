import type { ExportEventOf } from '#shared/contracts/export-events.ts';
import { ApiError } from '#shared/errors/api-error.ts';
import { ConcurrentAppend } from '#shared/event-log/concurrent-append.ts';
import { nextCommit } from '#shared/event-log/next-commit.ts';
import { crashPoint } from '#shared/lifecycle/crash-point.ts';
import { exportLogSubject } from '#shared/subjects/subject-names.ts';
import type { RequestOrigin } from './append-to-directory.ts';
import { askBus, writeWithinMs } from './ask-bus.ts';
import type { GatewayContext } from './context.ts';
import { type JobView, viewOf } from './read-job.ts';
import { requestedExport } from './requested-export.ts';

/** The first commit of a job. When it exists already, it must come from the same request. */
export async function appendExportRequest(
  context: Pick<GatewayContext, 'bus' | 'clock' | 'random'>,
  data: ExportEventOf<'ExportRequested'>['data'],
  origin: RequestOrigin,
): Promise<JobView> {
  const subject = exportLogSubject(data.organization, data.jobId);
  const event = { type: 'ExportRequested' as const, version: 1 as const, data };
  const time = context.clock.now();
  const commit = nextCommit(subject, undefined, [event], requestedExport(event, origin.actor.id, time.toISOString()), {
    id: `ec_${context.random(22)}`,
    source: 'gateway',
    actor: origin.actor,
    time,
    causationId: origin.requestId,
    correlationId: origin.requestId,
    traceparent: origin.traceparent,
  });
  try {
    await askBus(context.bus.exports.append(commit, { sequence: 0 }), writeWithinMs);
  } catch (error) {
    const existing = error instanceof ConcurrentAppend ? await jobOfSameRequest(context, data) : undefined;
    if (existing === undefined) throw error;
    return existing;
  }
  crashPoint('after-request-append', 'gateway');
  return viewOf(commit);
}

/** The job that an idempotency key already stands for, if any. Throws `idempotency_conflict` when it was another request. */
export async function jobOfSameRequest(
  { bus }: Pick<GatewayContext, 'bus'>,
  data: { organization: string; jobId: string; requestDigest: string },
): Promise<JobView | undefined> {
  const last = await askBus(bus.exports.last(exportLogSubject(data.organization, data.jobId), { fromLeader: true }));
  if (last === undefined) return undefined;
  if (last.commit.data.state.requestDigest !== data.requestDigest) throw new ApiError('idempotency_conflict');
  return viewOf(last.commit);
}

import { bundleUnit, closingUnit, isActive, type WorkUnit } from '#shared/aggregates/export-job/export-job.ts';
import type { Fact } from '#shared/contracts/export-facts.ts';
import { jobStatusKey } from '#shared/contracts/read-models.ts';
import type { Delivery } from '#shared/messaging/durable-reader.ts';
import { UnknownEvent } from '#shared/messaging/parse-message.ts';
import type { OrchestratorContext } from './context.ts';
import type { TaskDispatcher } from './dispatcher.ts';
import { type ActiveJob, type JobDesk, lastCommit } from './job-registry.ts';

/** One commit takes what came within this time, or so many facts; it does not wait when no more can come. */
const foldAfterMs = 100;
const foldAtCount = 20;

/** Reads facts until `signal` aborts and folds them job by job. A credit returns when its fact is read, not when it is committed. */
export async function readFacts(
  context: OrchestratorContext,
  desk: JobDesk,
  dispatcher: TaskDispatcher,
  signal: AbortSignal,
): Promise<void> {
  const reader = await context.bus.factReader();
  const batches = new Map<string, { deliveries: FactDelivery[]; timer: NodeJS.Timeout }>();
  const folding = new Set<Promise<void>>();

  function fold(jobId: string): void {
    const batch = batches.get(jobId);
    if (batch === undefined) return;
    clearTimeout(batch.timer);
    batches.delete(jobId);
    const folded = foldFacts(context, desk, batch.deliveries, signal)
      .then(() => dispatcher.handOut())
      .finally(() => folding.delete(folded));
    folding.add(folded);
  }

  function collect(delivery: FactDelivery): void {
    const { jobId } = delivery.value;
    const batch = batches.get(jobId) ?? { deliveries: [], timer: setTimeout(() => fold(jobId), foldAfterMs) };
    batches.set(jobId, batch);
    batch.deliveries.push(delivery);
    if (batch.deliveries.length >= foldAtCount || dispatcher.isQuiet(jobId)) fold(jobId);
  }

  while (!signal.aborted) {
    const delivery = await reader.next({ signal });
    if (delivery === undefined) continue;
    const { value } = delivery;
    if (value === undefined) {
      await setAside(context, 'FACTS', delivery, delivery.problem ?? 'The fact cannot be read.');
      continue;
    }
    const freed = unitOf(value);
    if (freed !== undefined) dispatcher.reported(value.jobId, freed.unit, freed.attempt);
    collect({ ...delivery, value });
    if (freed !== undefined) void dispatcher.handOut();
  }
  for (const { timer } of batches.values()) clearTimeout(timer);
  await Promise.all(folding);
}

/** Whose credit the fact gives back: a success that of any attempt, a failure that of its own. */
function unitOf(fact: Fact): { unit: WorkUnit; attempt?: number } | undefined {
  switch (fact.type) {
    case 'ChunkRendered':
      return { unit: fact.data.chunk };
    case 'ChunkFailed':
      return { unit: fact.data.chunk, attempt: fact.data.attempt };
    case 'ClosingRendered':
      return { unit: closingUnit };
    case 'ClosingFailed':
      return { unit: closingUnit, attempt: fact.data.attempt };
    case 'BundleJoined':
      return { unit: bundleUnit };
    case 'BundleFailed':
      return { unit: bundleUnit, attempt: fact.data.attempt };
    default:
      return undefined;
  }
}

const retryAfterMs = 1_000;

export type FactDelivery = Delivery<Fact> & { value: Fact };

/**
 * Folds facts of one job into one commit, then acknowledges them. Facts of a job that has ended are acknowledged; those of a job that
 * there is not, or whose log cannot be read, are set aside. While the bus is away they come again.
 */
export async function foldFacts(
  context: OrchestratorContext,
  desk: JobDesk,
  deliveries: readonly FactDelivery[],
  signal: AbortSignal,
): Promise<void> {
  const [first] = deliveries;
  if (first === undefined) return;
  try {
    const job = await jobOf(context, desk, first.value);
    if (job === 'unknown') throw new UnknownEvent(`There is no job ${first.value.jobId} of that organization.`);
    if (job !== 'ended') {
      await desk.change(job, { type: 'FoldFacts', facts: deliveries.map(({ value }) => value) }, first.value.id);
    }
    await Promise.all(deliveries.map((delivery) => delivery.ack()));
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof UnknownEvent) {
      for (const delivery of deliveries) await setAside(context, 'FACTS', delivery, error.message);
      return;
    }
    context.logger.warn({ err: error, subject: first.subject }, 'facts could not be folded; they come again');
    for (const delivery of deliveries) delivery.nak(retryAfterMs);
  }
}

/** The job on the desk; one that is not, though it is active, is put there: the index of active jobs had lost it. */
async function jobOf(
  context: OrchestratorContext,
  desk: JobDesk,
  { organization, jobId }: Fact,
): Promise<ActiveJob | 'ended' | 'unknown'> {
  const known = desk.jobs.get(jobId);
  if (known !== undefined) return known;
  const stored = await lastCommit(context, organization, jobId);
  if (stored === undefined) return 'unknown';
  const { phase, createdAt } = stored.commit.data.state;
  if (!isActive(phase)) return 'ended';
  await context.bus.activeJobs.put(jobStatusKey(organization, jobId), { organization, jobId, createdAt });
  return desk.take(stored);
}

/** Gives a message up to the operator. If that cannot be told, the message comes again. */
export async function setAside(
  { bus, logger }: Pick<OrchestratorContext, 'bus' | 'logger'>,
  stream: string,
  delivery: Delivery<unknown>,
  reason: string,
): Promise<void> {
  const { subject, sequence } = delivery;
  logger.error({ subject, reason }, 'a message was set aside');
  try {
    await bus.deadLetters.put({ service: 'orchestrator', stream, subject, sequence, reason });
    delivery.terminate(reason);
  } catch (error) {
    logger.warn({ err: error, subject }, 'a message could not be set aside; it comes again');
  }
}

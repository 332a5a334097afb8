import type { Fact } from '#shared/contracts/export-facts.ts';
import { jobStatusKey } from '#shared/contracts/read-model-keys.ts';
import type { Delivery } from '#shared/event-log/durable-reader.ts';
import { UnknownEvent } from '#shared/event-log/unknown-event.ts';
import type { ActiveJob } from './active-jobs.ts';
import { lastCommit } from './append-decision.ts';
import type { OrchestratorContext } from './context.ts';
import type { JobDesk } from './job-desk.ts';
import { isActive } from './job-phase.ts';
import { setAside } from './set-aside.ts';

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
  await context.bus.documents.activeJobs.put(jobStatusKey(organization, jobId), { organization, jobId, createdAt });
  return desk.take(stored);
}

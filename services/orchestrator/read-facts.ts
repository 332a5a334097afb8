import { needsPlan } from '#shared/aggregates/export-job/decide.ts';
import { bundleUnit, closingUnit, isActive, type WorkUnit } from '#shared/aggregates/export-job/export-job.ts';
import type { Fact } from '#shared/contracts/export-facts.ts';
import { readable, settleFailure } from '#shared/messaging/queue/consume.ts';
import {
  openDeadLetterQueue,
  type DeadLetterQueue,
  messageOfLetter,
  settleLetters,
} from '#shared/messaging/queue/dead-letters.ts';
import type { Delivery } from '#shared/messaging/queue/durable-reader.ts';
import { Poison, Unavailable } from '#shared/runtime/failures.ts';
import { everySecond } from '#shared/runtime/retry.ts';
import type { OrchestratorContext } from './context.ts';
import type { TaskDispatcher } from './dispatcher.ts';
import { admit } from './job-intake.ts';
import { type ActiveJob, type JobRegistry, lastCommit } from './job-registry.ts';

/** A commit collects facts for this time, or up to this number. It does not wait if no more can come. */
const foldAfterMs = 250;
const foldAtCount = 20;
/** Size of a batch. If facts were read one by one, thousands of slots would report them faster. */
const factsAtOnce = 100;
/**
 * Limit of facts that wait for a plan that cannot be read now. The bus delivers at most 1,000 unacknowledged facts, and the rest of them is for other
 * facts.
 */
const mostWaiting = 500;

/** Reads facts until `signal` aborts and folds them by job. A credit is freed when its fact is read, not when it is committed. */
export async function readFacts(
  context: OrchestratorContext,
  registry: JobRegistry,
  dispatcher: TaskDispatcher,
  signal: AbortSignal,
): Promise<void> {
  const reader = await context.bus.factReader();
  const deadLetterQueue = deadLetterQueueOf(context, signal);
  const settling = settleLetters(
    deadLetterQueue,
    async (letter, from) => {
      if (from === 'it') await fold(context, registry, [readable(await messageOfLetter(reader, letter))]);
    },
    signal,
  );
  const batches = new Map<string, { deliveries: FactDelivery[]; timer: NodeJS.Timeout }>();
  const folding = new Set<Promise<void>>();
  /** Sequences of the facts that wait for a plan. */
  const waiting = new Set<number>();

  function foldBatch(jobId: string): void {
    const batch = batches.get(jobId);
    if (batch === undefined) return;
    clearTimeout(batch.timer);
    batches.delete(jobId);
    // The plan may be unreadable: facts that need none do not wait for it.
    const folded = Promise.all([
      settle(batch.deliveries.filter((delivery) => !asksPlan(delivery))),
      settle(batch.deliveries.filter(asksPlan)),
    ])
      .then(() => dispatcher.handOut())
      .finally(() => folding.delete(folded));
    folding.add(folded);
  }

  /**
   * Folds facts of one job into one commit, then acknowledges them. Facts of a job that has ended are acknowledged. Facts of an unknown job, or of
   * one whose log cannot be read, become dead letters. Facts that cannot be folded now are redelivered. When too many wait for a plan, the others are
   * dropped: their work is redispatched, like the work of a lost worker.
   */
  async function settle(deliveries: readonly FactDelivery[]): Promise<void> {
    const [first] = deliveries;
    if (first === undefined) return;
    const facts = deliveries.map(({ value }) => value);
    try {
      await fold(context, registry, facts);
      for (const { sequence } of deliveries) waiting.delete(sequence);
      await Promise.all(deliveries.map((delivery) => delivery.ack()));
    } catch (error) {
      if (signal.aborted) {
        for (const delivery of deliveries) delivery.nak();
        return;
      }
      const forgotten = deliveries.filter((delivery) => !comesAgain(delivery, error));
      for (const delivery of forgotten) delivery.terminate('Too many facts wait.');
      if (forgotten.length > 0) handOutAnew(first.value.jobId, forgotten.length, error);
      await settleFailure(
        deadLetterQueue,
        deliveries.filter((delivery) => !forgotten.includes(delivery)),
        error,
      );
    }
  }

  /** Counts the facts that wait for a plan. Other facts are never dropped, because a request to cancel is made once. */
  function comesAgain(delivery: FactDelivery, error: unknown): boolean {
    if (!asksPlan(delivery) || !(error instanceof Unavailable)) {
      waiting.delete(delivery.sequence);
      return true;
    }
    if (waiting.size < mostWaiting) waiting.add(delivery.sequence);
    return waiting.has(delivery.sequence);
  }

  function handOutAnew(jobId: string, facts: number, error: unknown): void {
    context.logger.warn({ err: error, jobId, facts }, 'too many facts wait; the work of these is handed out again');
    const job = registry.jobs.get(jobId);
    if (job !== undefined) dispatcher.changed(job);
  }

  function collect(delivery: FactDelivery): void {
    const { jobId } = delivery.value;
    const batch = batches.get(jobId) ?? { deliveries: [], timer: setTimeout(() => foldBatch(jobId), foldAfterMs) };
    batches.set(jobId, batch);
    batch.deliveries.push(delivery);
    if (batch.deliveries.length >= foldAtCount || dispatcher.isQuiet(jobId)) foldBatch(jobId);
  }

  function take(delivery: Delivery<Fact>): void {
    const { value } = delivery;
    if (value === undefined) {
      void settleFailure(deadLetterQueue, [delivery], delivery.problem ?? new Poison('The fact cannot be read.'));
      return;
    }
    const freed = unitOf(value);
    if (value.type === 'TaskPostponed') dispatcher.postponed(value.jobId, value.data.taskId, value.data.reason);
    if (freed !== undefined) dispatcher.reported(value.jobId, freed.unit, freed.attempt);
    collect({ ...delivery, value });
    if (freed !== undefined) void dispatcher.handOut();
  }

  while (!signal.aborted) {
    const first = await reader.next({ signal });
    if (first === undefined) continue;
    take(first);
    if (first.pendingCount === 0) continue;
    for (const delivery of await reader.more(Math.min(first.pendingCount, factsAtOnce))) take(delivery);
  }
  for (const { timer } of batches.values()) clearTimeout(timer);
  await Promise.all([...folding, settling]);
}

/** The unit whose credit the fact frees: a success frees any attempt, a failure its own. */
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
    case 'SegmentsLost':
    case 'TaskPostponed':
    case 'CancelRequested':
      return undefined;
  }
}

type FactDelivery = Delivery<Fact> & { value: Fact };

const asksPlan = ({ value }: FactDelivery): boolean => needsPlan({ type: 'FoldFacts', facts: [value] });

function deadLetterQueueOf(
  { bus: { deadLetters, deadLetterLog }, logger }: OrchestratorContext,
  signal: AbortSignal,
): DeadLetterQueue {
  const consumer = { service: 'orchestrator', stream: 'FACTS', deadLetters, deadLetterLog, logger, retry: everySecond };
  return openDeadLetterQueue(consumer, signal);
}

async function fold(context: OrchestratorContext, registry: JobRegistry, facts: Fact[]): Promise<void> {
  const [first] = facts;
  if (first === undefined) return;
  const job = await jobOf(context, registry, first);
  if (job !== 'ended') await registry.change(job, { type: 'FoldFacts', facts }, first.id);
}

/**
 * The job of a fact. An active job that is not in the registry is added, because the index of active jobs had lost it. Throws `Poison` if the job
 * does not exist.
 */
async function jobOf(
  context: OrchestratorContext,
  registry: JobRegistry,
  { organization, jobId }: Fact,
): Promise<ActiveJob | 'ended'> {
  const known = registry.jobs.get(jobId);
  if (known !== undefined) return known;
  const stored = await lastCommit(context, organization, jobId);
  if (stored === undefined) throw new Poison(`There is no job ${jobId} of that organization.`);
  return isActive(stored.commit.data.state.phase) ? admit(context, registry, stored) : 'ended';
}

import type { Fact } from '#shared/contracts/export-facts.ts';
import type { OrchestratorContext } from './context.ts';
import { type FactDelivery, foldFacts } from './fold-facts.ts';
import type { JobDesk } from './job-desk.ts';
import { bundleUnit, closingUnit, type WorkUnit } from './job-phase.ts';
import { setAside } from './set-aside.ts';
import type { TaskDispatcher } from './task-dispatcher.ts';

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
  const reader = await context.bus.readers.orchestratorFacts();
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

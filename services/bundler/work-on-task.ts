import type { BundleTask } from '#shared/contracts/export-tasks.ts';
import { readPlan } from '#shared/export/export-objects.ts';
import type { FactLog } from '#shared/messaging/event-log.ts';
import { checkDeliveries, mostReasonCharacters, reportFact, type Report } from '#shared/messaging/task-queue.ts';
import { crashPoint } from '#shared/runtime/crash-point.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { retryUnavailable, type RetryPolicy } from '#shared/runtime/retry.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import type { Clock } from '#shared/runtime/time-and-ids.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { joinBundle } from './join-bundle.ts';

/**
 * Joins one bundle and reports the outcome as a fact. Rejects when the fact could not be recorded or `signal` aborts: then the task must
 * come again.
 */
export async function workOnTask(
  context: BundlerContext,
  task: BundleTask,
  deliveryCount: number,
  signal: AbortSignal,
): Promise<void> {
  const report = await outcomeOf(context, task, deliveryCount, signal);
  await reportFact(context, task, report, signal);
  crashPoint('after-bundle-fact', 'bundler');
}

async function outcomeOf(
  context: BundlerContext,
  task: BundleTask,
  deliveryCount: number,
  signal: AbortSignal,
): Promise<Report> {
  const { attempt, organization, planHash } = task;
  const { objectStore, clock, retry } = context;
  try {
    checkDeliveries(deliveryCount);
    const outcome = await retryUnavailable(retry, signal, async () =>
      joinBundle(objectStore, await readPlan(objectStore, organization, planHash, signal), planHash, clock, signal),
    );
    if (outcome.kind === 'lost') {
      const { chunks, reason } = outcome;
      return { type: 'SegmentsLost', data: { chunks, reason: reason.slice(0, mostReasonCharacters) } };
    }
    const { bundleKey, sizeBytes, sha256 } = outcome;
    return { type: 'BundleJoined', data: { attempt, bundleKey, sizeBytes, sha256 } };
  } catch (error) {
    signal.throwIfAborted();
    context.logger.warn({ err: error, taskId: task.taskId }, 'a bundle could not be joined');
    const reason = messageOf(error).slice(0, mostReasonCharacters);
    return { type: 'BundleFailed', data: { attempt, reason } };
  }
}

/** What a bundler works with. */
export type BundlerContext = {
  objectStore: ObjectStore;
  facts: FactLog;
  clock: Clock;
  logger: Logger;
  random: (length: number) => string;
  instance: string;
  /** How long the bus or the object store may be away before an attempt fails. */
  retry: RetryPolicy;
};

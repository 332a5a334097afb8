import { bundleKey } from '#shared/contracts/stored-objects.ts';
import type { BundleTask } from '#shared/contracts/export-tasks.ts';
import { readPlan } from '#shared/export/export-objects.ts';
import {
  mostReasonCharacters,
  type Report,
  type ReportContext,
  workAndReport,
} from '#shared/messaging/queue/task-queue.ts';
import { crashPoint } from '#shared/runtime/crash-point.ts';
import { retryUnavailable } from '#shared/runtime/retry.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { repeatReads } from '#shared/storage/repeat-reads.ts';
import { joinBundle, type KnownDigests, storedBundle } from './join-bundle.ts';

/** Dependencies of a bundler. */
export type BundlerContext = ReportContext & { objectStore: ObjectStore; known?: KnownDigests };

/** Joins one bundle and reports the outcome as a fact. Rejects when the task must be redelivered. */
export async function workOnTask(
  context: BundlerContext,
  task: BundleTask,
  deliveryCount: number,
  signal: AbortSignal,
): Promise<void> {
  await workAndReport(context, task, deliveryCount, signal, {
    work: () => join(context, task, signal),
    failed: (reason) => ({ type: 'BundleFailed', data: { attempt: task.attempt, reason } }),
  });
  crashPoint('after-bundle-fact', 'bundler');
}

async function join(
  { objectStore, clock, retry, known }: BundlerContext,
  { attempt, organization, domain, planHash, anew, after }: BundleTask,
  signal: AbortSignal,
): Promise<Report> {
  const store = repeatReads(objectStore, retry, signal);
  const key = bundleKey(organization, domain, planHash);
  const stored =
    anew === true ? undefined : await retryUnavailable(retry, signal, () => storedBundle(store, key, clock, signal));
  if (stored !== undefined) return { type: 'BundleJoined', data: { attempt, bundleKey: key, ...stored, reused: true } };
  const outcome = await retryUnavailable(retry, signal, async () => {
    const plan = await readPlan(store, organization, planHash, signal);
    return joinBundle(store, plan, planHash, { clock, signal, ...(anew !== true && { known, after }) });
  });
  if (outcome.kind === 'lost') {
    const { chunks, reason } = outcome;
    return { type: 'SegmentsLost', data: { chunks, reason: reason.slice(0, mostReasonCharacters) } };
  }
  const { sizeBytes, sha256, piecesSha256 } = outcome;
  return { type: 'BundleJoined', data: { attempt, bundleKey: key, sizeBytes, sha256, piecesSha256 } };
}

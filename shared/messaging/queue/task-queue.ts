import type { Attributes } from '@opentelemetry/api';
import type { Fact } from '#shared/contracts/export-facts.ts';
import type { BundleTask, PresenceReport, RenderTask } from '#shared/contracts/export-tasks.ts';
import { crashPoint } from '#shared/runtime/crash-point.ts';
import { messageOf, Unavailable } from '#shared/runtime/failures.ts';
import { everySecond, retryUnavailable, type RetryPolicy } from '#shared/runtime/retry.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import { collectedTraceId, ownAttributes, tracingOf } from '#shared/runtime/tracing.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import type { Clock, RandomDigits } from '#shared/runtime/time-and-ids.ts';
import { consume } from './consume.ts';
import type { DeadLetterLog } from './dead-letters.ts';
import type { DurableReader } from './durable-reader.ts';
import type { FactLog } from '#shared/messaging/log/event-log.ts';

/**
 * Tasks, each for exactly one worker. The queue may be discarded and refilled from the log: tasks are not a source of truth. A task whose
 * `taskId` was already submitted within the last two minutes is stored once.
 */
export type TaskQueue = {
  submit(task: RenderTask | BundleTask): Promise<void>;
};

/** Reports of live workers and gateways, sent every second over a core subject and not stored. */
export type Presence = {
  /** Reports now and every second until stopped. `report` is called each time. */
  announce(report: () => PresenceReport): { now(): void; stop(): void };
  /** Calls `listener` for every report of a service, until the returned function is called. */
  watch(service: string, listener: (report: PresenceReport) => void): () => void;
};

/**
 * Tasks whose work is no longer wanted. Sent over a core subject and not stored: the sender repeats the withdrawal while a worker reports such a
 * task.
 */
export type Withdrawals = {
  withdraw(service: string, taskIds: readonly string[]): void;
  /** Calls `listener` with each withdrawn task of a service, until the returned function is called. */
  watch(service: string, listener: (taskId: string) => void): () => void;
};

type Worker = {
  name: string;
  instance: string;
  logger: Logger;
  metrics: Pick<Metrics, 'gauge' | 'counter'>;
  bus: { presence: Presence; withdrawals: Pick<Withdrawals, 'watch'>; deadLetterLog: DeadLetterLog };
};

export type WorkOptions<T> = {
  reader: DurableReader<T>;
  slots: number;
  rendererVersion?: string;
  /**
   * Works on one task and reports its outcome. When it rejects, the task is redelivered. `signal` aborts when the worker stops, and when the task is
   * withdrawn. A withdrawn task is not redelivered.
   */
  work: (task: T, deliveryCount: number, signal: AbortSignal) => Promise<void>;
};

/** The reason with which the work on a task is aborted when its export has ended. */
class TaskWithdrawn extends Error {
  override name = 'TaskWithdrawn';

  constructor(taskId: string) {
    super(`the export of the task ${taskId} has ended`);
  }
}

/** Number of deliveries after which a task is not tried again, because its workers died. The orchestrator counts that as one failed attempt. */
const mostDeliveries = 3;

/** Grace period for tasks in flight when a worker stops. After it they are given back, and another worker takes them. */
const graceMs = 5_000;

/**
 * Retry policy of workers for calls to the object store. A task is postponed when it gives up. Until then it keeps its slot, which other organizations
 * need: the store may refuse the objects of one alone.
 */
export const storeRetry: RetryPolicy = { firstPauseMs: 100, longestPauseMs: 2_000, giveUpAfterMs: 5_000 };

/** Retry policy of workers for reports. The task is redelivered when it gives up. */
const reportRetry: RetryPolicy = { firstPauseMs: 100, longestPauseMs: 5_000, giveUpAfterMs: 120_000 };

/**
 * Works on tasks in a number of slots, and reports every second which ones are in flight. The returned function stops it: no new task is taken, tasks
 * in flight get a grace period, and unfinished ones are returned to the bus.
 */
export function startWorker<T extends { taskId: string }>(
  worker: Worker,
  options: WorkOptions<T>,
): () => Promise<void> {
  const { name, instance, logger, metrics, bus } = worker;
  const stop = new AbortController();
  const abandon = new AbortController();
  /**
   * Tasks in flight. If the "working" signals of a task were late, the bus may redeliver it to this worker; both deliveries then have the same
   * outcome.
   */
  const inHand = new Map<string, { running: Promise<void>; withdrawn: AbortController; begunAt: number }>();
  /**
   * A slot is free only while it asks for a task. On an overloaded machine an acknowledgement takes seconds, and the orchestrator counts tasks as
   * lost that no worker takes although one is free.
   */
  let busySlots = 0;
  metrics.gauge(
    'bindery_worker_slots',
    'Slots of this worker: tasks that can be in flight in it.',
    () => options.slots,
  );
  metrics.gauge('bindery_worker_tasks', 'Tasks in flight in this worker.', () => inHand.size);
  const left = metrics.counter(
    'bindery_worker_tasks_left_total',
    'Tasks that this worker received first and left to a worker that can read them.',
    'reason',
    ['newer-version'],
  );
  const announcement = bus.presence.announce(() => ({
    service: name,
    instance,
    time: new Date().toISOString(),
    ...(options.rendererVersion === undefined ? {} : { rendererVersion: options.rendererVersion }),
    slots: options.slots,
    freeSlots: Math.max(0, options.slots - busySlots),
    tasks: [...inHand.keys()],
    heldMs: [...inHand.values()].map(({ begunAt }) => Math.round(performance.now() - begunAt)),
    draining: stop.signal.aborted,
  }));
  const unwatch = bus.withdrawals.watch(name, (taskId) =>
    inHand.get(taskId)?.withdrawn.abort(new TaskWithdrawn(taskId)),
  );

  function begin(task: T, deliveryCount: number, signal: AbortSignal) {
    const { taskId } = task;
    const withdrawn = new AbortController();
    const begunAt = performance.now();
    const work = options.work(task, deliveryCount, AbortSignal.any([signal, withdrawn.signal]));
    const running = work
      .catch((error: unknown) => {
        if (signal.aborted || !withdrawn.signal.aborted) throw error;
        logger.info({ taskId }, 'a task was given up, because its export has ended');
      })
      .finally(() => inHand.delete(taskId));
    return { running, withdrawn, begunAt };
  }

  const working = consume({
    service: name,
    stream: 'TASKS',
    deadLetterLog: bus.deadLetterLog,
    logger,
    retry: everySecond,
    reader: options.reader,
    slots: options.slots,
    stop: stop.signal,
    abandon: abandon.signal,
    onLeft: () => left('newer-version'),
    beforeAck: () => crashPoint('before-ack', name),
    onBusy: (change) => {
      busySlots += change;
    },
    async handle(task, { deliveryCount }, signal) {
      const { taskId } = task;
      const known = inHand.get(taskId) ?? begin(task, deliveryCount, signal);
      inHand.set(taskId, known);
      await known.running;
    },
  });
  return async () => {
    stop.abort();
    announcement.now();
    const timer = setTimeout(() => abandon.abort(new Error('The service stops.')), graceMs);
    await working;
    clearTimeout(timer);
    announcement.now();
    announcement.stop();
    unwatch();
  };
}

/** A fact without its metadata. */
export type Report = { [T in Fact['type']]: Pick<Extract<Fact, { type: T }>, 'type' | 'data'> }[Fact['type']];

/** Maximum length of a failure reason. Longer ones are cut. */
export const mostReasonCharacters = 500;

/** Dependencies for recording the outcome of a task. */
export type ReportContext = {
  facts: FactLog;
  clock: Clock;
  logger: Logger;
  random: RandomDigits;
  instance: string;
  /** Retry policy for the object store. The task is postponed when it gives up. */
  retry: RetryPolicy;
};

const tracing = tracingOf('worker');
const spanNames = { chunk: 'render chunk', closing: 'render closing files', bundle: 'join bundle' };

const spanOf = ({ organization, jobId, taskId, attempt }: RenderTask | BundleTask): { attributes: Attributes } => ({
  attributes: ownAttributes({ organization, jobId, taskId, attempt }),
});

/**
 * Works on one task and records its outcome as a fact: the report of `work`, or that of `failed` when `work` throws or the task was
 * delivered too often. A task whose `work` throws `Unavailable` is postponed. Rejects when the fact could not be stored, or when `signal` aborts. Then
 * the task has to be redelivered.
 */
export async function workAndReport(
  context: ReportContext,
  task: RenderTask | BundleTask,
  deliveryCount: number,
  signal: AbortSignal,
  { work, failed }: { work: () => Promise<Report>; failed: (reason: string) => Report },
): Promise<void> {
  const { organization, jobId, planHash, taskId, kind, attempt, traceparent } = task;
  const report = await tracing
    .inSpan(spanNames[kind], { ...spanOf(task), parent: traceparent, kind: 'consumer' }, async (span) => {
      if (deliveryCount > mostDeliveries)
        throw new Error(`the processes that worked on it died ${mostDeliveries} times`);
      const reported = await work();
      span.set(ownAttributes({ outcome: reported.type }));
      return reported;
    })
    .catch((error: unknown): Report => {
      signal.throwIfAborted();
      const about = { err: error, taskId, jobId, organization, attempt, traceId: collectedTraceId(traceparent) };
      const reason = messageOf(error).slice(0, mostReasonCharacters);
      const isPostponed = error instanceof Unavailable;
      context.logger.warn(about, isPostponed ? 'a task is postponed' : 'a task failed');
      return isPostponed ? { type: 'TaskPostponed', data: { taskId, reason } } : failed(reason);
    });
  const fact = {
    version: 1,
    id: context.random(22),
    source: context.instance,
    time: context.clock.now().toISOString(),
    organization,
    jobId,
    planHash,
    ...(traceparent === undefined ? {} : { traceparent }),
    ...report,
  } as Fact;
  await retryUnavailable(reportRetry, signal, () => context.facts.record(fact));
}

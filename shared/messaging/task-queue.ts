import type { BundleTask, PresenceReport, RenderTask } from '#shared/contracts/export-tasks.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import type { DeadLetters, Delivery, DurableReader } from './durable-reader.ts';

/**
 * Work that exactly one worker should take. The queue may be thrown away and refilled from the log: tasks carry no truth.
 * A submit with the `taskId` of a task submitted within the last two minutes is stored once.
 */
export type TaskQueue = {
  submit(task: RenderTask | BundleTask): Promise<void>;
};

export type WorkOptions<T extends { taskId: string }> = {
  service: string;
  instance: string;
  rendererVersion?: string;
  slots: number;
  reader: DurableReader<T>;
  /** Works on one task. What it rejects with is logged and the task comes again; outcomes are for it to report. `signal`: give up, we stop. */
  work: (task: T, deliveryCount: number, signal: AbortSignal) => Promise<void>;
  /** Just before a task that was worked on is acknowledged. */
  beforeAck?: () => void;
  presence: Presence;
  deadLetters: DeadLetters;
  logger: Logger;
};

export type Workers = {
  /** Takes no new task, lets those in hand end for up to `graceMs`, and gives back what is left. */
  stop(graceMs: number): Promise<void>;
};

/** Well below the time after which the bus takes a task for lost (5 s). */
const workingEveryMs = 2_000;
const retryAfterMs = 1_000;

/**
 * Works on tasks in so many slots: one loop each, which takes the next task when it is free, so that a worker holds exactly the tasks
 * that it works on. Says every second who it is and what it has in hand.
 */
export function workSlots<T extends { taskId: string }>(options: WorkOptions<T>): Workers {
  const { reader, logger } = options;
  const stopping = new AbortController();
  const abandon = new AbortController();
  const inHand = new Set<string>();

  const report = (): PresenceReport => ({
    service: options.service,
    instance: options.instance,
    time: new Date().toISOString(),
    ...(options.rendererVersion === undefined ? {} : { rendererVersion: options.rendererVersion }),
    slots: options.slots,
    freeSlots: Math.max(0, options.slots - inHand.size),
    tasks: [...inHand],
    draining: stopping.signal.aborted,
  });
  const announcement = options.presence.announce(report);

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      const delivery = await reader.next({ signal: stopping.signal });
      if (delivery === undefined) continue;
      if (delivery.value === undefined) await setAside(delivery);
      else await workOn(delivery, delivery.value);
    }
  }

  async function workOn(delivery: Delivery<T>, task: T): Promise<void> {
    inHand.add(task.taskId);
    const timer = setInterval(() => delivery.working(), workingEveryMs);
    try {
      await options.work(task, delivery.deliveryCount, abandon.signal);
      options.beforeAck?.();
      await delivery.ack();
    } catch (error) {
      if (abandon.signal.aborted) delivery.nak();
      else {
        logger.warn({ err: error, taskId: task.taskId }, 'a task could not be worked on; it comes again');
        delivery.nak(retryAfterMs);
      }
    } finally {
      clearInterval(timer);
      inHand.delete(task.taskId);
    }
  }

  async function setAside(delivery: Delivery<T>): Promise<void> {
    const { subject, sequence } = delivery;
    const reason = delivery.problem ?? 'The task cannot be read.';
    logger.error({ subject, reason }, 'a task was set aside');
    try {
      await options.deadLetters.put({ service: options.service, stream: 'TASKS', subject, sequence, reason });
      delivery.terminate(reason);
    } catch (error) {
      logger.warn({ err: error, subject }, 'a task could not be set aside; it comes again');
    }
  }

  const loops = Promise.all(Array.from({ length: options.slots }, loop));
  return {
    async stop(graceMs) {
      stopping.abort();
      announcement.now();
      const timer = setTimeout(() => abandon.abort(new Error('The service stops.')), graceMs);
      await loops;
      clearTimeout(timer);
      announcement.now();
      announcement.stop();
    },
  };
}

/** Who is alive, told every second over a core subject; nothing is kept. */
export type Presence = {
  /** Reports now and every second until stopped. `report` is asked each time. */
  announce(report: () => PresenceReport): { now(): void; stop(): void };
  /** Calls `listener` for every report of a service, until the returned function is called. */
  watch(service: string, listener: (report: PresenceReport) => void): () => void;
};

import pino from 'pino';
import { expect, test } from 'vitest';
import type { PresenceReport } from '#shared/contracts/export-tasks.ts';
import type { Delivery } from './durable-reader.ts';
import { startWorker } from './task-queue.ts';

type Task = { taskId: string };

/** A worker with two slots. The test sends deliveries, ends their work and their acknowledgements, and asks for the report of the worker. */
function workerOf(slots: number) {
  const waiting: ((delivery: Delivery<Task> | undefined) => void)[] = [];
  const works: { task: Task; end: () => void }[] = [];
  const acks: (() => void)[] = [];
  const settled: string[] = [];
  let withdraw = (_taskId: string): void => expect.unreachable();
  let report = (): PresenceReport => expect.unreachable();
  const next = ({ signal }: { signal?: AbortSignal } = {}) =>
    new Promise<Delivery<Task> | undefined>((resolve) => {
      waiting.push(resolve);
      signal?.addEventListener('abort', () => resolve(undefined), { once: true });
    });
  const stop = startWorker<Task>(
    {
      ...{ name: 'page-renderer', instance: 'w', logger: pino({ level: 'silent' }) },
      metrics: { gauge: () => {}, counter: () => () => {} },
      bus: {
        deadLetterLog: { record: () => expect.unreachable() },
        presence: {
          announce: (current) => {
            report = current;
            return { now: () => {}, stop: () => {} };
          },
          watch: () => () => {},
        },
        withdrawals: {
          watch: (_service, listener) => {
            withdraw = listener;
            return () => {};
          },
        },
      },
    },
    {
      slots,
      reader: { next, more: async () => [], position: () => expect.unreachable(), reread: () => expect.unreachable() },
      work: (task, _deliveryCount, signal) =>
        new Promise((resolve, reject) => {
          works.push({ task, end: resolve });
          signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        }),
    },
  );
  const deliver = async (taskId: string, deliveryCount = 1) => {
    await expect.poll(() => waiting.length).toBeGreaterThan(0);
    waiting.shift()?.({
      ...{ subject: 'tasks.bundle', sequence: 7, deliveryCount, pendingCount: 0, traceparent: undefined },
      ...{ value: { taskId }, problem: undefined },
      ack: () =>
        new Promise<void>((resolve) => {
          settled.push(taskId);
          acks.push(resolve);
        }),
      working: () => {},
      nak: () => expect.unreachable(),
      terminate: () => expect.unreachable(),
    });
  };
  return {
    deliver,
    works,
    acks,
    settled,
    report: () => report(),
    withdraw: (taskId: string) => withdraw(taskId),
    stop,
  };
}

test('a slot is free only when it asks for a task: not while the last task is being acknowledged', async () => {
  const { deliver, works, acks, report, stop } = workerOf(2);
  expect(report()).toMatchObject({ slots: 2, freeSlots: 2, tasks: [] });
  await deliver('j.1.1');
  await expect.poll(() => works.length).toBe(1);
  expect(report()).toMatchObject({ freeSlots: 1, tasks: ['j.1.1'] });
  works[0]?.end();
  await expect.poll(() => acks.length).toBe(1);
  expect(report()).toMatchObject({ freeSlots: 1 });
  acks[0]?.();
  await expect.poll(() => report().freeSlots).toBe(2);
  await stop();
});

test('a task that is delivered again to the worker that has it is worked on once, and stays named until it ends', async () => {
  const { deliver, works, acks, settled, report, stop } = workerOf(2);
  await deliver('j.1.1');
  await expect.poll(() => works.length).toBe(1);
  await deliver('j.1.1', 4);
  await expect.poll(() => report().freeSlots).toBe(0);
  expect(report().tasks).toEqual(['j.1.1']);
  works[0]?.end();
  await expect.poll(() => settled).toEqual(['j.1.1', 'j.1.1']);
  expect(works).toHaveLength(1);
  for (const ack of acks) ack();
  await expect.poll(() => report().freeSlots).toBe(2);
  await stop();
});

test('a withdrawn task is aborted and acknowledged, and other tasks continue', async () => {
  const { deliver, works, acks, settled, report, withdraw, stop } = workerOf(2);
  await deliver('j.closing.1');
  await deliver('k.closing.1');
  await expect.poll(() => works.length).toBe(2);
  withdraw('other.closing.1');
  withdraw('j.closing.1');
  await expect.poll(() => settled).toEqual(['j.closing.1']);
  acks[0]?.();
  await expect.poll(() => report()).toMatchObject({ freeSlots: 1, tasks: ['k.closing.1'] });
  works[1]?.end();
  await expect.poll(() => settled).toEqual(['j.closing.1', 'k.closing.1']);
  acks[1]?.();
  await stop();
});

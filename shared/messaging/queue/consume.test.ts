import pino from 'pino';
import { expect, test } from 'vitest';
import { NewerMessage } from '#shared/runtime/failures.ts';
import { everySecond } from '#shared/runtime/retry.ts';
import { consume } from './consume.ts';
import type { Delivery } from './durable-reader.ts';

test('a task of a newer version is logged less and less often, counted once, and always given back', async () => {
  const stop = new AbortController();
  const deliveries = Array.from({ length: 20 }, (_, at) => at + 1);
  const pauses: (number | undefined)[] = [];
  const delivery = (deliveryCount: number): Delivery<never> => ({
    ...{ subject: 'tasks.bundle', sequence: 7, deliveryCount, pendingCount: 0, traceparent: undefined },
    ...{ value: undefined, problem: new NewerMessage('The task has version 2.') },
    ack: async () => expect.unreachable('the task is not done'),
    working: () => {},
    nak: (delayMs) => void pauses.push(delayMs),
    terminate: () => expect.unreachable('the task is not given up'),
  });
  const next = async () => {
    const count = deliveries.shift();
    if (count === undefined) stop.abort();
    return count === undefined ? undefined : delivery(count);
  };
  const lines: { msg: string; deliveryCount?: number }[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  let left = 0;
  await consume<never>({
    ...{ service: 'bundler', stream: 'TASKS', logger, retry: everySecond, stop: stop.signal },
    deadLetterLog: { record: () => expect.unreachable('the task is not given up') },
    reader: { next, more: async () => [], position: () => expect.unreachable(), reread: () => expect.unreachable() },
    handle: () => expect.unreachable('nobody can read the task'),
    onLeft: () => {
      left += 1;
    },
  });
  const said = lines.filter(({ msg }) => msg === 'a task is left to a newer worker');
  expect(said.map(({ deliveryCount }) => deliveryCount)).toEqual([1, 2, 4, 8, 16]);
  expect(said[0]).toMatchObject({ sequence: 7, reason: 'The task has version 2.' });
  expect(left).toBe(1);
  expect(pauses).toHaveLength(20);
});

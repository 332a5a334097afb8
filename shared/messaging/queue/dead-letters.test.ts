import pino from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type DeadLetter, deadLetterKey } from '#shared/contracts/dead-letters.ts';
import { Poison, Unavailable } from '#shared/runtime/failures.ts';
import { everySecond } from '#shared/runtime/retry.ts';
import { memoryDocuments } from '../../../test/support/memory-documents.ts';
import { settleFailure } from './consume.ts';
import { type Consumer, openDeadLetterQueue, type DeadLetterQueue } from './dead-letters.ts';
import type { Delivery } from './durable-reader.ts';
import type { DocumentStore } from '#shared/messaging/read-models.ts';

const subject = 'exports.acme.one.log';
const at = '2026-03-01T10:00:00.000Z';
const key = deadLetterKey('projector', 'EXPORTS', 7);
const letterOf = (changes: Partial<DeadLetter> = {}): DeadLetter => ({
  ...{ service: 'projector', stream: 'EXPORTS', subject, sequence: 7, isOrdered: true },
  ...{ state: 'aside', cause: 'poison', reason: 'It was broken.', setAsideAt: at },
  ...changes,
});

let stop: AbortController;
beforeEach(() => {
  stop = new AbortController();
});
afterEach(() => stop.abort());

async function openQueue(
  deadLetters: DocumentStore<DeadLetter>,
  changes: Partial<Consumer> = {},
): Promise<DeadLetterQueue> {
  const queue = openDeadLetterQueue(
    {
      ...{ service: 'projector', stream: 'EXPORTS', deadLetters, isOrdered: true, retry: everySecond },
      deadLetterLog: { record: async () => {} },
      logger: pino({ level: 'silent' }),
      ...changes,
    },
    stop.signal,
  );
  await queue.ready;
  return queue;
}

test('a decision is carried out although the bus went away in the middle of it', async () => {
  let isAway = false;
  let answers = 0;
  const letters = memoryDocuments<DeadLetter>(async () => {
    if (isAway && (answers += 1) > 1) isAway = false;
    if (isAway) throw new Unavailable('The bus is unavailable.');
  });
  const decision = { id: `dd_${'a'.repeat(22)}`, action: 'retry', why: 'It is mended.', by: 'anna@ops-1', at } as const;
  await letters.put(key, letterOf({ decision }));
  const queue = await openQueue(letters);
  let tries = 0;
  const again = async () => {
    tries += 1;
    isAway = tries === 1;
    if (isAway) throw new Unavailable('The bus is unavailable.');
  };
  expect(await queue.settleOne(again)).toBe(true);
  expect(await queue.settleOne(again)).toBe(true);
  expect([tries, await letters.get(key)]).toEqual([2, undefined]);
});

test('a drop that cannot be carried out fails once, and says why', async () => {
  const letters = memoryDocuments<DeadLetter>(async () => {});
  const decision = { id: `dd_${'a'.repeat(22)}`, action: 'drop', why: 'It is lost.', by: 'anna@ops-1', at } as const;
  await letters.put(key, letterOf({ decision }));
  const queue = await openQueue(letters);
  const again = () => Promise.reject(new Poison('A later message is too large.'));
  expect(await queue.settleOne(again)).toBe(true);
  expect(await queue.settleOne(again)).toBe(false);
  expect((await letters.get(key))?.document).toMatchObject({
    state: 'aside',
    failed: { id: decision.id, reason: 'A later message is too large.' },
  });
});

test('a sequence that the server gave out again does not hide a message behind the letter of a lost one', async () => {
  const letters = memoryDocuments<DeadLetter>(async () => {});
  await letters.put(key, letterOf({ state: 'dropped' }));
  const queue = await openQueue(letters);
  const other = { subject: 'exports.acme.other.log', sequence: 7 };
  await queue.put(other, new Poison('It cannot be read.'));
  expect((await letters.get(key))?.document).toMatchObject({ ...other, state: 'aside' });
  expect(queue.hasHole({ subject, sequence: 8 })).toBe(false);
  expect(queue.isBehind({ ...other, sequence: 8 })).toBe(true);
});

test('no message is given up because a system is unavailable, however often it was delivered', async () => {
  const letters = memoryDocuments<DeadLetter>(async () => {});
  const queue = await openQueue(letters, { mostDeliveries: 20 });
  const settled: string[] = [];
  const delivery: Delivery<unknown> = {
    ...{ subject, sequence: 7, deliveryCount: 20, pendingCount: 0, value: {}, problem: undefined },
    traceparent: undefined,
    ack: async () => {},
    working: () => {},
    nak: () => void settled.push('comes again'),
    terminate: () => void settled.push('set aside'),
  };
  await settleFailure(queue, [delivery], new Unavailable('The search index is unavailable.'));
  await settleFailure(queue, [delivery], new Error('The page is broken.'));
  expect(settled).toEqual(['comes again', 'set aside']);
});

test('with an interval, a letter is handled again until that succeeds, also one that a dead process had taken', async () => {
  const letters = memoryDocuments<DeadLetter>(async () => {});
  await letters.put(key, letterOf({ takenBy: 'a process that died' }));
  const queue = await openQueue(letters, { againEveryMs: 5 });
  let tries = 0;
  const again = async () => {
    tries += 1;
    if (tries < 3) throw new Poison('The file is not in the object store.');
  };
  while ((await letters.get(key)) !== undefined) {
    await queue.changed(stop.signal);
    await queue.settleOne(again);
  }
  expect(tries).toBe(3);
});

test('without an interval, a letter waits for an operator', async () => {
  const letters = memoryDocuments<DeadLetter>(async () => {});
  await letters.put(key, letterOf());
  const queue = await openQueue(letters);
  expect(await queue.settleOne(() => expect.unreachable())).toBe(false);
});

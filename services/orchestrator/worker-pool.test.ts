import { expect, test } from 'vitest';
import type { PresenceReport } from '#shared/contracts/export-tasks.ts';
import { workerPool } from './worker-pool.ts';

const own = 'r-0123456789ab';
const newer = 'r-ba9876543210';

function poolAt() {
  let now = 0;
  const pool = workerPool({ now: () => new Date(now) });
  return {
    pool,
    pass: (ms: number) => {
      now += ms;
    },
    hear: (instance: string, changes: Partial<PresenceReport> = {}) =>
      pool.heard({
        service: 'page-renderer',
        instance,
        time: '2026-03-01T10:00:00.000Z',
        rendererVersion: own,
        slots: 2,
        freeSlots: 1,
        tasks: [],
        draining: false,
        ...changes,
      }),
  };
}

test('slots are those of live workers that take tasks, by version', () => {
  const { pool, hear } = poolAt();
  hear('a');
  hear('a');
  hear('b', { rendererVersion: newer, slots: 8 });
  hear('c', { draining: true });
  expect([pool.liveSlots(), pool.liveSlots(own), pool.liveSlots(newer)]).toEqual([10, 2, 8]);
});

test('a worker that says nothing for a while is gone, and its tasks with it', () => {
  const { pool, pass, hear } = poolAt();
  hear('a', { tasks: ['t1'] });
  pass(3_000);
  hear('b', { tasks: ['t2'] });
  expect(pool.holds('t1')).toBe(true);
  pass(1_000);
  expect([pool.holds('t1'), pool.holds('t2'), pool.liveSlots()]).toEqual([false, true, 2]);
});

test('a worker that drains still holds its tasks, but has no free slot', () => {
  const { pool, hear } = poolAt();
  hear('a', { draining: true, tasks: ['t1'] });
  expect([pool.holds('t1'), pool.hasFreeSlot()]).toEqual([true, false]);
});

test('our own renderer version is taken while a worker has it, else the one with most slots', () => {
  const { pool, pass, hear } = poolAt();
  expect(pool.chooseVersion(own)).toBe(own);
  hear('b', { rendererVersion: newer, slots: 8 });
  hear('c', { rendererVersion: 'r-cccccccccccc', slots: 1 });
  expect(pool.chooseVersion(own)).toBe(newer);
  pass(1_000);
  hear('a');
  expect(pool.chooseVersion(own)).toBe(own);
});

test('a worker that was heard before the clock was set back is gone when it says nothing more', () => {
  const { pool, hear, pass } = poolAt();
  hear('gone', { tasks: ['t'] });
  pass(-3_600_000);
  hear('other', { slots: 8 });
  expect(pool.holds('t')).toBe(false);
  expect(pool.liveSlots()).toBe(8);
});

test('a task is held since its worker says so, or since the first report that had it', () => {
  const { pool, pass, hear } = poolAt();
  const since = () => pool.workers().flatMap(({ tasks }) => tasks.map((task) => [task.taskId, task.since.getTime()]));
  pass(10_000);
  hear('old', { tasks: ['one'] });
  pass(1_000);
  hear('old', { tasks: ['one', 'two'] });
  hear('new', { tasks: ['three'], heldMs: [9_000] });
  expect(since()).toEqual([
    ['three', 2_000],
    ['one', 10_000],
    ['two', 11_000],
  ]);
  pass(1_000);
  hear('old', { tasks: ['two'] });
  hear('old', { tasks: ['one'] });
  pass(3_000);
  // The other worker is gone. A task that comes back is held since then.
  expect(since()).toEqual([['one', 12_000]]);
});

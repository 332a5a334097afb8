import { expect, test } from 'vitest';
import { bundleUnit, closingUnit, type ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import { exportState } from '../../test/support/make-commit.ts';
import { type HandedOut, handedOutTasks, taskOf } from './outstanding-tasks.ts';

const group = { service: 'page-renderer', rendererVersion: 'r-0123456789ab' } as const;
const task = (unit: number, attempt = 1): HandedOut => ({
  taskId: `j.${unit}.${attempt}`,
  jobId: 'j',
  unit,
  attempt,
  group,
  organization: 'acme',
  organizationPlan: 'pro',
});
const always = () => true;
const never = () => false;

test('a credit returns with the report, the task is forgotten with the commit', () => {
  const tasks = handedOutTasks();
  tasks.add(task(1));
  tasks.add(task(2));
  tasks.reported('j', 1, 1);
  expect([tasks.inUse(group), tasks.inUse({ service: 'bundler' }), [...tasks.unitsOf('j')]]).toEqual([1, 0, [1, 2]]);
  tasks.keepOnly('j', ({ taskId }) => taskId === 'j.2.1');
  expect([tasks.inUse(group), [...tasks.unitsOf('j')]]).toEqual([1, [2]]);
});

test('a failure of an attempt that was given up frees nothing', () => {
  const tasks = handedOutTasks();
  tasks.add(task(1, 2));
  tasks.reported('j', 1, 1);
  expect(tasks.inUse(group)).toBe(1);
});

test('a report that changed nothing leaves the task out', () => {
  const tasks = handedOutTasks();
  tasks.add(task(1));
  tasks.reported('j', 1);
  tasks.keepOnly('j', always);
  expect(tasks.inUse(group)).toBe(1);
});

test('a task is lost when none names it for long enough while one is free', () => {
  const tasks = handedOutTasks();
  tasks.add(task(1));
  expect(tasks.countSilence(20_000, 30_000, never, always)).toEqual([]);
  expect(tasks.countSilence(10_000, 30_000, never, always)).toMatchObject([{ taskId: 'j.1.1' }]);
});

test('a task in somebody’s hand, or waiting while all are busy, is not lost', () => {
  const tasks = handedOutTasks();
  tasks.add(task(1));
  tasks.countSilence(29_000, 30_000, never, always);
  expect(tasks.countSilence(60_000, 30_000, never, never)).toEqual([]);
  expect(tasks.countSilence(60_000, 30_000, always, always)).toEqual([]);
  expect(tasks.countSilence(29_000, 30_000, never, always)).toEqual([]);
});

test('a task that a worker has for longer than a turn is named, also after its job has ended', () => {
  const tasks = handedOutTasks();
  tasks.add(task(1));
  tasks.add(task(2));
  const isHeld = (taskId: string) => taskId === 'j.1.1';
  const held = () => tasks.countHeld(1_000, 2_000, isHeld).map(({ taskId }) => taskId);
  expect([held(), held(), held()]).toEqual([[], [], ['j.1.1']]);
  tasks.keepOnly('j', () => false);
  expect([tasks.inUse(group), held()]).toEqual([0, ['j.1.1']]);
  tasks.countHeld(60_000, 2_000, never);
  expect(held()).toEqual([]);
});

test('a task that was reported is not named any more', () => {
  const tasks = handedOutTasks();
  tasks.add(task(1));
  tasks.countHeld(9_000, 2_000, always);
  tasks.reported('j', 1);
  expect(tasks.countHeld(9_000, 2_000, always)).toEqual([]);
  tasks.keepOnly('j', () => false);
  expect(tasks.countHeld(9_000, 2_000, always)).toEqual([]);
});

test('tasks of a job that has ended are over, and those of one that continues are not', () => {
  const tasks = handedOutTasks();
  tasks.add(task(1));
  tasks.add(task(2));
  tasks.keepOnly('j', ({ unit }) => unit === 2);
  const long = () =>
    tasks
      .countHeld(9_000, 2_000, always)
      .map(({ taskId, isOver }) => `${taskId} ${isOver}`)
      .toSorted();
  expect(long()).toEqual(['j.1.1 false', 'j.2.1 false']);
  tasks.endJob('j');
  expect(long()).toEqual(['j.1.1 true', 'j.2.1 true']);
  expect(tasks.inUse(group)).toBe(0);
});

test('the first tasks of a closing segment and of a bundle name the plan after which they are made, and no others do', () => {
  const state = exportState({ phase: 'joining', planHash: 'a'.repeat(64), rendererVersion: 'r-0123456789ab' });
  const after = 'b'.repeat(64);
  const named = (changes: Partial<ExportJobState>) => taskOf({ ...state, ...changes }, bundleUnit, { after });
  expect(named({})).toMatchObject({ kind: 'bundle', after });
  expect(taskOf(state, closingUnit, { after })).toMatchObject({ kind: 'closing', after });
  expect(taskOf(state, 0, { after })).not.toHaveProperty('after');
  expect(named({ lostSegments: 1 })).not.toHaveProperty('after');
  expect(named({ timedOutAttempts: { [bundleUnit]: 1 } })).not.toHaveProperty('after');
  expect(taskOf(state, bundleUnit)).not.toHaveProperty('after');
});

test('the task of a closing segment tells that a segment was lost', () => {
  const state = exportState({ phase: 'closing', planHash: 'a'.repeat(64), rendererVersion: 'r-0123456789ab' });
  expect(taskOf(state, closingUnit)).not.toHaveProperty('segmentsLost');
  expect(taskOf({ ...state, lostSegments: 1 }, closingUnit)).toMatchObject({ kind: 'closing', segmentsLost: true });
});

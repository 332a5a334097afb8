import { expect, test } from 'vitest';
import { type HandedOut, handedOutTasks } from './outstanding-tasks.ts';

const group = { service: 'page-renderer', rendererVersion: 'r-0123456789ab' } as const;
const task = (unit: number, attempt = 1): HandedOut => ({
  taskId: `j.${unit}.${attempt}`,
  jobId: 'j',
  unit,
  attempt,
  group,
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

import pino from 'pino';
import { expect, test } from 'vitest';
import type { ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import { exportCommit, exportState } from '../../test/support/make-commit.ts';
import { memoryBus } from '../../test/support/memory-bus.ts';
import { type ActiveJob, activeJob, stateOf } from './job-registry.ts';
import { withChunk } from '#shared/aggregates/export-job/chunk-bitmap.ts';
import { taskDispatcher } from './dispatcher.ts';
import { creditsFor, workerPool } from './worker-pool.ts';

const rendererVersion = 'r-0123456789ab';
const clock = { now: () => new Date('2026-03-01T10:00:00.000Z') };

/** A dispatcher with four slots of renderers (a window of seven) and the jobs that a test makes. */
function dispatching() {
  const bus = memoryBus();
  const renderers = workerPool(clock);
  const jobs = new Map<string, ActiveJob>();
  const context = { bus, renderers, bundlers: workerPool(clock), logger: pino({ level: 'silent' }) };
  const dispatcher = taskDispatcher(context);
  renderers.heard({
    service: 'page-renderer',
    instance: 'a',
    time: clock.now().toISOString(),
    rendererVersion,
    slots: 4,
    freeSlots: 4,
    tasks: [],
    draining: false,
  });
  return {
    bus,
    dispatcher,
    add: (name: string, organization: string, chunkCount: number, changes: Partial<ExportJobState> = {}) => {
      const state = exportState({
        jobId: `se_${name.padEnd(22, '0')}`,
        organization,
        phase: 'rendering',
        planHash: 'a'.repeat(64),
        rendererVersion,
        chunkCount,
        pageTotal: chunkCount * 20,
        ...changes,
      });
      const job = activeJob({ commit: exportCommit(state), sequence: 1 });
      jobs.set(job.jobId, job);
      dispatcher.changed(job);
      return job;
    },
    /** Reports and commits the oldest task in flight. */
    finishOne: async (out: string[]) => {
      const [jobId = '', unit = ''] = (out.shift() ?? '').split('.');
      const job = jobs.get(jobId);
      if (job === undefined) return;
      dispatcher.reported(jobId, Number(unit), 1);
      await dispatcher.handOut();
      const state = stateOf(job);
      const doneChunks = withChunk(state.doneChunks, Number(unit), state.chunkCount);
      job.stored = { commit: exportCommit({ ...state, doneChunks }), sequence: 2 };
      dispatcher.changed(job);
    },
    out: () => bus.recorded.tasks.map(({ taskId }) => taskId),
  };
}
const namesOf = (tasks: string[]) => tasks.map((taskId) => taskId.slice(3, 8));

test('a window of tasks is out, and one more with each report', async () => {
  const { dispatcher, add, finishOne, out } = dispatching();
  add('large', 'acme', 100);
  await dispatcher.handOut();
  expect(out()).toHaveLength(7);
  await finishOne([...out()]);
  expect(out()).toHaveLength(8);
  expect(new Set(out()).size).toBe(8);
});

test('a small export of another organization is served within one round', async () => {
  const { dispatcher, add, finishOne, out } = dispatching();
  add('large', 'acme', 100);
  await dispatcher.handOut();
  const queue = [...out()];
  add('small', 'other', 2);
  await dispatcher.handOut();
  for (let turn = 0; turn < 6; turn += 1) {
    const before = out().length;
    await finishOne(queue);
    queue.push(...out().slice(before));
  }
  expect(namesOf(out().slice(7)).filter((name) => name === 'small')).toHaveLength(2);
});

test('an organization whose chunks take minutes does not delay the export of another by hours', async () => {
  const { dispatcher, add, finishOne, out } = dispatching();
  add('slow0', 'acme', 1_000);
  add('quick', 'other', 40);
  const secondsOf = (taskId: string) => (taskId.includes('slow0') ? 120 : 1);
  const workers: { taskId: string; left: number }[] = [];
  let taken = 0;
  let finished = 0;
  let seconds = 0;
  for (; finished < 40 && seconds < 10_000; seconds += 1) {
    await dispatcher.handOut();
    while (workers.length < 4 && taken < out().length) {
      const taskId = out()[taken] ?? '';
      workers.push({ taskId, left: secondsOf(taskId) });
      taken += 1;
    }
    dispatcher.timePassed(1_000, (taskId) => workers.some((worker) => worker.taskId === taskId));
    for (const worker of [...workers]) {
      worker.left -= 1;
      if (worker.left > 0) continue;
      workers.splice(workers.indexOf(worker), 1);
      if (worker.taskId.includes('quick')) finished += 1;
      await finishOne([worker.taskId]);
    }
  }
  expect(finished).toBe(40);
  expect(seconds).toBeLessThan(300);
});

test('two exports of one organization take turns', async () => {
  const { dispatcher, add, out } = dispatching();
  add('first', 'acme', 100);
  add('secnd', 'acme', 100);
  await dispatcher.handOut();
  expect(namesOf(out()).join(' ')).toBe('first secnd first secnd first secnd first');
});

test('a task that could not be queued is handed out later, under the same id', async () => {
  const { bus, dispatcher, add, out } = dispatching();
  const job = add('small', 'acme', 2);
  bus.away = true;
  await dispatcher.handOut();
  expect(out()).toEqual([]);
  bus.away = false;
  await dispatcher.handOut();
  expect(out()).toEqual([`${job.jobId}.0.1`, `${job.jobId}.1.1`]);
});

test('a repeated chunk goes first, alone from the third attempt on', async () => {
  const { bus, dispatcher, add } = dispatching();
  add('again', 'acme', 5, { timedOutAttempts: { 3: 2 }, lostSegments: 1 });
  await dispatcher.handOut();
  const [first] = bus.recorded.tasks;
  expect(first).toMatchObject({ chunk: 3, attempt: 3, pagesAlone: true });
  expect(first?.taskId).toMatch(/\.3\.3\.1$/);
  expect(bus.recorded.tasks[1]).toMatchObject({ chunk: 0, attempt: 1, pagesAlone: false });
});

test('a credit looks at no other job than the one that gets it, however many wait', async () => {
  const { dispatcher, add, out } = dispatching();
  const lookedAt = new Set<string>();
  for (let at = 0; at < 1_000; at += 1) {
    const job = add(String(at).padStart(5, '0'), `organization-${at % 100}`, 30);
    const { stored } = job;
    Object.defineProperty(job, 'stored', {
      get() {
        lookedAt.add(job.jobId);
        return stored;
      },
    });
  }
  await dispatcher.handOut();
  expect(out()).toHaveLength(7);
  lookedAt.clear();
  const [jobId = '', unit = ''] = (out()[0] ?? '').split('.');
  dispatcher.reported(jobId, Number(unit), 1);
  await dispatcher.handOut();
  expect(out()).toHaveLength(8);
  expect([...lookedAt]).toEqual([out().at(-1)?.split('.')[0]]);
});

test('long tasks of a job that has ended are withdrawn while a worker has them, and those of others are not', async () => {
  const { bus, dispatcher, add, out } = dispatching();
  const withdrawn: string[] = [];
  bus.withdrawals.watch('page-renderer', (taskId) => withdrawn.push(taskId));
  const job = add('ended', 'acme', 2);
  const setAside = add('aside', 'acme', 1);
  await dispatcher.handOut();
  const [first = '', , second = ''] = out();
  const pass = (held: readonly string[]) => dispatcher.timePassed(3_000, (taskId) => held.includes(taskId));
  pass(out());
  job.stored = { commit: exportCommit({ ...stateOf(job), phase: 'cancelled' }), sequence: 2 };
  dispatcher.ended(job);
  dispatcher.ended(setAside);
  expect(withdrawn).toEqual([]);
  pass([first]);
  pass([first]);
  expect(withdrawn).toEqual([first, first]);
  pass([]);
  pass([second]);
  expect(withdrawn.slice(2).every((taskId) => taskId.startsWith(job.jobId))).toBe(true);
});

test('a job whose tasks are postponed has one task in flight at a time, after pauses that grow, until one succeeds', async () => {
  const { dispatcher, add, out } = dispatching();
  const job = add('refus', 'acme', 5);
  await dispatcher.handOut();
  expect(out()).toHaveLength(5);
  for (const taskId of [...out()]) dispatcher.postponed(job.jobId, taskId, 'the disk is full');
  const pass = async (ms: number) => {
    const before = out().length;
    dispatcher.timePassed(ms, () => false);
    await dispatcher.handOut();
    return out().slice(before);
  };
  expect(await pass(1_900)).toEqual([]);
  expect(await pass(200)).toEqual([`${job.jobId}.1.1.w1`]);
  expect(await pass(10_000)).toEqual([]);
  dispatcher.postponed(job.jobId, `${job.jobId}.1.1.w1`, 'the disk is full');
  expect(await pass(3_900)).toEqual([]);
  expect(await pass(200)).toEqual([`${job.jobId}.2.1.w1`]);
  expect(dispatcher.refusedFor(16_200)).toEqual([{ job, reason: 'the disk is full' }]);
  expect(dispatcher.refusedFor(16_201)).toEqual([]);
  dispatcher.reported(job.jobId, 2);
  await dispatcher.handOut();
  expect(out().slice(-4)).toEqual(['0.1.w1', '1.1.w2', '3.1.w1', '4.1.w1'].map((end) => `${job.jobId}.${end}`));
  expect(dispatcher.refusedFor(0)).toEqual([]);
});

test('a job that is refused leaves its credits to others, and ends when it is cancelled', async () => {
  const { dispatcher, add, out } = dispatching();
  const job = add('refus', 'acme', 50);
  await dispatcher.handOut();
  const first = [...out()];
  add('small', 'other', 7);
  await dispatcher.handOut();
  expect(out()).toEqual(first);
  for (const taskId of first) dispatcher.postponed(job.jobId, taskId, 'x');
  await dispatcher.handOut();
  expect(namesOf(out().slice(7))).toEqual(Array.from({ length: 7 }, () => 'small'));
  dispatcher.ended(job);
  expect(dispatcher.refusedFor(0)).toEqual([]);
});

test('there are at least two credits, and up to 1.75 for each slot', () => {
  expect([0, 1, 2, 3, 16].map(creditsFor)).toEqual([2, 2, 3, 5, 28]);
});

import { expect, test } from 'vitest';
import { jobStatusKey } from '#shared/interfaces/read-models.ts';
import { memoryBus } from '../../test/support/memory-bus.ts';
import { taskNamed, workNow } from './work-now.ts';
import { workerPool } from './worker-pool.ts';

const jobId = `se_${'a'.repeat(22)}`;
const time = new Date('2026-03-01T10:00:00.000Z');
const report = {
  ...{ service: 'page-renderer', time: time.toISOString(), rendererVersion: 'r-0123456789ab' },
  ...{ slots: 2, freeSlots: 0, draining: false },
};

function stand() {
  const bus = memoryBus();
  const clock = { now: () => time };
  return { bus, renderers: workerPool(clock), bundlers: workerPool(clock) };
}

test('the tasks of each worker have the export, its organization and the time since which it has them', async () => {
  const { bus, renderers, bundlers } = stand();
  bus.depths = [{ queue: 'bundle', pending: 1, inFlight: 2, redelivered: 1 }];
  bus.held.set('orchestrator', 'orchestrator-1');
  await bus.activeJobs.put(jobStatusKey('acme', jobId), {} as never);
  renderers.heard({ ...report, instance: 'b', tasks: [`${jobId}.3.2.p1`, `${jobId}.closing.1`], heldMs: [4_000, 0] });
  renderers.heard({ ...report, instance: 'a', tasks: [`se_${'b'.repeat(22)}.0.1`, 'of another form'] });
  bundlers.heard({ ...report, service: 'bundler', instance: 'c', tasks: [`${jobId}.bundle.1`] });
  const now = await workNow({ bus, renderers, bundlers });
  const of = { jobId, organization: 'acme' };
  expect(now).toMatchObject({
    queues: [{ queue: 'bundle', service: 'bundler', pending: 1, inFlight: 2, redelivered: 1 }],
    leases: [{ role: 'orchestrator', holder: 'orchestrator-1' }],
    activeExports: 1,
    problems: [],
  });
  expect(now.workers.map(({ instance, tasks }) => [instance, tasks])).toEqual([
    ['a', [{ jobId: `se_${'b'.repeat(22)}`, work: 'chunk', chunk: 0, attempt: 1, since: '2026-03-01T10:00:00.000Z' }]],
    [
      'b',
      [
        { ...of, work: 'chunk', chunk: 3, attempt: 2, since: '2026-03-01T09:59:56.000Z' },
        { ...of, work: 'closing', attempt: 1, since: '2026-03-01T10:00:00.000Z' },
      ],
    ],
    ['c', [{ ...of, work: 'bundle', attempt: 1, since: '2026-03-01T10:00:00.000Z' }]],
  ]);
});

test('a part that cannot be read is named with its reason, and the others are there', async () => {
  const { bus, renderers, bundlers } = stand();
  const refused = { ...bus, workQueues: { depths: () => Promise.reject(new Error('The bus refuses this.')) } };
  renderers.heard({ ...report, instance: 'a', tasks: [] });
  const now = await workNow({ bus: refused, renderers, bundlers });
  expect(now).toMatchObject({ leases: [], activeExports: 0, workers: [{ instance: 'a' }] });
  expect(now).not.toHaveProperty('queues');
  expect(now.problems).toEqual([{ part: 'queues', reason: 'The bus refuses this.' }]);
  bus.away = true;
  const away = await workNow({ bus, renderers, bundlers });
  expect(away.problems.map(({ part }) => part)).toEqual(['exports', 'leases', 'queues']);
  expect(away.workers).toHaveLength(1);
});

test('a question that the bus does not answer is given up within the time of a page', async () => {
  const { bus, renderers, bundlers } = stand();
  const silent = { ...bus, leaseHolders: { held: () => new Promise<never>(() => {}) } };
  const now = await workNow({ bus: silent, renderers, bundlers });
  expect(now.problems).toEqual([{ part: 'leases', reason: 'The bus did not answer within 1.2 s.' }]);
});

test.each(['', 'x', `${jobId}.x.1`, `${jobId}.1`, `${jobId}.1.0`])('an id of another form names no work: %s', (id) => {
  expect(taskNamed(id)).toBeUndefined();
});

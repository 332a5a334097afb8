import { expect, test } from 'vitest';
import type { ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import { jobStatusKey } from '#shared/interfaces/read-models.ts';
import { archivedJobKey } from '#shared/contracts/stored-objects.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { NewerMessage } from '#shared/runtime/failures.ts';
import { dayMs } from '#shared/runtime/time-and-ids.ts';
import { housekeeperContext } from '../../test/support/housekeeper-context.ts';
import { exportCommit, exportState } from '../../test/support/make-commit.ts';
import { memoryBus } from '../../test/support/memory-bus.ts';
import { testObjectStore } from '../../test/support/test-object-store.ts';
import { archiveClosedJobs } from './archive-closed-jobs.ts';

const never = new AbortController().signal;
const clock = { now: () => new Date('2026-06-01T00:00:00.000Z') };
const old = {
  phase: 'completed',
  createdAt: '2026-03-01T10:00:00.000Z',
  completedAt: '2026-03-01T10:01:00.000Z',
} as const;
const young = {
  phase: 'completed',
  createdAt: '2026-05-30T10:00:00.000Z',
  completedAt: '2026-05-30T10:01:00.000Z',
} as const;

/** The context of a housekeeper, and `store`, which stores a job with two commits. */
async function house() {
  const bus = memoryBus();
  const context = housekeeperContext({ bus, objectStore: testObjectStore(), clock });
  const store = async (n: number, changes: Partial<ExportJobState>): Promise<ExportJobState> => {
    const state = exportState({ jobId: `se_${String(n).padStart(22, '0')}`, ...changes });
    const first = await bus.exports.append(exportCommit(state), { sequence: 0 });
    const { commit } = await bus.exports.append(exportCommit(state, first), first);
    const { revision, id: commitId, time: updatedAt } = commit;
    await bus.readModels.jobStatus.put(jobStatusKey('acme', state.jobId), { revision, commitId, updatedAt, state });
    return state;
  };
  return { bus, store, context };
}

test('a history that a newer program wrote stays in the log, and the others are archived', async () => {
  const bus = memoryBus();
  const objectStore = testObjectStore();
  // More jobs than are archived concurrently.
  const jobIds = Array.from({ length: 20 }, (_, n) => `se_${String(n).padStart(22, '0')}`);
  for (const jobId of jobIds) {
    const state = exportState({ jobId, phase: 'completed', completedAt: '2026-03-01T10:01:00.000Z' });
    const { commit } = await bus.exports.append(exportCommit(state), { sequence: 0 });
    const { revision, id: commitId, time: updatedAt } = commit;
    await bus.readModels.jobStatus.put(jobStatusKey('acme', jobId), { revision, commitId, updatedAt, state });
  }
  const newer = exportLogSubject('acme', jobIds[0] ?? '');
  const exports: typeof bus.exports = {
    ...bus.exports,
    last: async (subject, options) => {
      if (subject === newer) throw new NewerMessage(`message 2 on ${subject} has an event that is not known.`);
      return bus.exports.last(subject, options);
    },
  };
  const context = housekeeperContext({ bus: { ...bus, exports }, objectStore, clock });

  await expect(archiveClosedJobs(context, 1_000, never)).rejects.toThrow(
    `These histories were not archived: ${newer}.`,
  );
  const archived = await Promise.all(jobIds.map((jobId) => objectStore.head(archivedJobKey('acme', jobId))));
  expect(archived.map((object) => object !== undefined)).toEqual(jobIds.map((_, n) => n > 0));
  expect(await bus.exports.subjects('exports.>')).toEqual([newer]);
});

test('a round costs what there is to archive, not what is in the log', async () => {
  const { bus, store, context } = await house();
  for (let n = 0; n < 200; n += 1) await store(n, n < 3 ? old : young);
  let reads = 0;
  const read = <T>(answer: T): T => ((reads += 1), answer);
  const exports: typeof bus.exports = {
    ...bus.exports,
    last: (...which) => read(bus.exports.last(...which)),
    texts: (subject) => read(bus.exports.texts(subject)),
    subjects: async (filter) => {
      const subjects = await bus.exports.subjects(filter);
      reads += subjects.length;
      return subjects;
    },
    storedBefore: async function* (time) {
      reads += 1;
      for await (const subject of bus.exports.storedBefore(time)) {
        reads += 1;
        yield subject;
      }
    },
  };
  const counting = { ...context, bus: { ...bus, exports } };

  expect(await archiveClosedJobs(counting, 30 * dayMs, never)).toBe(3);
  // Three jobs of two commits, and the first message that is too young.
  expect(reads).toBeLessThanOrEqual(3 * (2 + 2) + 1);
  reads = 0;
  expect(await archiveClosedJobs(counting, 30 * dayMs, never)).toBe(0);
  expect(reads).toBe(1);
});

test('jobs that stay in the log do not hold up those behind them', async () => {
  const { bus, store, context } = await house();
  const active = await store(0, { createdAt: old.createdAt, phase: 'rendering' });
  const unseen = await store(1, old);
  await bus.readModels.jobStatus.remove(jobStatusKey('acme', unseen.jobId));
  await store(2, old);
  const late = await store(3, { ...old, completedAt: young.completedAt });
  await store(4, old);

  expect(await archiveClosedJobs(context, 30 * dayMs, never)).toBe(2);
  const left = [active, unseen, late].map(({ jobId }) => exportLogSubject('acme', jobId));
  expect((await bus.exports.subjects('exports.>')).toSorted()).toEqual(left);
});

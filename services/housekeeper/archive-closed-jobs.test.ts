import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { jobStatusKey } from '#shared/contracts/read-models.ts';
import { archivedJobKey } from '#shared/contracts/stored-objects.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { NewerMessage } from '#shared/runtime/failures.ts';
import { housekeeperContext } from '../../test/support/housekeeper-context.ts';
import { exportCommit, exportState } from '../../test/support/make-commit.ts';
import { memoryBus } from '../../test/support/memory-bus.ts';
import { testObjectStore } from '../../test/support/test-object-store.ts';
import { archiveClosedJobs } from './archive-closed-jobs.ts';

test('a history that a newer program wrote stays in the log, and the others are archived', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bindery-archive-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const bus = memoryBus();
  const objectStore = testObjectStore(folder);
  // More than are archived at a time.
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
  const clock = { now: () => new Date('2026-06-01T00:00:00.000Z') };
  const context = housekeeperContext({ bus: { ...bus, exports }, objectStore, clock });

  await expect(archiveClosedJobs(context, 1_000, new AbortController().signal)).rejects.toThrow(
    `These histories were not archived: ${newer}.`,
  );
  const archived = await Promise.all(jobIds.map((jobId) => objectStore.head(archivedJobKey('acme', jobId))));
  expect(archived.map((object) => object !== undefined)).toEqual(jobIds.map((_, n) => n > 0));
  expect(await bus.exports.subjects('exports.>')).toEqual([newer]);
});

import { expect, onTestFinished, test, vi } from 'vitest';
import { archivedJobKey } from '#shared/contracts/stored-objects.ts';
import type { ExportCommit } from '#shared/aggregates/export-job/export-job.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { hungCall } from '../../../test/support/hung-call.ts';
import { exportCommit, exportState } from '../../../test/support/make-commit.ts';
import { memoryLog } from '../../../test/support/memory-log.ts';
import { Poison, Unavailable } from '#shared/runtime/failures.ts';
import { logWithArchive } from './archived-jobs.ts';

const { organization, jobId } = exportState();
const subject = exportLogSubject(organization, jobId);

async function threeCommits() {
  const log = memoryLog<ExportCommit>(async () => {});
  const first = await log.append(exportCommit(exportState()), { sequence: 0 });
  const second = await log.append(exportCommit(exportState({ phase: 'rendering' }), first), first);
  const third = await log.append(exportCommit(exportState({ phase: 'closing' }), second), second);
  const messages = (await log.texts(subject)).map(({ sequence, text }) => ({ sequence, text }));
  const body = Buffer.from(JSON.stringify({ version: 1, subject, messages }));
  const archive = { get: async (key: string) => (key === archivedJobKey(organization, jobId) ? body : undefined) };
  return { log, archive, third };
}

const revisions = async (commits: AsyncIterable<{ commit: ExportCommit }>): Promise<number[]> => {
  const found: number[] = [];
  for await (const { commit } of commits) found.push(commit.revision);
  return found;
};

test('a history that is in both is read once', async () => {
  const { log, archive } = await threeCommits();
  expect(await revisions(logWithArchive(log, archive).history(subject))).toEqual([1, 2, 3]);
});

test('a history that leaves the log while it is read continues in the archive', async () => {
  const { log, archive, third } = await threeCommits();
  const leaking = {
    ...log,
    async *history(of: string) {
      for await (const stored of log.history(of)) {
        yield stored;
        await log.purge(of, third);
        return;
      }
    },
  };
  expect(await revisions(logWithArchive(leaking, archive).history(subject))).toEqual([1, 2, 3]);
});

test('an archive that does not respond means that a system is down', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const log = logWithArchive(
    memoryLog<ExportCommit>(async () => {}),
    { get: (_key, options) => hungCall(options) },
  );
  await Promise.all([
    expect(log.last(subject)).rejects.toBeInstanceOf(Unavailable),
    vi.advanceTimersByTimeAsync(5_000),
  ]);
});

test('a history that is in neither is empty', async () => {
  const { log, archive } = await threeCommits();
  const other = exportLogSubject('other', jobId);
  expect(await revisions(logWithArchive(log, archive).history(other))).toEqual([]);
  expect(await logWithArchive(log, archive).last(other)).toBeUndefined();
});

test('an object that is not an archived job is an error, not an empty history', async () => {
  const { log } = await threeCommits();
  const broken = { get: async () => Buffer.from('{"version":2}') };
  await expect(logWithArchive(log, broken).last(exportLogSubject('other', jobId))).rejects.toThrow(Poison);
});

import { afterEach, beforeEach, expect, test } from 'vitest';
import { jobStatusKey, listPartKey } from '#shared/interfaces/read-models.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { Poison } from '#shared/runtime/failures.ts';
import { exportCommit, exportState } from '../../test/support/make-commit.ts';
import { type MemoryBus, memoryBus } from '../../test/support/memory-bus.ts';
import { runProjections } from '../../test/support/run-projections.ts';

const subject = exportLogSubject('acme', exportState().jobId);
const statusKey = jobStatusKey('acme', exportState().jobId);

let bus: MemoryBus;
let stop: () => Promise<void>;

beforeEach(() => {
  bus = memoryBus();
  stop = runProjections(bus);
});

afterEach(() => stop());

/** Three commits of one job: requested, rendering, completed. */
async function threeCommits() {
  const first = await bus.exports.append(exportCommit(exportState()), { sequence: 0 });
  const second = await bus.exports.append(exportCommit(exportState({ phase: 'rendering', progress: 10 }), first), {
    sequence: first.sequence,
  });
  const third = await bus.exports.append(exportCommit(exportState({ phase: 'completed', progress: 100 }), second), {
    sequence: second.sequence,
  });
  return [first, second, third] as const;
}

test('status and list show the last commit', async () => {
  const [, , third] = await threeCommits();
  await bus.projected();
  const status = await bus.readModels.jobStatus.get(statusKey);
  expect(status?.document).toMatchObject({
    revision: 3,
    commitId: third.commit.id,
    updatedAt: third.commit.time,
    state: { phase: 'completed' },
  });
  const list = await bus.readModels.jobList.get(listPartKey('acme', '2026-03-01', 0));
  expect(list?.document.entries).toMatchObject([{ revision: 3, status: 'completed' }]);
});

test('a commit that was delivered before changes nothing', async () => {
  const [first] = await threeCommits();
  await bus.projected();
  const before = await bus.readModels.jobStatus.get(statusKey);
  bus.memoryReaders.projectorExports.push({ subject, sequence: first.sequence, value: first.commit });
  await bus.projected();
  expect(await bus.readModels.jobStatus.get(statusKey)).toEqual(before);
});

test('a commit that overtook others is folded after them, from the log', async () => {
  const { projectorExports } = bus.memoryReaders;
  projectorExports.hold = true;
  const [, , third] = await threeCommits();
  projectorExports.hold = false;
  projectorExports.push({ subject, sequence: third.sequence, value: third.commit });
  await bus.projected();
  expect((await bus.readModels.jobStatus.get(statusKey))?.document.revision).toBe(3);
});

test('an unreadable commit becomes a dead letter with its reason, and later commits of the job wait', async () => {
  const [first] = await threeCommits();
  await bus.projected();
  const other = exportState({ jobId: `se_${'b'.repeat(22)}` });
  const otherSubject = exportLogSubject('acme', other.jobId);
  bus.memoryReaders.projectorExports.push({
    subject: otherSubject,
    sequence: 90,
    value: undefined,
    problem: new Poison('Unknown event "Nonsense".'),
  });
  bus.memoryReaders.projectorExports.push({
    subject: otherSubject,
    sequence: 91,
    value: { ...exportCommit(other, first), revision: 2 },
  });
  await bus.projected();
  expect(bus.recorded.deadLetters).toMatchObject([
    { service: 'projector', stream: 'EXPORTS', sequence: 90, reason: 'Unknown event "Nonsense".' },
  ]);
  expect(await bus.readModels.jobStatus.get(jobStatusKey('acme', other.jobId))).toBeUndefined();
});

test('a bus that is away for a moment loses nothing', async () => {
  const first = await bus.exports.append(exportCommit(exportState()), { sequence: 0 });
  await bus.projected();
  const second = exportCommit(exportState({ phase: 'rendering' }), first);
  await bus.exports.append(second, { sequence: first.sequence });
  bus.away = true;
  await Promise.resolve();
  bus.away = false;
  await bus.projected();
  expect((await bus.readModels.jobStatus.get(statusKey))?.document.revision).toBe(2);
});

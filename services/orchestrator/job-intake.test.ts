import pino from 'pino';
import { expect, test } from 'vitest';
import type { ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import { exportCommit, exportState } from '../../test/support/make-commit.ts';
import { type MemoryBus, memoryBus } from '../../test/support/memory-bus.ts';
import { BusUnavailable } from '#shared/messaging/bus.ts';
import { activeJob } from './job-registry.ts';
import { takeOver } from './job-intake.ts';

const stateOf = (digit: string) =>
  exportState({ jobId: `se_${digit.repeat(22)}`, organization: 'acme', phase: 'rendering' });

/** A bus with these active jobs; reading a subject fails if `isAway` returns true for it. */
async function busWith(states: ExportJobState[], isAway: (subject: string) => boolean): Promise<MemoryBus> {
  const bus = memoryBus();
  for (const state of states) {
    await bus.exports.append(exportCommit(state), { sequence: 0 });
    const { organization, jobId, createdAt } = state;
    await bus.activeJobs.put(`${organization}.${jobId}`, { organization, jobId, createdAt });
  }
  const last: typeof bus.exports.last = async (subject, options) => {
    if (isAway(subject)) throw new BusUnavailable('It is away.');
    return bus.exports.last(subject, options);
  };
  return { ...bus, exports: { ...bus.exports, last } };
}

function takingOver(bus: MemoryBus, signal: AbortSignal) {
  const taken: string[] = [];
  const registry = {
    add: (stored: Parameters<typeof activeJob>[0]) => {
      taken.push(stored.commit.data.state.jobId);
      return activeJob(stored);
    },
  };
  const takeAll = async () =>
    takeOver({ bus, logger: pino({ level: 'silent' }) }, registry, await bus.activeJobs.keys(), signal);
  return { taken, all: takeAll() };
}

test('a job whose log cannot be read while the bus is away is taken over when it is back', async () => {
  let reads = 0;
  const bus = await busWith([stateOf('a')], () => (reads += 1) === 1);
  const { taken, all } = takingOver(bus, new AbortController().signal);
  await all;
  expect(taken).toEqual([stateOf('a').jobId]);
  expect(await bus.activeJobs.keys()).toHaveLength(1);
});

test('jobs that cannot be read yet hold up no other, however many they are', async () => {
  const unreadable = Array.from({ length: 40 }, (_, at) => stateOf(String.fromCharCode(65 + at)));
  const subjects = new Set(unreadable.map(({ jobId }) => `exports.acme.${jobId}.log`));
  const bus = await busWith([...unreadable, stateOf('z')], (subject) => subjects.has(subject));
  const stop = new AbortController();
  const { taken, all } = takingOver(bus, stop.signal);
  await expect.poll(() => taken).toEqual([stateOf('z').jobId]);
  stop.abort();
  await expect(all).rejects.toThrow(/aborted/);
});

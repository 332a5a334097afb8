import pino from 'pino';
import { expect, test } from 'vitest';
import { exportCommit, exportState } from '../../test/support/make-commit.ts';
import { memoryBus } from '../../test/support/memory-bus.ts';
import { BusUnavailable } from '#shared/messaging/bus.ts';
import { activeJob } from './job-registry.ts';
import { takeOver } from './job-intake.ts';

test('a job whose log cannot be read while the bus is away is taken over when it is back', async () => {
  const bus = memoryBus();
  const state = exportState({ jobId: `se_${'a'.repeat(22)}`, organization: 'acme', phase: 'rendering' });
  await bus.exports.append(exportCommit(state), { sequence: 0 });
  const { organization, jobId, createdAt } = state;
  await bus.activeJobs.put(`${organization}.${jobId}`, { organization, jobId, createdAt });
  let reads = 0;
  const flaky: typeof bus = {
    ...bus,
    exports: {
      ...bus.exports,
      last: (subject, options) => {
        reads += 1;
        return reads === 1 ? Promise.reject(new BusUnavailable('It is away.')) : bus.exports.last(subject, options);
      },
    },
  };
  const taken: string[] = [];
  const registry = {
    add: (stored: Parameters<typeof activeJob>[0]) => {
      taken.push(stored.commit.data.state.jobId);
      return activeJob(stored);
    },
  };
  await takeOver({ bus: flaky, logger: pino({ level: 'silent' }) }, registry, new AbortController().signal);
  expect(taken).toEqual([jobId]);
  expect(await bus.activeJobs.keys()).toHaveLength(1);
});

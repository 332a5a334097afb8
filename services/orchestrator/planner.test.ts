import { expect, test } from 'vitest';
import { Unavailable } from '#shared/runtime/failures.ts';
import { orchestratorContext } from '../../test/support/leading-orchestrator.ts';
import { exportCommit, exportState } from '../../test/support/make-commit.ts';
import { type ActiveJob, activeJob, type JobRegistry } from './job-registry.ts';
import { jobPlanner } from './planner.ts';

/** A planner over a store without contents, so that every plan fails its job at once, except for keys for which `isAway` returns true. */
function planning(isAway: (key: string) => boolean = () => false) {
  const stop = new AbortController();
  const planned: string[] = [];
  const registry: JobRegistry = {
    jobs: new Map(),
    add: (stored) => activeJob(stored),
    change: async (job) => {
      planned.push(job.organization);
      return [];
    },
  };
  const context = orchestratorContext({
    readObject: async (key) => {
      if (isAway(key)) throw new Unavailable('The store is away.');
      return undefined;
    },
  });
  return { planner: jobPlanner(context, () => registry, stop.signal), planned, stop };
}

function requested(organization: string, number = 0): ActiveJob {
  const state = exportState({ jobId: `se_${String(number).padStart(22, '0')}`, organization });
  return activeJob({ commit: exportCommit(state), sequence: 1 });
}

test('an organization with a thousand requests does not delay the only one of another', async () => {
  const { planner, planned } = planning();
  for (let at = 0; at < 1_000; at += 1) planner.changed(requested('many', at));
  planner.changed(requested('one', 1_000));
  await expect.poll(() => planned.length).toBe(1_001);
  // Two plans were being made when it arrived, and the first organization has four turns in a row.
  expect(planned.indexOf('one')).toBeLessThanOrEqual(6);
});

test('jobs that cannot be planned yet hold up no other', async () => {
  const { planner, planned, stop } = planning((key) => key.includes('/away/'));
  for (let at = 0; at < 10; at += 1) planner.changed(requested('away', at));
  planner.changed(requested('here', 10));
  await expect.poll(() => planned).toEqual(['here']);
  stop.abort();
  await planner.settled();
});

test('a job that ended before its turn is not planned', async () => {
  const { planner, planned } = planning();
  const jobs = Array.from({ length: 5 }, (_, at) => requested('acme', at));
  for (const job of jobs) planner.changed(job);
  planner.ended(jobs[4] as ActiveJob);
  await expect.poll(() => planned.length).toBe(4);
  await planner.settled();
  expect(planned).toHaveLength(4);
});

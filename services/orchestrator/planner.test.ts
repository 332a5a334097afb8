import { expect, test } from 'vitest';
import type { ExportCommand } from '#shared/aggregates/export-job/decide.ts';
import type { ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import { planKey, siteModelKey } from '#shared/contracts/stored-objects.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { Unavailable } from '#shared/runtime/failures.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { orchestratorContext } from '../../test/support/leading-orchestrator.ts';
import { exportCommit, exportState } from '../../test/support/make-commit.ts';
import { siteModel } from '../../test/support/site-model.ts';
import { testObjectStore } from '../../test/support/test-object-store.ts';
import { type ActiveJob, activeJob, type JobRegistry, stateOf } from './job-registry.ts';
import { overdue } from './lead.ts';
import { largeModelBytes, type PlanMaker } from './plan-maker.ts';
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

/** A planner whose jobs complete as soon as they are planned. It returns the plans of jobs, and counts how many were made from the site model. */
async function completing(objectStore: ObjectStore) {
  const stop = new AbortController();
  const context = { ...orchestratorContext(), objectStore };
  let made = 0;
  let job: ActiveJob | undefined;
  const plans: PlanMaker = {
    ...context.plans,
    make: (question) => {
      made += 1;
      return context.plans.make(question);
    },
  };
  const commands: ExportCommand[] = [];
  const afters: (string | undefined)[] = [];
  const registry: JobRegistry = {
    jobs: new Map(),
    add: (stored) => activeJob(stored),
    change: async (job, command) => {
      commands.push(command);
      afters.push(job.after);
      if (command.type !== 'Plan') return [];
      const { planHash, rendererVersion } = command;
      const state = { ...job.stored.commit.data.state, phase: 'completed' as const, planHash, rendererVersion };
      job.stored = { commit: exportCommit(state), sequence: 2 };
      planner.ended(job);
      return [];
    },
  };
  const planner = jobPlanner({ ...context, plans }, () => registry, stop.signal);
  return {
    async plan(changes: Partial<ExportJobState>): Promise<ExportCommand | undefined> {
      const state = exportState({ ...changes, jobId: `se_${String(commands.length).padStart(22, '0')}` });
      job = activeJob({ commit: exportCommit(state), sequence: 1 });
      planner.changed(job);
      const before = commands.length;
      await expect.poll(() => commands.length).toBe(before + 1);
      return commands.at(-1);
    },
    timesMade: () => made,
    /** The last job. */
    job: () => job,
    /** The plan that the task for the bundle of the last job names as `after`. */
    after: () => afters.at(-1),
    close: () => plans.close(),
  };
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
  // Four plans were being made when it arrived, and the first organization has four turns in a row.
  expect(planned.indexOf('one')).toBeLessThanOrEqual(8);
});

test('jobs that cannot be planned yet hold up no other', async () => {
  const { planner, planned, stop } = planning((key) => key.includes('/away/'));
  for (let at = 0; at < 10; at += 1) planner.changed(requested('away', at));
  planner.changed(requested('here', 10));
  await expect.poll(() => planned).toEqual(['here']);
  stop.abort();
  await planner.settled();
});

test('a plan that a full disk does not take is made once, names the reason, and is stored when there is room', async () => {
  const objectStore = testObjectStore();
  const model = siteModel([{ path: 'a' }, { path: 'b' }]);
  const { contentVersion } = model;
  const of = { organization: 'acme', domain: 'docs', contentVersion };
  await objectStore.put(siteModelKey(of), Buffer.from(JSON.stringify(model)));
  let refusals = 1;
  const planner = await completing({
    ...objectStore,
    put: async (key, ...body) => {
      if (key.startsWith('plans/') && refusals > 0) {
        refusals -= 1;
        throw new Unavailable('its disk is full');
      }
      return objectStore.put(key, ...body);
    },
  });
  const planned = planner.plan(of);
  await expect.poll(() => planner.job()?.planWaitsFor).toBe('its disk is full');
  const { createdAt } = stateOf(planner.job() as ActiveJob);
  const atDeadline = overdue(planner.job() as ActiveJob, Date.parse(createdAt) + 60_000, 60_000);
  expect(atDeadline).toMatchObject({
    error: expect.stringMatching(
      /^The export did not end within 1 minutes: it was not planned yet, because its disk is full\. /,
    ),
  });
  const command = await planned;
  expect([command?.type, planner.timesMade(), planner.job()?.planWaitsFor]).toEqual(['Plan', 1, undefined]);
  expect(await objectStore.head(planKey('acme', command?.type === 'Plan' ? command.planHash : ''))).toBeDefined();
  await planner.close();
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

test('the plan of a completed export is taken again for the same content and options, unless it is gone or proves a replay', async () => {
  const objectStore = testObjectStore();
  const planner = await completing(objectStore);
  try {
    const publish = async (text: string) => {
      const model = siteModel([{ path: 'a', text }, { path: 'b' }]);
      const { contentVersion } = model;
      await objectStore.put(
        siteModelKey({ organization: 'acme', domain: 'docs', contentVersion }),
        Buffer.from(JSON.stringify(model)),
      );
      return { organization: 'acme', domain: 'docs', contentVersion };
    };
    const before = await publish('one');
    const first = await planner.plan(before);
    expect(first).toMatchObject({ type: 'Plan', pageTotal: 2 });
    const planHash = first?.type === 'Plan' ? first.planHash : '';
    expect(planner.after()).toBeUndefined();
    expect(await planner.plan(before)).toEqual(first);
    expect(planner.timesMade()).toBe(1);

    expect(await planner.plan({ ...before, replayOf: `se_${'9'.repeat(22)}` })).toEqual(first);
    expect(planner.timesMade()).toBe(2);
    expect(planner.after()).toBeUndefined();

    await objectStore.put(planKey('acme', planHash), Buffer.from('{"cut":'));
    expect(await planner.plan(before)).toEqual(first);
    expect(planner.timesMade()).toBe(3);
    expect(sha256Of((await objectStore.get(planKey('acme', planHash))) ?? '')).toBe(planHash);

    const changed = await planner.plan(await publish('two'));
    expect(changed).not.toEqual(first);
    expect(planner.after()).toBe(planHash);
    expect(await planner.plan({ ...before, label: 'v1' })).not.toEqual(first);
    const { options } = exportState();
    expect(await planner.plan({ ...before, options: { ...options, groups: ['staff'] } })).not.toEqual(first);
    expect(planner.timesMade()).toBe(6);
  } finally {
    await planner.close();
  }
});

test('a large plan waits for its turn beside small ones, and a site too large for the memory fails with the reason', async () => {
  const objectStore = testObjectStore();
  const context = { ...orchestratorContext(), objectStore };
  const made: string[] = [];
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const plans: PlanMaker = {
    ...context.plans,
    mostModelBytes: 9_000_000,
    async make({ organization, model }) {
      made.push(organization);
      if (model.length > largeModelBytes) await released;
      return { planHash: 'a'.repeat(64), text: '{}', pageTotal: 0, chunks: [] };
    },
  };
  const commands = new Map<string, ExportCommand>();
  const registry: JobRegistry = {
    jobs: new Map(),
    add: (stored) => activeJob(stored),
    change: async (job, command) => {
      commands.set(job.organization, command);
      return [];
    },
  };
  const stop = new AbortController();
  const planner = jobPlanner({ ...context, plans }, () => registry, stop.signal);
  const sizes = { 'large-a': 3e6, 'large-b': 3e6, 'large-c': 3e6, 'large-d': 3e6, small: 100, huge: 9_000_001 };
  let number = 0;
  for (const [organization, size] of Object.entries(sizes)) {
    const job = requested(organization, (number += 1));
    await objectStore.put(siteModelKey(stateOf(job)), Buffer.alloc(size));
    planner.changed(job);
  }
  await expect.poll(() => commands.size).toBe(2);
  expect(made.toSorted()).toEqual(['large-a', 'small']);
  expect(commands.get('small')?.type).toBe('Plan');
  const error = expect.stringContaining('has 10 MB, and the memory of this orchestrator allows 9 MB');
  expect(commands.get('huge')).toEqual({ type: 'Fail', error });
  release();
  await expect.poll(() => commands.size).toBe(Object.keys(sizes).length);
  expect(made).toEqual(expect.arrayContaining(['large-b', 'large-c', 'large-d']));
  stop.abort();
  await planner.settled();
});

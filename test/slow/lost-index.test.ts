import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ExportCommit } from '#shared/aggregates/export-job/export-job.ts';
import { siteModelKey } from '#shared/contracts/stored-objects.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { domain, type ExportHarness, organization, startExportHarness } from '../support/export-harness.ts';
import { type LeadingOrchestrator, leadingOrchestrator } from '../support/leading-orchestrator.ts';

const ended = ({ data }: ExportCommit) => ['completed', 'failed', 'cancelled'].includes(data.state.phase);
const pages = (count: number) => Array.from({ length: count }, (_, at) => ({ path: `guides/page-${at}` }));

describeWithServers(['nats-server'], 'the index of active jobs was deleted by hand', () => {
  let harness: ExportHarness;
  let leader: LeadingOrchestrator;
  let contentVersion: string;
  /** Allows the leader to make plans, which wait until then. */
  let allowPlans: () => void;

  beforeEach(async () => {
    harness = await startExportHarness();
    contentVersion = await harness.publish(pages(20));
    const allowed = Promise.withResolvers<void>();
    allowPlans = allowed.resolve;
    const model = siteModelKey({ organization, domain, contentVersion });
    const objectStore: typeof harness.objectStore = {
      ...harness.objectStore,
      async get(key, options) {
        if (key === model) await allowed.promise;
        return harness.objectStore.get(key, options);
      },
    };
    leader = await leadingOrchestrator(harness, { objectStore });
  });
  afterEach(async () => {
    allowPlans();
    await leader.stop();
    await harness.stop();
  });

  /** Deletes the index once the leader has filled it, which it begins when it leads. */
  async function deleteIndex(): Promise<void> {
    const { activeJobsMark } = await harness.bus.connect('orchestrator', 'looking');
    await expect.poll(() => activeJobsMark.isSet()).toBe(true);
    await (await harness.bus.admin()).streams.delete('KV_active-jobs');
  }
  async function indexed(): Promise<string[]> {
    const orchestrator = await harness.bus.connect('orchestrator', 'looking');
    return (await orchestrator.activeJobs.keys(`${organization}.>`)).map((key) => key.split('.')[1] ?? '');
  }
  const phaseOf = async (jobId: string) => {
    const last = await harness.gateway.exports.last(`exports.${organization}.${jobId}.log`, { fromLeader: true });
    return last?.commit.data.state.phase;
  };

  /** Brings a new job into this phase, in which it stays because a worker is missing or its plan is not allowed yet. */
  const reach: Record<string, () => Promise<string>> = {
    async 'is planned'() {
      const jobId = await harness.request(contentVersion);
      await expect.poll(indexed).toEqual([jobId]);
      return jobId;
    },
    async renders() {
      allowPlans();
      const jobId = await harness.request(contentVersion);
      await harness.until(jobId, ({ data }) => data.state.phase === 'rendering');
      return jobId;
    },
    async closes() {
      allowPlans();
      await harness.start('page-renderer');
      const jobId = await harness.request(contentVersion);
      await harness.until(jobId, ({ data }) => data.state.phase === 'joining');
      return jobId;
    },
  };
  const startWorkers = () => Promise.all([harness.start('page-renderer'), harness.start('bundler')]);

  test.each(Object.keys(reach))('while a job %s, and the next leader completes it', async (phase) => {
    const jobId = (await reach[phase]?.()) ?? '';
    await deleteIndex();
    const stopping = leader.stop();
    allowPlans();
    await stopping;
    // Without tasks, no worker reports on the job: a report would put the job back into the index.
    await (await harness.bus.admin()).streams.purge('TASKS');
    await harness.bus.provision();
    // The purged tasks are redispatched as soon as they count as lost.
    leader = await leadingOrchestrator(harness, { taskLostAfterMs: 2_000 });
    await expect.poll(indexed).toEqual([jobId]);
    await startWorkers();
    expect((await harness.until(jobId, ended)).data.state).toMatchObject({ phase: 'completed', pageCount: 20 });
    await expect.poll(indexed).toEqual([]);
  });

  test.each(Object.keys(reach))('while a job %s, and the same leader completes it and others', async (phase) => {
    const jobId = (await reach[phase]?.()) ?? '';
    await deleteIndex();
    allowPlans();
    await startWorkers();
    // The index is still missing.
    const other = await harness.request(contentVersion);
    await expect.poll(() => phaseOf(jobId)).toBe('completed');
    await expect.poll(() => phaseOf(other)).toBe('completed');
  });

  test('and is made again while services run: it has the active jobs again', async () => {
    const jobId = (await reach['is planned']?.()) ?? '';
    await deleteIndex();
    const other = await harness.request(contentVersion);
    // A leader that lost its lease meanwhile finds both jobs in the log.
    await Promise.race([
      leader.whenSaid('an active job is not in the index, which is missing'),
      leader.whenSaid('the index of active jobs is missing; the log is read instead'),
    ]);
    await harness.bus.provision();
    await expect.poll(async () => (await indexed()).sort()).toEqual([jobId, other].sort());
  });
});

import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ExportCommit } from '#shared/aggregates/export-job/export-job.ts';
import { commitHash } from '#shared/messaging/log/commit-chain.ts';
import { jobStatusKey } from '#shared/interfaces/read-models.ts';
import { planKey } from '#shared/contracts/stored-objects.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { ObjectStoreUnavailable } from '#shared/storage/object-store.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { type ExportHarness, organization, startExportHarness } from '../support/export-harness.ts';
import { type LeadingOrchestrator, leadingOrchestrator } from '../support/leading-orchestrator.ts';

const ended = ({ data }: ExportCommit) => ['completed', 'failed', 'cancelled'].includes(data.state.phase);
const isRendering = ({ data }: ExportCommit) => data.state.phase === 'rendering';
/** Number of facts, more than the bus delivers without an acknowledgement. */
const moreThanMayWait = 1_100;
const factOf = (jobId: string, at: number) => ({
  ...{ version: 1 as const, id: `f${at}`, source: 'stranger', organization, jobId },
  time: new Date().toISOString(),
});
const pages = (count: number) => Array.from({ length: count }, (_, at) => ({ path: `guides/page-${at}` }));

describeWithServers(['nats-server'], 'beside a job that is broken', () => {
  let harness: ExportHarness;
  let orchestrator: BusOf<'orchestrator'>;
  const leaders: LeadingOrchestrator[] = [];
  beforeEach(async () => {
    harness = await startExportHarness();
    orchestrator = await harness.bus.connect('orchestrator', 'test');
  });
  afterEach(async () => {
    await Promise.all(leaders.splice(0).map((leader) => leader.stop()));
    await harness.stop();
  });

  async function leading(changes?: Parameters<typeof leadingOrchestrator>[1]): Promise<LeadingOrchestrator> {
    const leader = await leadingOrchestrator(harness, changes);
    leaders.push(leader);
    return leader;
  }
  const activeJobs = () => orchestrator.activeJobs.keys();
  const keyOf = (jobId: string) => jobStatusKey(organization, jobId);

  /** Purges the log, as an operator could do by hand; a restored backup can have the same effect. */
  async function loseLog(jobId: string): Promise<void> {
    const housekeeper = await harness.bus.connect('housekeeper');
    const subject = exportLogSubject(organization, jobId);
    const last = await housekeeper.exports.last(subject, { fromLeader: true });
    await housekeeper.exports.purge(subject, { sequence: last?.sequence ?? 0 });
  }

  test.each([
    [
      'a state',
      (commit: ExportCommit) => ({ ...commit.data, state: { ...commit.data.state, phase: 'verifying' as never } }),
    ],
    [
      'an event',
      (commit: ExportCommit) => ({ ...commit.data, events: [{ type: 'Verified', version: 1, data: {} } as never] }),
    ],
  ])('that has %s of a newer program, a new leader leads, says so, and exports', async (_, newerData) => {
    const contentVersion = await harness.publish(pages(20));
    const jobId = await harness.request(contentVersion);
    const first = await orchestrator.exports.last(exportLogSubject(organization, jobId), { fromLeader: true });
    if (first === undefined) throw new Error('The request is not in the log.');
    const { commit, sequence } = first;
    const newer = {
      ...structuredClone(commit),
      id: 'ec_newer',
      revision: 2,
      previousSequence: sequence,
      previousHash: commit.hash,
      data: newerData(commit),
    };
    await orchestrator.exports.append({ ...newer, hash: commitHash(newer) }, { sequence });
    await orchestrator.activeJobs.put(keyOf(jobId), { organization, jobId, createdAt: commit.time });

    const leader = await leading();
    await Promise.all([harness.start('page-renderer'), harness.start('bundler')]);
    const other = await harness.request(contentVersion);
    expect((await harness.until(other, ended)).data.state.phase).toBe('completed');
    const msg = 'a job cannot be taken over: this program cannot read its log';
    await leader.whenSaid(msg);
    expect(leader.said).toContainEqual(expect.objectContaining({ jobId, msg }));
    // The job stays in the index, where a program that can read its log finds it.
    expect(await activeJobs()).toEqual([keyOf(jobId)]);
  });

  test('whose log is gone, others are exported, and that one leaves the registry', async () => {
    const contentVersion = await harness.publish(pages(20));
    const leader = await leading();
    const jobId = await harness.request(contentVersion);
    await harness.until(jobId, isRendering);
    await loseLog(jobId);
    // The workers send facts about the job's chunks.
    await Promise.all([harness.start('page-renderer'), harness.start('bundler')]);
    await expect.poll(activeJobs).toEqual([]);
    expect(leader.said).toContainEqual(expect.objectContaining({ jobId, msg: expect.stringContaining('is gone') }));
    const other = await harness.request(contentVersion);
    expect((await harness.until(other, ended)).data.state.phase).toBe('completed');
    // Facts without a job are not redelivered.
    const facts = await orchestrator.factReader();
    await expect.poll(async () => (await facts.position()).leftCount).toBe(0);
  });

  test('whose log is gone, the deadline of others is kept', async () => {
    const contentVersion = await harness.publish(pages(20));
    await leading({ exportDeadlineMs: 3_000 });
    const jobId = await harness.request(contentVersion);
    await harness.until(jobId, isRendering);
    await loseLog(jobId);
    const other = await harness.request(contentVersion);
    expect((await harness.until(other, ended)).data.state.error).toMatch(/^The export did not end within/);
    await expect.poll(activeJobs).toEqual([]);
  });

  test('whose log is gone, others continue although it has more facts than may be unacknowledged', async () => {
    const contentVersion = await harness.publish(pages(10));
    const renderer = await harness.bus.connect('page-renderer', 'stranger');
    await leading();
    const jobId = await harness.request(contentVersion);
    await harness.until(jobId, isRendering);
    await loseLog(jobId);
    const chunks = Array.from({ length: moreThanMayWait }, (_, chunk) => chunk);
    await Promise.all(
      chunks.map((chunk) => {
        const data = { chunk, attempt: 1, pageCount: 10, reused: false, durationMs: 1 };
        return renderer.facts.record({ type: 'ChunkRendered', ...factOf(jobId, chunk), data });
      }),
    );
    await Promise.all([harness.start('page-renderer'), harness.start('bundler')]);
    const other = await harness.request(contentVersion);
    expect((await harness.until(other, ended)).data.state.phase).toBe('completed');
  });

  test('whose plan alone cannot be read, facts that need the plan delay no other job and no other fact', async () => {
    const [contentVersion, otherVersion] = [await harness.publish(pages(10)), await harness.publish(pages(12))];
    const unreadable = new Set<string>();
    const objectStore: typeof harness.objectStore = {
      ...harness.objectStore,
      get: (key, options) =>
        unreadable.has(key)
          ? Promise.reject(new ObjectStoreUnavailable(`${key}: EIO`))
          : harness.objectStore.get(key, options),
    };
    const leader = await leading({ objectStore });
    const jobId = await harness.request(contentVersion);
    const planned = await harness.until(jobId, isRendering);
    unreadable.add(planKey(organization, planned.data.state.planHash ?? ''));
    const bundler = await harness.bus.connect('bundler', 'stranger');
    const data = { chunks: [0], reason: 'it is gone' };
    await Promise.all(
      Array.from({ length: moreThanMayWait }, (_, at) =>
        bundler.facts.record({ type: 'SegmentsLost', ...factOf(jobId, at), data }),
      ),
    );
    await leader.whenSaid('too many facts wait; the work of these is handed out again');
    await Promise.all([harness.start('page-renderer'), harness.start('bundler')]);
    const other = await harness.request(otherVersion);
    expect((await harness.until(other, ended)).data.state.phase).toBe('completed');
    const last = () => orchestrator.exports.last(planned.subject, { fromLeader: true });
    await expect.poll(async () => (await last())?.commit.data.state.phase).toBe('completed');
    const facts = await orchestrator.factReader();
    await expect.poll(async () => (await facts.position()).leftCount).toBe(0);
  });
});

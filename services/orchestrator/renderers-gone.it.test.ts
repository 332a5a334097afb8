import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ExportCommit } from '#shared/aggregates/export-job/export-job.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { type ExportHarness, organization, startExportHarness } from '../../test/support/export-harness.ts';
import { leadingOrchestrator } from '../../test/support/leading-orchestrator.ts';

const oldVersion = 'r-0000000000aa';
const ended = ({ data }: ExportCommit) => ['completed', 'failed', 'cancelled'].includes(data.state.phase);
const typesOf = ({ data }: ExportCommit) => data.events.map(({ type }) => type);

describeWithServers(['nats-server'], 'a deploy that replaces all renderers', () => {
  let harness: ExportHarness;
  beforeAll(async () => {
    harness = await startExportHarness();
  });
  afterAll(() => harness?.stop());

  test('an export that they had begun is rendered by the new ones, and has the same bytes', async () => {
    const leader = await leadingOrchestrator(harness, { rendererGoneAfterMs: 2_000 });
    const old = await harness.bus.connect('page-renderer', 'old');
    const announcement = old.presence.announce(() => ({
      ...{ service: 'page-renderer', instance: 'old', time: new Date().toISOString(), rendererVersion: oldVersion },
      ...{ slots: 2, freeSlots: 2, tasks: [], draining: false },
    }));
    await expect.poll(() => leader.renderers.liveSlots(oldVersion)).toBe(2);
    const contentVersion = await harness.publish(
      Array.from({ length: 40 }, (_, at) => ({ path: `guides/page-${at}` })),
    );
    const jobId = await harness.request(contentVersion);
    const { state } = (await harness.until(jobId, ({ data }) => data.state.phase === 'rendering')).data;
    expect(state.rendererVersion).toBe(oldVersion);
    const reportRendered = (chunk: number) =>
      old.facts.record({
        ...{ type: 'ChunkRendered', version: 1, id: `old-${chunk}`, source: 'page-renderer-old' },
        ...{ time: new Date().toISOString(), organization, jobId, planHash: state.planHash },
        data: { chunk, attempt: 1, pageCount: 1, reused: false, durationMs: 1 },
      });
    await reportRendered(0);
    await harness.until(jobId, (commit) => typesOf(commit).includes('ChunkRendered'));

    announcement.stop();
    await Promise.all([harness.start('page-renderer'), harness.start('bundler')]);
    const replanned = await harness.until(jobId, (commit) => typesOf(commit).includes('PagesReplanned'));
    expect(replanned.data.state).toMatchObject({ pageCount: 0, doneChunks: '', replans: 1 });
    expect(replanned.data.state.rendererVersion).not.toBe(oldVersion);
    // One of the old renderers was only slow.
    await reportRendered(1);
    const completed = await harness.until(jobId, ended);
    expect(completed.data.state).toMatchObject({ phase: 'completed', pageCount: 40 });
    expect(completed.data.state.lostSegments).toBeUndefined();

    const again = await harness.until(await harness.request(contentVersion), ended);
    expect(again.data.state.bundle).toEqual(completed.data.state.bundle);
    const subject = exportLogSubject(organization, jobId);
    const types: string[] = [];
    for await (const { commit } of harness.gateway.exports.history(subject)) types.push(...typesOf(commit));
    expect(types.filter((type) => type === 'PagesReplanned')).toHaveLength(1);
    await leader.stop();
  });
});

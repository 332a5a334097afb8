import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readArchive } from '#shared/export/bundle/read-archive.ts';
import { verifyBundle } from '#shared/export/bundle/verify-bundle.ts';
import { chunksIn } from '#shared/aggregates/export-job/chunk-bitmap.ts';
import type { ExportCommit } from '#shared/aggregates/export-job/export-job.ts';
import { segmentKey, sidecarKey } from '#shared/contracts/stored-objects.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { type ExportHarness, organization, startExportHarness } from '../../test/support/export-harness.ts';

const ended = ({ data }: ExportCommit) => ['completed', 'failed', 'cancelled'].includes(data.state.phase);
const pages = (count: number) => Array.from({ length: count }, (_, at) => ({ path: `guides/page-${at}` }));
/** Numbers of the chunks that a job took from earlier exports, and of those that were rendered for it. */
const chunksOf = (commits: ExportCommit[]) => {
  const events = commits.flatMap(({ data }) => data.events);
  return {
    reused: events.flatMap((event) => (event.type === 'ChunksReused' ? chunksIn(event.data.chunks) : [])),
    rendered: events.flatMap((event) => (event.type === 'ChunkRendered' ? event.data.chunk : [])).sort((a, b) => a - b),
  };
};

describeWithServers(['nats-server'], 'an export over a real bus', () => {
  let harness: ExportHarness;
  beforeAll(async () => {
    harness = await startExportHarness();
    await Promise.all([harness.start('orchestrator'), harness.start('page-renderer'), harness.start('bundler')]);
  });
  afterAll(() => harness?.stop());

  async function history(jobId: string): Promise<ExportCommit[]> {
    const commits: ExportCommit[] = [];
    for await (const { commit } of harness.gateway.exports.history(`exports.${organization}.${jobId}.log`)) {
      commits.push(commit);
    }
    return commits;
  }
  const bundleOf = async ({ data }: ExportCommit) =>
    Buffer.from((await harness.objectStore.get(data.state.bundle?.key ?? '')) ?? '');

  test('from the request to a bundle that verifies; the same export takes that bundle, and a replay makes it again', async () => {
    const contentVersion = await harness.publish(pages(100), { assets: { 'images/a.svg': '<svg/>' } });
    const first = await harness.until(await harness.request(contentVersion), ended);
    expect(first.data.state).toMatchObject({ phase: 'completed', pageCount: 100, pageTotal: 100, progress: 100 });
    const bundle = await bundleOf(first);
    expect(bundle.length).toBe(first.data.state.bundle?.sizeBytes);
    await expect(verifyBundle(Readable.from([bundle]))).resolves.toMatchObject({ problems: [] });

    expect(first.data.state.reusedBundle).toBeUndefined();

    const same = await harness.until(await harness.request(contentVersion), ended);
    const { bundle: stored } = first.data.state;
    expect(same.data.state).toMatchObject({ phase: 'completed', bundle: stored, reusedBundle: true });
    const all = [...Array(first.data.state.chunkCount).keys()];
    expect(chunksOf(await history(same.data.state.jobId))).toEqual({ reused: all, rendered: [] });

    const jobId = await harness.request(contentVersion, { replayOf: first.data.state.jobId });
    const replay = await harness.until(jobId, ended);
    expect(replay.data.state).toMatchObject({ phase: 'completed', bundle: stored, digestMatch: 'same' });
    expect(replay.data.state.reusedBundle).toBeUndefined();
    expect(chunksOf(await history(jobId))).toEqual({ reused: [], rendered: all });
  });

  test('a stored bundle whose bytes have changed is joined again', async () => {
    const contentVersion = await harness.publish(pages(20));
    const first = await harness.until(await harness.request(contentVersion), ended);
    const key = first.data.state.bundle?.key ?? '';
    const damaged = await bundleOf(first);
    damaged[100] = (damaged[100] ?? 0) ^ 255;
    await harness.objectStore.put(key, damaged, { metadata: { sha256: first.data.state.bundle?.sha256 ?? '' } });
    const second = await harness.until(await harness.request(contentVersion), ended);
    expect(second.data.state).toMatchObject({ phase: 'completed', bundle: first.data.state.bundle });
    expect(second.data.state.reusedBundle).toBeUndefined();
    await expect(verifyBundle(Readable.from([await bundleOf(second)]))).resolves.toMatchObject({ problems: [] });
  });

  test('a segment that is gone or damaged is rendered again', async () => {
    const contentVersion = await harness.publish(pages(70));
    const first = await harness.until(await harness.request(contentVersion), ended);
    const planned = await harness.objectStore.get(`plans/${organization}/${first.data.state.planHash}.json`);
    const { chunks } = JSON.parse(Buffer.from(planned ?? '').toString());
    await harness.objectStore.remove(sidecarKey(organization, chunks[0].key));
    const damaged = segmentKey(organization, chunks[1].key);
    const bytes = Buffer.from((await harness.objectStore.get(damaged)) ?? '');
    bytes[100] = (bytes[100] ?? 0) ^ 255;
    await harness.objectStore.put(damaged, bytes);
    // The bundle is removed, because a stored one would be reused without reading a segment.
    await harness.objectStore.remove(first.data.state.bundle?.key ?? '');

    const jobId = await harness.request(contentVersion);
    const second = await harness.until(jobId, ended);
    expect(second.data.state).toMatchObject({ phase: 'completed', bundle: first.data.state.bundle });
    const types = (await history(jobId)).flatMap(({ data }) => data.events.map(({ type }) => type));
    expect(types).toContain('SegmentLost');
  });

  test('a page over a limit is shown as its source and named in the report, and fails no job', async () => {
    const long = `${'> '.repeat(500)}too deep\n`;
    const contentVersion = await harness.publish([...pages(3), { path: 'broken', text: long }]);
    const whole = await harness.until(await harness.request(contentVersion), ended);
    expect(whole.data.state).toMatchObject({ phase: 'completed', pageCount: 4 });
    const files = new Map<string, string>();
    const budgets = { packedBytes: 1e7, unpackedBytes: 1e8, entries: 1e4, ratio: 1e4 };
    for await (const { path, body } of readArchive(Readable.from([await bundleOf(whole)]), budgets))
      files.set(path.slice(path.indexOf('/') + 1), await text(body));
    const report = JSON.parse(files.get('_bindery/report.json') ?? '') as { failedPages: object[] };
    expect(report.failedPages).toMatchObject([{ path: 'broken', reason: expect.stringContaining('nested') as string }]);
    expect(files.get('broken.html')).toContain('too deep');
  });

  test('content that is gone fails the job with the reason', async () => {
    const failed = await harness.until(await harness.request(`cv_${'f'.repeat(32)}`), ended);
    expect(failed.data.state.error).toMatch(/^The files of content version cv_f+ are missing/);
  });

  test('a job is cancelled by who asks for it', async () => {
    const contentVersion = await harness.publish(pages(400).map(({ path }) => ({ path: `many/${path}` })));
    const jobId = await harness.request(contentVersion);
    await harness.until(jobId, ({ data }) => data.state.phase !== 'requested');
    const request = { id: `req_${'7'.repeat(22)}`, addressHash: 'a'.repeat(64) };
    await harness.gateway.facts.record({
      type: 'CancelRequested',
      version: 1,
      id: `cr_${jobId}`,
      source: 'gateway',
      time: new Date().toISOString(),
      organization,
      jobId,
      data: { actor: { kind: 'key', id: 'key_0000000000000007' }, request },
    });
    const cancelled = await harness.until(jobId, ended);
    expect(cancelled.data.state).toMatchObject({
      phase: 'cancelled',
      error: 'The export was cancelled by key_0000000000000007.',
    });
    expect(cancelled.request).toEqual(request);
  });
});

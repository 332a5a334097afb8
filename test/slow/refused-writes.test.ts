import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ExportCommit } from '#shared/aggregates/export-job/export-job.ts';
import { segmentPrefix } from '#shared/contracts/stored-objects.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { type ObjectStore, ObjectStoreUnavailable } from '#shared/storage/object-store.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { type ExportHarness, organization, startExportHarness } from '../support/export-harness.ts';
import { leadingOrchestrator } from '../support/leading-orchestrator.ts';
import { describeWithSmallDisk, mountSmallDisk, type SmallDisk } from '../support/small-disk.ts';
import { startWorkersOn } from '../support/workers-on-store.ts';

const minuteMs = 60_000;
const ended = ({ data }: ExportCommit) => ['completed', 'failed', 'cancelled'].includes(data.state.phase);
const pages = Array.from({ length: 40 }, (_, at) => ({ path: `guides/page-${at}` }));
const other = 'globex';

/** Each kind of object that an export stores. The parts of small sites are not kept. */
const steps: Record<string, (key: string) => boolean> = {
  plan: (key) => key.startsWith(`plans/${organization}/`),
  segment: (key) => key.startsWith(`${segmentPrefix}${organization}/`) && !key.endsWith('.json'),
  sidecar: (key) => key.startsWith(`${segmentPrefix}${organization}/`) && key.endsWith('.json'),
  bundle: (key) => key.startsWith(`bundles/${organization}/`),
};

describeWithServers(['nats-server'], 'a store that takes nothing of one organization', () => {
  let harness: ExportHarness;
  let isRefused: (key: string) => boolean = () => false;
  let refusals = 0;
  let stop: () => Promise<unknown>;
  let said: { msg: string }[];

  beforeAll(async () => {
    harness = await startExportHarness();
    const { objectStore } = harness;
    const take = async (key: string): Promise<void> => {
      if (!isRefused(key)) return;
      refusals += 1;
      throw new ObjectStoreUnavailable('the folder cannot be used: its disk is full (ENOSPC)');
    };
    const refusing: ObjectStore = {
      ...objectStore,
      put: async (key, ...body) => (await take(key), objectStore.put(key, ...body)),
      putStream: async (key, body, options) => {
        await take(key).catch((error: unknown) => {
          body.destroy();
          throw error;
        });
        return objectStore.putStream(key, body, options);
      },
      putParts: async (key, ...parts) => (await take(key), objectStore.putParts(key, ...parts)),
    };
    const leader = await leadingOrchestrator(
      { bus: harness.bus, objectStore: refusing },
      { refusedForMs: 60_000, exportDeadlineMs: 10 * minuteMs },
    );
    ({ said } = leader);
    const workers = await startWorkersOn(refusing, harness);
    stop = async () => {
      await leader.stop();
      await workers.stop();
    };
  });
  afterAll(async () => {
    await stop?.();
    await harness?.stop();
  });

  const stateOf = async (jobId: string, of: string) =>
    (await harness.gateway.exports.last(exportLogSubject(of, jobId), { fromLeader: true }))?.commit.data.state;
  const bundleOf = async (jobId: string, of: string) => {
    await expect
      .poll(async () => (await stateOf(jobId, of))?.phase, { timeout: 2 * minuteMs })
      .toMatch(/completed|failed/);
    const state = await stateOf(jobId, of);
    expect(state).toMatchObject({ phase: 'completed' });
    return state?.bundle?.sha256;
  };
  async function typesOf(jobId: string): Promise<string[]> {
    const types: string[] = [];
    for await (const { commit } of harness.gateway.exports.history(exportLogSubject(organization, jobId)))
      types.push(...commit.data.events.map(({ type }) => type));
    return types;
  }
  /** A content version of its own for each test, so that nothing of it is stored. */
  const publish = (name: string, of: string) =>
    harness.publish(
      pages.map(({ path }) => ({ path: `${name}/${path}` })),
      {},
      of,
    );

  test.each(Object.entries(steps))(
    'while it refuses each %s, exports of others complete, and its own when it takes them again',
    { timeout: 6 * minuteMs },
    async (name, refused) => {
      [isRefused, refusals] = [refused, 0];
      const jobId = await harness.request(await publish(name, organization));
      await expect.poll(() => refusals, { timeout: 2 * minuteMs }).toBeGreaterThan(0);
      const startedAt = performance.now();
      const content = await publish(name, other);
      const first = await bundleOf(await harness.request(content, { organization: other }), other);
      // A worker has one slot, so a task that waited for the store would hold up the other organization.
      expect(performance.now() - startedAt).toBeLessThan(100_000);
      expect(await stateOf(jobId, organization)).not.toMatchObject({ phase: 'failed' });
      isRefused = () => false;
      expect(await bundleOf(jobId, organization)).toBe(first);
      // Refused writes do not count as attempts.
      expect((await typesOf(jobId)).filter((type) => /Failed|TimedOut|Lost/.test(type))).toEqual([]);
    },
  );

  test('for long makes the export fail with the reason, and the next one succeeds', {
    timeout: 3 * minuteMs,
  }, async () => {
    [isRefused, refusals] = [(key) => key.startsWith(`${segmentPrefix}${organization}/`), 0];
    const content = await publish('long', organization);
    const jobId = await harness.request(content);
    const { state } = (await harness.until(jobId, ended)).data;
    expect(state).toMatchObject({
      phase: 'failed',
      error: expect.stringMatching(
        /^The object store was unavailable for .*: .*its disk is full.*kept for the next export\.$/,
      ),
    });
    isRefused = () => false;
    await bundleOf(await harness.request(content), organization);
    expect(said.map(({ msg }) => msg)).not.toContain('a task was lost');
  });
});

describeWithSmallDisk('the disk of the folder of objects is full', () => {
  let disk: SmallDisk;
  let harness: ExportHarness;
  beforeAll(async () => {
    disk = mountSmallDisk(64);
    harness = await startExportHarness({ objectFolder: join(disk.folder, 'objects') });
    await Promise.all([harness.start('orchestrator'), harness.start('page-renderer'), harness.start('bundler')]);
  });
  afterAll(async () => {
    await harness?.stop();
    disk?.remove();
  });

  test('exports wait, planned or not, and complete when there is room', { timeout: 4 * minuteMs }, async () => {
    const contents = [await harness.publish(pages), await harness.publish(pages.slice(1))];
    const [first = '', second = ''] = contents;
    const running = await harness.request(first);
    await harness.until(running, ({ data }) => data.state.phase === 'rendering');
    disk.fill();
    const waiting = await harness.request(second);
    const phase = async (jobId: string) =>
      (await harness.gateway.exports.last(exportLogSubject(organization, jobId)))?.commit.data.state.phase;
    disk.fill();
    expect(await phase(waiting)).toBe('requested');
    disk.free();
    for (const jobId of [running, waiting])
      await expect.poll(() => phase(jobId), { timeout: 2 * minuteMs }).toMatch(/completed|failed/);
    expect([await phase(running), await phase(waiting)]).toEqual(['completed', 'completed']);
  });
});

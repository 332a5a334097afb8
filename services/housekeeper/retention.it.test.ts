import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signLink } from '#services/link-signer/sign-link.ts';
import { appendContent } from '#services/publisher/publish-project.ts';
import { openUploads, type Uploads } from '#services/publisher/project-files.ts';
import { publisherApp } from '#services/publisher/publisher-app.ts';
import { serviceMetrics } from '#shared/runtime/metrics.ts';
import type { ExportCommit } from '#shared/aggregates/export-job/export-job.ts';
import { testCaller } from '../../test/support/make-commit.ts';
import { blobKey, siteModelKey } from '#shared/contracts/stored-objects.ts';
import { projectPool } from '#shared/docs/project/analyze-project.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import { contentLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { loadConfig } from '#shared/runtime/config.ts';
import { dayMs, randomBase62, systemClock } from '#shared/runtime/time-and-ids.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { type AgingStore, agingStore } from '../../test/support/aging-store.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { domain, type ExportHarness, organization, startExportHarness } from '../../test/support/export-harness.ts';
import { housekeeperContext } from '../../test/support/housekeeper-context.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { testLogger } from '../../test/support/test-logger.ts';
import { housekeeperSettings } from './config.ts';
import { endContentBy, endContents } from './end-contents.ts';
import { jobsInLog } from './kept-jobs.ts';
import { start } from './main.ts';
import { sweepObjects } from './sweep-objects.ts';

const serviceToken = 'a token of sixteen or more';
const never = new AbortController().signal;
const caller = { ...testCaller, organization, domain };
const ended = ({ data }: ExportCommit) => ['completed', 'failed', 'cancelled'].includes(data.state.phase);

describeWithServers(['nats-server'], 'housekeeping over a real bus', () => {
  let harness: ExportHarness;
  let objects: AgingStore;
  let publisherBus: BusOf<'publisher'>;
  let publisher: FastifyInstance;
  let publisherUrl: string;
  let uploads: Uploads;
  let uploadFolder: string;
  const pool = projectPool({ slots: 1 });

  beforeAll(async () => {
    harness = await startExportHarness();
    objects = agingStore(harness.environment.BINDERY_OBJECT_FOLDER);
    await Promise.all([harness.start('orchestrator'), harness.start('page-renderer'), harness.start('bundler')]);
    publisherBus = await harness.bus.connect('publisher');
    uploadFolder = newFolder();
    uploads = openUploads({ folder: uploadFolder, places: 1 });
    publisher = publisherApp(
      {
        bus: publisherBus,
        objectStore: objects.store,
        pool,
        clock: systemClock,
        random: randomBase62,
        uploads,
        readerVersion: 'today',
      },
      {
        callerTokens: { housekeeper: serviceToken },
        logger: testLogger,
        checks: {},
        draining: () => false,
        metrics: serviceMetrics('test'),
      },
    );
    publisherUrl = await publisher.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(async () => {
    await publisher?.close();
    await pool.close();
    await uploads?.close();
    await harness?.stop();
  });

  /** Publishes content with a time in the past. */
  async function publish(text: string, daysAgo: number): Promise<string> {
    const contentVersion = await harness.publish([{ path: 'index', text }], { assets: { 'a.svg': '<svg/>' } });
    const time = new Date(Date.now() - daysAgo * dayMs);
    const data = { organization, domain, contentVersion, pageCount: 1, fileCount: 2, sizeBytes: 1 };
    await appendContent({ bus: publisherBus, clock: { now: () => time }, random: randomBase62 }, caller, () => [
      { type: 'ContentPublished', version: 1, data },
    ]);
    return contentVersion;
  }

  /** The parts of a housekeeper whose clock is `daysAhead` days ahead of the store's: by it the log is older, while objects keep their age. */
  async function house(daysAhead: number, objectStore: ObjectStore = objects.store) {
    const bus = await harness.bus.connect('housekeeper', `ahead-${daysAhead}`);
    const context = housekeeperContext({
      bus,
      objectStore: { ...objectStore, clockSkewMs: async () => -daysAhead * dayMs },
      clock: { now: () => new Date(Date.now() + daysAhead * dayMs) },
      keptJobs: jobsInLog(bus.exports),
      endContent: endContentBy({ baseUrl: publisherUrl, serviceToken, random: () => 'x' }),
    });
    return { ...context, bus };
  }
  const versions = async () => {
    const last = await harness.gateway.content.last(contentLogSubject(organization, domain));
    return last?.commit.data.state.versions.map(({ contentVersion }) => contentVersion);
  };
  const isThere = async (key: string) => (await objects.store.head(key)) !== undefined;

  test('an export goes 90 days after its end, its content after that; what is published stays', async () => {
    const old = await publish('# Old', 100);
    const current = await publish('# Current', 95);
    const first = await harness.until(await harness.request(old), ended);
    const { jobId, bundle, planHash } = first.data.state;
    await objects.age('', 100);

    // 1. The job is kept, and so are its objects and its content.
    const today = await house(0);
    expect(await sweepObjects(today, never)).toEqual(new Map());
    await endContents(today, never);
    expect(await versions()).toEqual([old, current]);

    // 2. It is no longer kept. The publisher's log records the end of its content and the actor.
    const later = await house(91);
    const swept = await sweepObjects(later, never);
    // With the bundle goes the list of its pieces.
    expect(swept.get(organization)).toMatchObject({ plans: { objects: 1 }, bundles: { objects: 2 } });
    expect(await objects.keys('segments/')).toEqual([]);
    expect(await isThere(siteModelKey({ organization, domain, contentVersion: old }))).toBe(true);
    await endContents(later, never);
    expect(await versions()).toEqual([current]);
    const last = await harness.gateway.content.last(contentLogSubject(organization, domain));
    expect(last?.commit).toMatchObject({ actor: { kind: 'service', id: 'housekeeper' } });

    // 3. A client that asks for the bundle is told what to do.
    const signer = { bus: await harness.bus.connect('link-signer'), objectStore: objects.store };
    const signed = signLink({ ...signer, clock: { now: () => new Date() }, linkLifetimeSeconds: 60 }, caller, {
      jobId,
    });
    await expect(signed).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('Replay the job'),
    });

    // 4. The objects of the content are removed in the next round.
    expect((await sweepObjects(later, never)).get(organization)).toMatchObject({ contents: { objects: 1 } });
    expect(await isThere(blobKey(organization, sha256Of('# Old')))).toBe(false);
    expect(await isThere(blobKey(organization, sha256Of('<svg/>')))).toBe(true);
    expect(await sweepObjects(later, never)).toEqual(new Map());

    // 5. Everything that the published content needs is still there.
    const second = await harness.until(await harness.request(current), ended);
    expect(second.data.state.phase).toBe('completed');
    expect([bundle?.key, planHash]).not.toContain(second.data.state.bundle?.key);
  });

  test('a bundle stays under a job that took it up while it was about to be removed', async () => {
    const contentVersion = await publish('# Race', 1);
    const first = await harness.until(await harness.request(contentVersion), ended);
    const key = first.data.state.bundle?.key ?? '';
    await objects.age('', 100);
    let second: ExportCommit | undefined;
    const listing: ObjectStore = {
      ...objects.store,
      async *list(prefix, options) {
        yield* objects.store.list(prefix, options);
        if (prefix !== `bundles/${organization}/`) return;
        second ??= await harness.until(await harness.request(contentVersion), ended);
      },
    };
    // By this clock the new job also ended too long ago: the bundle is kept because it was stored again.
    await sweepObjects(await house(91, listing), never);
    expect(second?.data.state).toMatchObject({ phase: 'completed', bundle: { key } });
    expect(await isThere(key)).toBe(true);
  });

  test('the service is ready with the rights of its user, and gives the lease back when it stops', async () => {
    const env = {
      ...harness.environment,
      BINDERY_TOKEN_HOUSEKEEPER_TO_PUBLISHER: serviceToken,
      BINDERY_PUBLISHER_URL: publisherUrl,
    };
    const running = await start(loadConfig(housekeeperSettings, env));
    const answer = await fetch(`${running.url}/readyz`);
    expect([answer.status, await answer.json()]).toMatchObject([200, { service: 'housekeeper', missing: {} }]);
    await running.stop();
    const bus = await harness.bus.connect('housekeeper', 'next');
    const lease = await bus.leases.acquire('housekeeper', 'next', AbortSignal.timeout(10_000));
    await lease.release();
  });
});

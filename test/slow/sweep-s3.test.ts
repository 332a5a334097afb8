import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { segmentKey } from '#shared/contracts/stored-objects.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { dayMs } from '#shared/runtime/time-and-ids.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { createS3Bucket } from '#shared/storage/s3-client.ts';
import { s3ObjectStore } from '#shared/storage/s3-object-store.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { housekeeperContext } from '../support/housekeeper-context.ts';
import { contentCommit } from '../support/make-commit.ts';
import { memoryBus } from '../support/memory-bus.ts';
import { startVersityGateway, type VersityGateway } from '../support/start-versitygw.ts';
import { sweepObjects, sweepUploads } from '#services/housekeeper/sweep-objects.ts';

describeWithServers(['versitygw'], 'housekeeping on S3', () => {
  let gateway: VersityGateway;
  /** Our clock, which may be wrong. */
  let daysAhead = 0;
  const clock = { now: () => new Date(Date.now() + daysAhead * dayMs) };
  let store: ObjectStore;

  beforeAll(async () => {
    gateway = await startVersityGateway();
    const settings = {
      bucket: 'bindery',
      region: gateway.region,
      endpoint: gateway.endpoint,
      forcePathStyle: true,
      credentials: { accessKeyId: gateway.accessKeyId, secretAccessKey: gateway.secretAccessKey },
      clock,
    };
    await createS3Bucket(settings);
    store = s3ObjectStore(settings);
  });
  afterAll(async () => {
    await store?.close();
    await gateway?.stop();
  });

  /** A store that claims to agree with our clock, so that new objects seem days old. */
  const aged = () => ({ ...store, clockSkewMs: async () => 0 });

  test("unfinished uploads end after a day by the store's clock, however wrong ours is", async () => {
    const unfinished = new Readable({ read() {} });
    unfinished.push(Buffer.alloc(17 * 1024 * 1024));
    const storing = store.putStream('bundles/acme/docs/x.tar.gz', unfinished);
    storing.catch(() => {}); // The rejection is checked below.
    const swept = vi.fn();
    const sweep = (objectStore: ObjectStore) =>
      sweepUploads(
        housekeeperContext({
          bus: memoryBus(),
          objectStore: {
            ...objectStore,
            sweepUnfinishedUploads: async (olderThan) => {
              const count = await objectStore.sweepUnfinishedUploads(olderThan);
              swept(count);
              return count;
            },
          },
          clock,
        }),
        dayMs,
      );
    daysAhead = 2;
    await sweep(store);
    expect(swept).toHaveBeenLastCalledWith(0);
    await vi.waitFor(async () => {
      await sweep(aged());
      expect(swept).toHaveBeenLastCalledWith(1);
    }, 60_000);
    unfinished.destroy(new Error('the writer died'));
    await expect(storing).rejects.toBeInstanceOf(Error);
    daysAhead = 0;
  });

  test('more than a page of old objects is swept, by the age that the store tells', async () => {
    const bus = memoryBus();
    const data = { organization: 'acme', domain: 'docs', contentVersion: `cv_${'1'.repeat(32)}` };
    await bus.content.append(
      contentCommit({ type: 'ContentIndexed', version: 1, data: { ...data, passageCount: 1 } }),
      {
        sequence: 0,
      },
    );
    const keys = Array.from({ length: 1_050 }, (_, n) => segmentKey('acme', sha256Of(String(n))));
    await inParallel(keys, 32, (key) => store.put(key, Buffer.from('x')));
    const sweep = (objectStore: ObjectStore) =>
      sweepObjects(housekeeperContext({ bus, objectStore, clock }), new AbortController().signal);
    daysAhead = 91;
    expect(await sweep(store)).toEqual(new Map());
    expect((await sweep(aged())).get('acme')).toEqual({ segments: { objects: 1_050, bytes: 1_050 } });
    expect((await store.list('segments/acme/')[Symbol.asyncIterator]().next()).done).toBe(true);
    daysAhead = 0;
  });
});

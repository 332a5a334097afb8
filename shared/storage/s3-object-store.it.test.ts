import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { startVersityGateway, type VersityGateway } from '../../test/support/start-versitygw.ts';
import { objectStoreContract } from './object-store.contract.ts';
import { type ObjectStore, ObjectStoreUnavailable } from './object-store.ts';
import { createS3Bucket, type S3ObjectStoreSettings } from './s3-client.ts';
import { dateErrorMs } from './s3-clock.ts';
import { s3ObjectStore } from './s3-object-store.ts';

const settingsFor = (gateway: VersityGateway): S3ObjectStoreSettings => ({
  bucket: 'bindery',
  region: gateway.region,
  endpoint: gateway.endpoint,
  forcePathStyle: true,
  credentials: { accessKeyId: gateway.accessKeyId, secretAccessKey: gateway.secretAccessKey },
});

describeWithServers(['versitygw'], 'with a real gateway', () => {
  objectStoreContract('S3', async (options) => {
    const gateway = await startVersityGateway();
    const settings = { ...settingsFor(gateway), ...options };
    await createS3Bucket(settings);
    await createS3Bucket(settings);
    const store = s3ObjectStore(settings);
    return {
      store,
      stop: async () => {
        await store.close();
        await gateway.stop();
      },
    };
  });

  describe('an S3 store', () => {
    let gateway: VersityGateway;
    let store: ObjectStore;

    beforeAll(async () => {
      gateway = await startVersityGateway();
      await createS3Bucket(settingsFor(gateway));
      store = s3ObjectStore(settingsFor(gateway));
    });
    afterAll(async () => {
      await store.close();
      await gateway.stop();
    });

    test('lists more than a page of keys', async () => {
      const keys = Array.from({ length: 1050 }, (_, n) => `many/${String(n).padStart(4, '0')}`);
      for (let at = 0; at < keys.length; at += 50) {
        await Promise.all(keys.slice(at, at + 50).map((key) => store.put(key, Buffer.from('x'))));
      }
      const listed: string[] = [];
      for await (const { key } of store.list('many/')) listed.push(key);
      expect(listed.sort()).toEqual(keys);
    });

    test('links name the public address, and end with the credentials that signed them', async () => {
      const at = new Date();
      const expiration = new Date(at.getTime() + 600_000);
      const signing = s3ObjectStore({
        ...settingsFor(gateway),
        publicEndpoint: 'https://files.example.com',
        credentials: { accessKeyId: 'a', secretAccessKey: 'b', sessionToken: 'c', expiration },
        clock: { now: () => at },
      });
      const options = { lifetimeSeconds: 3600, fileName: 'a.tar.gz', contentType: 'application/gzip' };
      const { url, expiresAt } = await signing.presign('a', options);
      expect(url).toMatch(/^https:\/\/files\.example\.com\/bindery\/a\?.*X-Amz-Expires=600&/);
      expect(expiration.getTime() - expiresAt.getTime()).toBeGreaterThanOrEqual(0);
      expect(expiration.getTime() - expiresAt.getTime()).toBeLessThan(1000);
      const late = s3ObjectStore({
        ...settingsFor(gateway),
        credentials: { accessKeyId: 'a', secretAccessKey: 'b', expiration },
        clock: { now: () => new Date(expiration.getTime() + 1000) },
      });
      await expect(late.presign('a', options)).rejects.toThrow('the credentials that sign links have expired');
    });

    test('sees how far the clocks are apart', async () => {
      const behind = s3ObjectStore({ ...settingsFor(gateway), clock: { now: () => new Date(Date.now() - 100_000) } });
      const askedAtMs = Date.now();
      const errorMs = Math.abs((await behind.clockSkewMs()) - 100_000);
      expect(errorMs).toBeLessThanOrEqual(dateErrorMs + Date.now() - askedAtMs);
      await behind.close();
    });

    test.each([
      ['behind', -17],
      ['ahead of', 17],
    ])('takes links that were signed with a clock %s its own, until they say', async (_how, minutes) => {
      const now = () => new Date(Date.now() + minutes * 60_000);
      const skewed = s3ObjectStore({ ...settingsFor(gateway), clock: { now } });
      await store.put('signed', Buffer.from('x'));
      const askedAtMs = Date.now();
      await skewed.head('signed');
      const options = { lifetimeSeconds: 600, fileName: 'a.tar.gz', contentType: 'application/gzip' };
      const link = await skewed.presign('signed', options);
      expect((await fetch(link.url)).status).toBe(200);
      // Skews are rounded to seconds, and links begin and end at whole seconds.
      const toleranceMs = dateErrorMs + 1_500 + Date.now() - askedAtMs;
      expect(Math.abs(link.expiresAt.getTime() - now().getTime() - 600_000)).toBeLessThan(toleranceMs);
      // The link contains its end by the store's clock; `expiresAt` is the same moment by our clock.
      const { searchParams } = new URL(link.url);
      const signedAt = Date.parse(
        (searchParams.get('X-Amz-Date') ?? '').replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'),
      );
      const endsAt = signedAt + Number(searchParams.get('X-Amz-Expires')) * 1000;
      expect(Math.abs(endsAt + minutes * 60_000 - link.expiresAt.getTime())).toBeLessThan(toleranceMs);
      // For the next link the store is not asked again.
      expect((await fetch((await skewed.presign('signed', options)).url)).status).toBe(200);
      await skewed.close();
    });

    test('names the problem of a bucket or a key, which does not count as unavailable', async () => {
      const noBucket = s3ObjectStore({ ...settingsFor(gateway), bucket: 'no-such-bucket' });
      await expect(noBucket.check()).rejects.toThrow(/refused to open the bucket no-such-bucket: .*404/);
      await expect(noBucket.get('a')).rejects.toThrow(/refused to send a: .*NoSuchBucket/);
      await expect(noBucket.put('a', Buffer.from('x'))).rejects.toThrow(/NoSuchBucket/);
      const wrongSecret = { accessKeyId: gateway.accessKeyId, secretAccessKey: 'wrong' };
      const refused = s3ObjectStore({ ...settingsFor(gateway), credentials: wrongSecret });
      await expect(refused.check()).rejects.not.toBeInstanceOf(ObjectStoreUnavailable);
      await expect(refused.put('a', Buffer.from('x'))).rejects.toThrow(/refused to store a: .*SignatureDoesNotMatch/);
    });
  });

  describe('an unreachable store', () => {
    let gateway: VersityGateway;
    let store: ObjectStore;
    /** A call that waits for its deadline may outlast its test. */
    let patient: ObjectStore;

    beforeAll(async () => {
      gateway = await startVersityGateway();
      const settings = { ...settingsFor(gateway), timeoutMs: 1000 };
      patient = s3ObjectStore({ ...settings, timeoutMs: 600_000 });
      await createS3Bucket(settings);
      store = s3ObjectStore(settings);
      await store.putStream('big', Readable.from(Array.from({ length: 40 }, () => Buffer.alloc(1_000_000))));
      await store.put('small', Buffer.from('x'));
    });
    afterAll(async () => {
      await patient.close();
      await store.close();
      await gateway.stop();
    });

    const callsOf = (store: ObjectStore): [string, () => Promise<unknown>][] => [
      ['put', () => store.put('a', Buffer.from('x'))],
      ['putIfAbsent', () => store.putIfAbsent('a', Buffer.from('x'))],
      ['putStream', () => store.putStream('a', Readable.from([Buffer.from('x')]))],
      ['putStream in parts', () => store.putStream('a', Readable.from([Buffer.alloc(20_000_000)]))],
      ['get', () => store.get('small')],
      ['getStream', () => store.getStream('small')],
      ['head', () => store.head('small')],
      ['list', () => store.list('')[Symbol.asyncIterator]().next()],
      ['remove', () => store.remove('small')],
      ['check', () => store.check()],
      ['clockSkewMs', () => store.clockSkewMs()],
      ['sweepUnfinishedUploads', () => store.sweepUnfinishedUploads(new Date())],
    ];

    async function allUnavailable(store: ObjectStore): Promise<void> {
      const outcomes = await Promise.all(
        callsOf(store).map(
          async ([name, call]) =>
            [
              name,
              await call().then(
                () => 'answered',
                (error: unknown) => error,
              ),
            ] as const,
        ),
      );
      const answered = outcomes.filter(([, outcome]) => !(outcome instanceof ObjectStoreUnavailable));
      expect(answered).toEqual([]);
    }

    test('and hangs: every call ends within its deadline, also downloads and uploads in progress; then it continues', async () => {
      const download = await store.getStream('big');
      const half = new Readable({ read() {} });
      half.push(Buffer.alloc(17_000_000));
      const upload = store.putStream('half', half);
      upload.catch(() => {}); // The rejection is asserted below.
      await gateway.pause();
      half.push(Buffer.alloc(17_000_000));
      half.push(null);
      await allUnavailable(store);
      await expect(upload).rejects.toThrow(ObjectStoreUnavailable);
      await expect(download?.toArray()).rejects.toThrow(ObjectStoreUnavailable);
      await gateway.resume();
      await store.put('again', Buffer.from('x'));
      expect((await store.get('again'))?.length).toBe(1);
    });

    test('and dead: a download in progress fails, and every call rejects without waiting for its deadline', async () => {
      const download = await store.getStream('big');
      await gateway.kill();
      await expect(download?.toArray()).rejects.toThrow(ObjectStoreUnavailable);
      await allUnavailable(patient);
    });
  });
});

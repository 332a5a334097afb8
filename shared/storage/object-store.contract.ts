import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Clock } from '#shared/runtime/time-and-ids.ts';
import { heldBytes } from '../../test/support/held-bytes.ts';
import { longestLinkSeconds, type ObjectPart, type ObjectStore } from './object-store.ts';
import { dateErrorMs } from './s3-clock.ts';

export type StoreUnderTest = { store: ObjectStore; stop(): Promise<void> };

const MiB = 1024 * 1024;
const text = (value: string) => Buffer.from(value);
/** A stream that makes its bytes on demand. `at`: called with the number of mebibytes that were taken, from 0 to all. */
const zeros = (mebibytes: number, at?: (mebibytes: number) => void) =>
  Readable.from(
    (function* () {
      for (let n = 0; n < mebibytes; n++) {
        at?.(n);
        yield Buffer.alloc(MiB);
      }
      at?.(mebibytes);
    })(),
    { objectMode: false },
  );

/**
 * Tests that every adapter of `ObjectStore` must pass. `open` returns a store that signs with the given clock. Its links must be
 * reachable with `fetch`, whichever server answers them.
 */
export function objectStoreContract(name: string, open: (settings: { clock: Clock }) => Promise<StoreUnderTest>): void {
  describe(`the object store contract, kept by ${name}`, () => {
    let now = new Date();
    let store: ObjectStore;
    let opened: StoreUnderTest | undefined;
    let cases = 0;
    const nextKey = () => `contract/${++cases}/object`;

    beforeAll(async () => {
      opened = await open({ clock: { now: () => now } });
      store = opened.store;
      await store.check();
    });
    afterAll(() => opened?.stop());

    describe('put and get', () => {
      test('gives back bytes and metadata', async () => {
        const key = nextKey();
        const body = randomBytes(100_000);
        await store.put(key, body, {
          contentType: 'application/gzip',
          metadata: { sha256: 'abc', 'two-words': 'a b' },
        });
        expect(body.equals((await store.get(key)) ?? text('nothing'))).toBe(true);
        const head = await store.head(key);
        expect(head).toMatchObject({ sizeBytes: 100_000, metadata: { sha256: 'abc', 'two-words': 'a b' } });
        expect(Math.abs((head?.modifiedAt.getTime() ?? 0) - Date.now())).toBeLessThan(60_000);
      });

      test('an empty object is an object', async () => {
        const key = nextKey();
        await store.put(key, new Uint8Array());
        expect((await store.get(key))?.length).toBe(0);
        expect(await store.head(key)).toMatchObject({ sizeBytes: 0, metadata: {} });
        expect(await bytesOf(store.getStream(key))).toEqual(text(''));
      });

      test('the last put counts, with its own metadata', async () => {
        const key = nextKey();
        await store.put(key, text('a longer first body'), { metadata: { version: '1' } });
        await store.put(key, text('second'));
        expect(await bytesOf(store.getStream(key))).toEqual(text('second'));
        expect(await store.head(key)).toMatchObject({ sizeBytes: 6, metadata: {} });
      });

      test('a missing object is undefined, and removing it succeeds', async () => {
        const key = nextKey();
        expect(await store.get(key)).toBeUndefined();
        expect(await store.getStream(key)).toBeUndefined();
        expect(await store.head(key)).toBeUndefined();
        await store.put(key, text('x'));
        await store.remove(key);
        await store.remove(key);
        expect(await store.head(key)).toBeUndefined();
      });

      test('reading while another writes gives the one or the other, never a mixture', async () => {
        const key = nextKey();
        const bodies = ['a', 'b'].map((letter) => Buffer.alloc(300_000, letter));
        await store.put(key, bodies[0] ?? text(''));
        const writing = (async () => {
          for (let n = 0; n < 10; n++)
            await store.put(key, bodies[n % 2] ?? text(''), { metadata: { n: String(n % 2) } });
          return 'done';
        })();
        let finished = false;
        while (!finished) {
          const read = await store.get(key);
          expect(bodies.some((body) => body.equals(read ?? text('nothing')))).toBe(true);
          finished = (await Promise.race([writing, Promise.resolve('writing')])) === 'done';
        }
      });
    });

    describe('keys', () => {
      const odd = [
        'odd/a~b!c+d@e=f,g(h)-i j.json',
        'odd/.hidden/...',
        'odd/CaSe',
        `odd/${'long-segment-'.repeat(15)}`,
        `odd/${'nested/'.repeat(100)}deep`,
        'odd/segments/0af3',
        'odd/segments/0af3.json',
      ];

      test('odd ones come back as they were', async () => {
        for (const key of odd) await store.put(key, text(key));
        for (const key of odd) expect((await store.get(key))?.toString()).toBe(key);
        expect(await keysOf(store.list('odd/'))).toEqual([...odd].sort());
      });

      test.each(['', '/a', 'a/', 'a//b', '../a', 'a/../../b', './a', 'a\\b', 'a\0b', 'ü', 'x'.repeat(901)])(
        '%j is refused',
        async (key) => {
          await expect(store.put(key, text('x'))).rejects.toThrow('the object key');
          await expect(store.putStream(key, Readable.from([]))).rejects.toThrow('the object key');
          await expect(store.get(key)).rejects.toThrow('the object key');
          await expect(store.head(key)).rejects.toThrow('the object key');
          await expect(store.remove(key)).rejects.toThrow('the object key');
          await expect(
            store.presign(key, { lifetimeSeconds: 60, fileName: 'x', contentType: 'text/plain' }),
          ).rejects.toThrow('the object key');
        },
      );
    });

    test('list gives the keys with a prefix, which may end in the middle of a name', async () => {
      for (const key of ['list/a/1', 'list/a/2', 'list/ab', 'list/b/c/d']) await store.put(key, text(key));
      expect(await keysOf(store.list('list/'))).toEqual(['list/a/1', 'list/a/2', 'list/ab', 'list/b/c/d']);
      expect(await keysOf(store.list('list/a'))).toEqual(['list/a/1', 'list/a/2', 'list/ab']);
      expect(await keysOf(store.list('list/a/'))).toEqual(['list/a/1', 'list/a/2']);
      expect(await keysOf(store.list('list/b/c/d'))).toEqual(['list/b/c/d']);
      expect(await keysOf(store.list('list/none/'))).toEqual([]);
      for await (const entry of store.list('list/ab')) expect(entry).toMatchObject({ sizeBytes: 7 });
    });

    describe('putIfAbsent', () => {
      test('leaves an existing object unchanged', async () => {
        const key = nextKey();
        expect(await store.putIfAbsent(key, text('first'), { metadata: { by: 'first' } })).toBe(true);
        expect(await store.putIfAbsent(key, text('second'), { metadata: { by: 'second' } })).toBe(false);
        expect((await store.get(key))?.toString()).toBe('first');
        expect((await store.head(key))?.metadata).toEqual({ by: 'first' });
      });

      test('one of many at the same time wins', async () => {
        for (let round = 0; round < 5; round++) {
          const key = nextKey();
          const won = await Promise.all(
            Array.from({ length: 12 }, (_, n) => store.putIfAbsent(key, text(`writer ${n}`))),
          );
          expect(won.filter(Boolean).length).toBe(1);
          expect((await store.get(key))?.toString()).toBe(`writer ${won.indexOf(true)}`);
        }
      });
    });

    describe('streams', () => {
      test('of 20 MB come back whole, also in ranges', async () => {
        const key = nextKey();
        const body = randomBytes(20_000_000);
        const chunks = Array.from({ length: 200 }, (_, n) => body.subarray(n * 100_000, (n + 1) * 100_000));
        await store.putStream(key, Readable.from(chunks), { metadata: { sha256: 'abc' } });
        expect(await store.head(key)).toMatchObject({ sizeBytes: 20_000_000, metadata: { sha256: 'abc' } });
        expect((await bytesOf(store.getStream(key)))?.equals(body)).toBe(true);
        const ranges = [
          { start: 0, end: 0 },
          { start: 9_999_990, end: 10_000_009 },
          { start: 19_999_999 },
          { start: 19_999_990, end: 99_999_999 },
        ];
        for (const range of ranges) {
          const end = Math.min((range.end ?? Infinity) + 1, body.length);
          expect(await bytesOf(store.getStream(key, { range }))).toEqual(body.subarray(range.start, end));
          expect(Buffer.from((await store.get(key, { range })) ?? [])).toEqual(body.subarray(range.start, end));
        }
        await expect(store.getStream(key, { range: { start: 20_000_000 } })).rejects.toThrow(RangeError);
        await expect(store.get(key, { range: { start: 20_000_000 } })).rejects.toThrow(RangeError);
      });

      test('of one chunk and of none are fine', async () => {
        const key = nextKey();
        await store.putStream(key, Readable.from([text('one')]));
        expect((await store.get(key))?.toString()).toBe('one');
        expect((await store.get(key, { range: { start: 1, end: 1 } }))?.toString()).toBe('n');
        expect(await store.get(`${key}-missing`, { range: { start: 1, end: 1 } })).toBeUndefined();
        await store.putStream(key, Readable.from([]));
        expect((await store.get(key))?.length).toBe(0);
      });

      test('of 180 MB are not held in memory', async () => {
        const key = nextKey();
        await store.putStream(key, zeros(20));
        const before = heldBytes();
        const held: number[] = [];
        const measureAt = (mebibytes: number) => {
          if (mebibytes % 60 === 0) held.push((heldBytes() - before) / MiB);
        };
        await store.putStream(key, zeros(180, measureAt));
        let read = 0;
        for await (const chunk of (await store.getStream(key)) ?? []) {
          const measured = Math.floor(read / (60 * MiB));
          read += Buffer.from(chunk).length;
          const sixties = Math.floor(read / (60 * MiB));
          if (sixties > measured) measureAt(60 * sixties);
        }
        expect(read).toBe(180 * MiB);
        expect(held).toHaveLength(7);
        expect(Math.max(...held)).toBeLessThan(100);
        await store.remove(key);
      });

      test.each([0, 3, 20])('that fail after %i MB leave the key unchanged', async (mebibytes) => {
        const key = nextKey();
        await store.put(key, text('before'));
        const fail = (taken: number) => {
          if (taken === mebibytes) throw new Error('the source broke');
        };
        await expect(store.putStream(key, zeros(mebibytes, fail))).rejects.toThrow('the source broke');
        await expect(store.putStream(`${key}-new`, zeros(mebibytes, fail))).rejects.toThrow('the source broke');
        expect((await store.get(key))?.toString()).toBe('before');
        expect(await keysOf(store.list(`${key}-new`))).toEqual([]);
        expect(await store.sweepUnfinishedUploads(new Date(Date.now() + 60_000))).toBe(0);
      });

      test('that are given up leave nothing, and the source is closed', async () => {
        const key = nextKey();
        const givenUp = new AbortController();
        const reason = new Error('given up');
        const hanging = stalledAfter(17);
        const storing = store.putStream(key, hanging, { signal: givenUp.signal });
        setImmediate(() => givenUp.abort(reason));
        await expect(storing).rejects.toBe(reason);
        expect(hanging.destroyed).toBe(true);
        expect(await store.head(key)).toBeUndefined();
        expect(await store.sweepUnfinishedUploads(new Date(Date.now() + 60_000))).toBe(0);
      });

      test('that are read half and destroyed, or never read, are closed without an error', async () => {
        const key = nextKey();
        await store.putStream(key, zeros(5));
        const half = await store.getStream(key);
        for await (const chunk of half ?? []) if (Buffer.from(chunk).length > 0) break;
        (await store.getStream(key))?.destroy();
        expect((await store.get(key))?.length).toBe(5 * MiB);
      });
    });

    describe('an object of parts', () => {
      const whole = randomBytes(24 * MiB);
      const part = (bytes: Uint8Array): ObjectPart => ({
        async *read() {
          yield bytes;
        },
      });
      /** A part that the other object has. Stores that copy do not read it. */
      const same = (at: number, sizeBytes: number): ObjectPart => ({
        ...part(whole.subarray(at, at + sizeBytes)),
        same: { at, sizeBytes },
      });

      test.each<[string, (string | [at: number, sizeBytes: number])[]]>([
        ['a change in the middle', [[0, 12 * MiB], 'changed', [12 * MiB + 7, 12 * MiB - 7]]],
        ['changes at both ends', ['before', [0, 20 * MiB], 'after']],
        ['runs that are too short to be copied', [[0, 100], 'x', [200, 4 * MiB], 'y', [5 * MiB, MiB], 'z']],
        [
          'parts in another order, next to each other',
          [
            [12 * MiB, 6 * MiB],
            [18 * MiB, 6 * MiB],
            [0, 12 * MiB],
          ],
        ],
        ['nothing in common', ['all', 'of', 'it']],
        ['the same object', [[0, 24 * MiB]]],
      ])('has the bytes of its parts: %s', async (_, parts) => {
        const [other, key] = [nextKey(), nextKey()];
        await store.putStream(other, Readable.from([whole], { objectMode: false }));
        const version = (await store.head(other))?.version;
        const objects = parts.map((one) => (typeof one === 'string' ? part(text(one)) : same(...one)));
        const expected = Buffer.concat(
          parts.map((one) => (typeof one === 'string' ? text(one) : whole.subarray(one[0], one[0] + one[1]))),
        );
        const metadata = async () => ({ sha256: 'abc' });
        await store.putParts(key, objects, { metadata, other: { key: other, version }, contentType: 'text/plain' });
        expect((await bytesOf(store.getStream(key)))?.equals(expected)).toBe(true);
        expect(await store.head(key)).toMatchObject({ sizeBytes: expected.length, metadata: { sha256: 'abc' } });
      });

      test('is not stored if a part fails', async () => {
        const key = nextKey();
        await store.put(key, text('before'));
        const failing: ObjectPart = {
          async *read() {
            yield Buffer.alloc(9 * MiB);
            throw new Error('the source broke');
          },
        };
        const metadata = async () => ({});
        await expect(store.putParts(key, [part(text('x')), failing], { metadata })).rejects.toThrow('the source broke');
        expect((await store.get(key))?.toString()).toBe('before');
        expect(await store.sweepUnfinishedUploads(new Date(Date.now() + 60_000))).toBe(0);
      });
    });

    test('an upload of a dead writer is swept, one in progress is not', async () => {
      const key = nextKey();
      const hanging = stalledAfter(17);
      const storing = store.putStream(key, hanging);
      storing.catch(() => {}); // The rejection is asserted below.
      expect(await store.sweepUnfinishedUploads(new Date(Date.now() - 60_000))).toBe(0);
      await vi.waitFor(
        async () => expect(await store.sweepUnfinishedUploads(new Date(Date.now() + 60_000))).toBe(1),
        60_000,
      );
      hanging.destroy(new Error('the writer died'));
      await expect(storing).rejects.toBeInstanceOf(Error);
      expect(await store.head(key)).toBeUndefined();
    });

    test('a call that was given up before it began rejects with the reason', async () => {
      const signal = AbortSignal.abort(new Error('too late'));
      await expect(store.put('given-up', text('x'), { signal })).rejects.toThrow('too late');
      await expect(store.get('given-up', { signal })).rejects.toThrow('too late');
      await expect(store.head('given-up', { signal })).rejects.toThrow('too late');
      expect(await store.head('given-up')).toBeUndefined();
    });

    describe('links', () => {
      const options = { lifetimeSeconds: 3600, fileName: 'acme "größe".tar.gz', contentType: 'application/gzip' };
      const key = 'links/a b+c/bundle.tar.gz';

      beforeAll(() => store.put(key, text('0123456789')));

      test('give the object to anyone, under the requested name and type, also in part', async () => {
        now = new Date();
        const { url, expiresAt } = await store.presign(key, options);
        expect(Math.abs(expiresAt.getTime() - now.getTime() - 3_600_000)).toBeLessThanOrEqual(1000);
        const answer = await fetch(url);
        expect([answer.status, await answer.text()]).toEqual([200, '0123456789']);
        expect(answer.headers.get('content-type')).toBe('application/gzip');
        expect(answer.headers.get('content-disposition')).toContain(
          `filename*=UTF-8''acme%20%22gr%C3%B6%C3%9Fe%22.tar.gz`,
        );
        const part = await fetch(url, { headers: { range: 'bytes=2-4' } });
        expect([part.status, await part.text()]).toEqual([206, '234']);
        expect(part.headers.get('content-range')).toBe('bytes 2-4/10');
      });

      test('name a file whatever its characters, and nothing else', async () => {
        now = new Date();
        const { url } = await store.presign(key, { ...options, fileName: 'a"b\r\nX-Evil: y.gz' });
        const answer = await fetch(url);
        expect([answer.status, answer.headers.get('x-evil')]).toEqual([200, null]);
        expect(answer.headers.get('content-disposition')).toMatch(
          /^attachment; filename="[^\r\n]+"; filename\*=UTF-8''a%22b%0D%0AX-Evil%3A%20y\.gz$/,
        );
      });

      test('expire at the stated time', async () => {
        // An answer of the store shows that its clock agrees with ours, before ours is set back.
        now = new Date();
        await store.head(key);
        now = new Date(Date.now() - 3_601_000);
        const { url, expiresAt } = await store.presign(key, options);
        expect(expiresAt.getTime()).toBeLessThan(Date.now());
        expect((await fetch(url)).status).toBe(403);
      });

      test('open nothing else when they are changed', async () => {
        now = new Date();
        const { url } = await store.presign(key, options);
        await store.put('links/other', text('secret'));
        const changes = [
          url.replace('links/a%20b%2Bc/bundle.tar.gz', 'links/other'),
          url.replace('3600', '7200').replace(/expires=\d/, 'expires=9'),
          url.replace(/ignature=..../, 'ignature=0000'),
          url.replace('gzip', 'html'),
        ];
        for (const changed of changes) {
          expect(changed).not.toBe(url);
          expect((await fetch(changed)).status).toBe(403);
        }
      });

      test('never live longer than a week', async () => {
        now = new Date();
        const { expiresAt } = await store.presign(key, { ...options, lifetimeSeconds: 999_999 });
        expect(Math.abs(expiresAt.getTime() - now.getTime() - longestLinkSeconds * 1000)).toBeLessThanOrEqual(1000);
      });
    });

    test('the clock of a store on this machine is ours', async () => {
      now = new Date();
      const skewMs = await store.clockSkewMs();
      // The test's clock does not advance meanwhile.
      expect(skewMs).toBeGreaterThanOrEqual(-dateErrorMs);
      expect(skewMs).toBeLessThanOrEqual(Date.now() - now.getTime() + dateErrorMs);
    });
  });
}

async function bytesOf(stream: Promise<Readable | undefined>): Promise<Buffer | undefined> {
  const opened = await stream;
  return opened === undefined ? undefined : buffer(opened);
}

async function keysOf(entries: AsyncIterable<{ key: string }>): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of entries) keys.push(key);
  return keys.sort();
}

function stalledAfter(mebibytes: number): Readable {
  let given = 0;
  return new Readable({
    read() {
      if (given++ < mebibytes) this.push(Buffer.alloc(MiB));
    },
  });
}

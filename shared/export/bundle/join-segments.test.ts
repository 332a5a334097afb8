import { hash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { digestBundle, joinSegments, SegmentDamaged, type SegmentSource } from './join-segments.ts';
import { type FileToPack, packSegment } from './segment-writer.ts';
import { tarHeader, tarPadding, tarTrailer } from './tar-header.ts';

type TestSegment = Omit<SegmentSource, 'open'> & { open: () => Promise<Readable> };

const file = (path: string, text: string | Buffer) => ({ path, body: Buffer.from(text) });

async function source(key: string, files: FileToPack[]): Promise<TestSegment> {
  const { bytes, ...summary } = await packSegment(files);
  return { key, ...summary, open: async () => Readable.from([bytes.subarray(0, 7), bytes.subarray(7)]) };
}

const threeSegments = (): Promise<[TestSegment, TestSegment, TestSegment]> =>
  Promise.all([
    source('one', [file('acme/index.html', '<h1>Hello</h1>'), file('acme/random.bin', randomBytes(3000))]),
    source('two', [file('acme/empty.txt', ''), file('acme/guides/x.html', 'x'.repeat(100_000))]),
    source('three', [file('acme/_bindery/manifest.json', '{}')]),
  ]);

test('the bundle is one gzip member with the tar entries of all segments in their order', async () => {
  const files = [file('acme/a.txt', 'a'), file('acme/b.txt', 'b'.repeat(512)), file('acme/c.txt', 'c'.repeat(513))];
  const segments = await Promise.all(files.map((one, index) => source(String(index), [one])));
  const bundle = await buffer(joinSegments(segments));
  const expected = files.flatMap(({ path, body }) => [tarHeader(path, body.length), body, tarPadding(body.length)]);
  expect(gunzipSync(bundle).equals(Buffer.concat([...expected, tarTrailer]))).toBe(true);
});

test('the same segments give the same bytes, and the digest is known before the upload', async () => {
  const segments = await threeSegments();
  const first = await buffer(joinSegments(segments));
  const second = await buffer(joinSegments(segments));
  expect(first.equals(second)).toBe(true);
  expect(await digestBundle(segments)).toEqual({ sha256: hash('sha256', first), sizeBytes: first.length });
});

test('the header of the gzip member has no time and no system', async () => {
  const bundle = await buffer(joinSegments(await threeSegments()));
  expect([...bundle.subarray(0, 10)]).toEqual([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
});

test('a bundle that is small enough is kept when its digest is made', async () => {
  const segments = await threeSegments();
  const packedBytes = segments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const { bytes, sizeBytes } = await digestBundle(segments, packedBytes);
  expect(Buffer.concat(bytes ?? []).equals(await buffer(joinSegments(segments)))).toBe(true);
  expect(sizeBytes).toBe(Buffer.concat(bytes ?? []).length);
  expect(await digestBundle(segments, packedBytes - 1)).not.toHaveProperty('bytes');
});

test('four segments are opened before the first of them is there, and bytes may come whole', async () => {
  const opened: string[] = [];
  const isThere = Promise.withResolvers<void>();
  const segments = await Promise.all(
    ['1', '2', '3', '4', '5', '6'].map(async (key) => {
      const { bytes, ...summary } = await packSegment([file(`acme/${key}`, key)]);
      const open = async () => {
        opened.push(key);
        await isThere.promise;
        return bytes;
      };
      return { key, ...summary, open };
    }),
  );
  const joining = digestBundle(segments);
  await new Promise(setImmediate);
  expect(opened).toEqual(['1', '2', '3', '4']);
  isThere.resolve();
  expect((await joining).sizeBytes).toBeGreaterThan(1_024);
  expect(opened).toEqual(['1', '2', '3', '4', '5', '6']);
});

test('at most four segments are open at a time', async () => {
  const read: number[] = [];
  const readBeforeOpened: number[] = [];
  const segments = await Promise.all(
    [0, 1, 2, 3, 4, 5, 6].map(async (number) => {
      const { bytes, ...summary } = await packSegment([file(`acme/${number}`, 'x')]);
      const pieces = function* () {
        yield bytes;
        read.push(number);
      };
      const open = async () => {
        readBeforeOpened.push(read.length);
        return Readable.from(pieces());
      };
      return { key: String(number), ...summary, open };
    }),
  );
  await digestBundle(segments);
  expect(readBeforeOpened).toEqual([0, 0, 0, 0, 1, 2, 3]);
});

test('segments without files and a bundle without segments are complete archives', async () => {
  const [one] = await threeSegments();
  const empty = await source('empty', []);
  expect(empty.rawLength).toBe(0);
  const bundle = gunzipSync(await buffer(joinSegments([empty, one, empty])));
  expect(bundle.subarray(0, 15).toString()).toBe('acme/index.html');
  expect(gunzipSync(await buffer(joinSegments([])))).toEqual(Buffer.from(tarTrailer));
});

test('a segment whose bytes changed is named', async () => {
  const [one, two, three] = await threeSegments();
  const bytes = await buffer(await two.open());
  bytes[20] = (bytes[20] ?? 0) ^ 1;
  const damaged = { ...two, open: async () => Readable.from([bytes]) };
  const error = await buffer(joinSegments([one, damaged, three])).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(SegmentDamaged);
  expect(error).toMatchObject({ key: 'two', index: 1, message: expect.stringContaining('segment two (number 2') });
});

function* endless(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(1_000);
}

test.each([
  ['is missing', async () => undefined],
  ['has only 3 of', async () => Readable.from([Buffer.from('abc')])],
  ['has more of', async () => Readable.from(endless())],
])('a segment that %s is named', async (reason, open) => {
  const [one, two, three] = await threeSegments();
  await expect(digestBundle([one, two, { ...three, open }])).rejects.toThrow(
    `segment three (number 3 of the bundle) ${reason}`,
  );
});

test('an error of the store is passed on unchanged, even from a segment that was opened ahead', async () => {
  const [one, two, three] = await threeSegments();
  const gone = new Error('the store is gone');
  const failing = new Readable({ read() {} });
  const opened = { ...three, open: async () => failing };
  const joined = joinSegments([one, two, opened])[Symbol.asyncIterator]();
  await joined.next();
  await joined.next();
  failing.destroy(gone);
  const rest = async () => {
    while (!(await joined.next()).done);
  };
  await expect(rest()).rejects.toBe(gone);
  await expect(digestBundle([one, { ...two, open: () => Promise.reject(gone) }])).rejects.toBe(gone);
});

test('what was opened ahead does not hide the damage', async () => {
  const [one, two, three] = await threeSegments();
  const damaged = { ...one, sha256: two.sha256 };
  const whole = { ...two, open: async () => Buffer.from('all at once') };
  const gone = { ...three, open: () => Promise.reject(new Error('the store is gone')) };
  const missing = { ...three, open: async () => undefined };
  await expect(digestBundle([damaged, whole, gone, missing])).rejects.toThrow(SegmentDamaged);
});

test('streams opened ahead are closed when the reader gives up', async () => {
  const segments = await threeSegments();
  const streams: Readable[] = [];
  for (const segment of segments) {
    const { open } = segment;
    segment.open = async () => {
      const stream = await open();
      streams.push(stream);
      return stream;
    };
  }
  const joined = joinSegments(segments);
  await once(joined, 'readable');
  joined.destroy();
  await once(joined, 'close');
  expect(streams.length).toBe(3);
  expect(streams.every((stream) => stream.destroyed)).toBe(true);
});

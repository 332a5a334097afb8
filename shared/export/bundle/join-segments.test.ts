import { hash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { NotCopied, type ObjectPart } from '#shared/storage/object-store.ts';
import { joinedBundle, joinSegments, SegmentDamaged, type SegmentSource, type StoredBundle } from './join-segments.ts';
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
  const bundle = joinedBundle(segments);
  expect(await bundle.sha256()).toBe(hash('sha256', first));
  expect(bundle.sizeBytes).toBe(first.length);
});

test('the header of the gzip member has no time and no system', async () => {
  const bundle = await buffer(joinSegments(await threeSegments()));
  expect([...bundle.subarray(0, 10)]).toEqual([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
});

async function bytesOf(parts: readonly ObjectPart[]): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for (const { read } of parts) for await (const piece of read()) pieces.push(piece);
  return Buffer.concat(pieces);
}

test('a bundle that is small enough is read once, and so is one whose digest is needed after its parts', async () => {
  const segments = await threeSegments();
  let opened = 0;
  for (const segment of segments) {
    const { open } = segment;
    segment.open = () => {
      opened += 1;
      return open();
    };
  }
  const whole = await buffer(joinSegments(segments));
  const opens = async (work: () => Promise<unknown>) => {
    opened = 0;
    await work();
    return opened;
  };
  const sha256 = hash('sha256', whole);
  const small = joinedBundle(segments, { keptBytes: whole.length });
  expect(await opens(async () => expect(await small.sha256()).toBe(sha256))).toBe(3);
  expect(await opens(async () => expect((await bytesOf(small.parts)).equals(whole)).toBe(true))).toBe(0);

  const large = joinedBundle(segments, { keptBytes: whole.length - 1 });
  expect(await opens(async () => expect((await bytesOf(large.parts)).equals(whole)).toBe(true))).toBe(3);
  expect(await opens(async () => expect(await large.sha256()).toBe(sha256))).toBe(0);
  const digestFirst = joinedBundle(segments, { keptBytes: whole.length - 1 });
  expect(await opens(async () => expect(await digestFirst.sha256()).toBe(sha256))).toBe(3);
  expect(await opens(() => bytesOf(digestFirst.parts))).toBe(3);
  expect(await digestFirst.sha256()).toBe(sha256);
});

test.each([0, 1_000_000])(
  'the digest is right also if a reader stopped before the end (%i bytes are kept)',
  async (keptBytes) => {
    const segments = await threeSegments();
    const bundle = joinedBundle(segments, { keptBytes });
    for await (const _ of bundle.parts[0]?.read() ?? []);
    for await (const _ of bundle.parts[1]?.read() ?? []) break;
    expect(await bundle.sha256()).toBe(hash('sha256', await buffer(joinSegments(segments))));
  },
);

/** A stored bundle of these segments. `bytes` may be changed. */
async function storedBundle(segments: readonly SegmentSource[]): Promise<StoredBundle & { bytes: Buffer }> {
  const bytes = await buffer(joinSegments(segments));
  return {
    key: 'last',
    bytes,
    segments,
    openRange: async (start, end) => Readable.from([bytes.subarray(start, end)]),
  };
}

/** A segment of pieces with these lengths. The letter of a piece decides its bytes. */
async function inPieces(key: string, text: string): Promise<TestSegment> {
  const whole = await source(key, [file(`acme/${key}`, 'x')]);
  const bytes = Buffer.concat(text.split('').map((letter) => Buffer.alloc(100, letter)));
  return {
    ...whole,
    sizeBytes: bytes.length,
    sha256: hash('sha256', bytes),
    pieces: text.split('').map((letter) => [100, hash('sha256', Buffer.alloc(100, letter))]),
    open: async () => Readable.from([bytes]),
    openRange: async (start, end) => Readable.from([bytes.subarray(start, end)]),
  };
}

test('segments and pieces that the last bundle has are read from it, in runs', async () => {
  const [one, two, three] = await threeSegments();
  const before = [one, two, three, await inPieces('closing', 'abcdef')];
  const last = await storedBundle(before);
  const added = await source('added', [file('acme/added.html', 'new')]);
  const after = [one, added, two, three, await inPieces('closing', 'abXYef')];
  const whole = await buffer(joinSegments(after));
  const unread = (): Promise<never> => Promise.reject(new Error('this segment is in the last bundle'));
  const known = [{ ...one, open: unread }, added, { ...two, open: unread }, { ...three, open: unread }, after[4]];
  const bundle = joinedBundle(known as SegmentSource[], { last });
  expect((await bytesOf(bundle.parts)).equals(whole)).toBe(true);
  expect(await bundle.sha256()).toBe(hash('sha256', whole));
  expect(bundle.sizeBytes).toBe(whole.length);
  const closing = 10 + one.sizeBytes + two.sizeBytes + three.sizeBytes;
  expect(bundle.parts.map(({ same }) => same)).toEqual([
    { at: 0, sizeBytes: 10 },
    { at: 10, sizeBytes: one.sizeBytes },
    undefined,
    { at: 10 + one.sizeBytes, sizeBytes: two.sizeBytes + three.sizeBytes + 200 },
    undefined,
    { at: closing + 400, sizeBytes: 200 },
    undefined,
  ]);
  for (const part of bundle.parts) {
    const { at, sizeBytes } = part.same ?? { at: 0, sizeBytes: 0 };
    const stored = last.bytes.subarray(at, at + sizeBytes);
    if (part.same !== undefined) expect((await bytesOf([part])).equals(stored)).toBe(true);
  }
});

test('a fault of the last bundle is distinguished from damage to a segment', async () => {
  const [one, two, three] = await threeSegments();
  const last = await storedBundle([one, two, three]);
  const joining = (changed: Partial<StoredBundle>) =>
    joinedBundle([one, two, three], { last: { ...last, ...changed } });
  await expect(joining({ openRange: async () => undefined }).sha256()).rejects.toThrow(NotCopied);
  const cut: StoredBundle['openRange'] = async (start, end) => Readable.from([last.bytes.subarray(start, end - 1)]);
  await expect(joining({ openRange: cut }).sha256()).rejects.toThrow(NotCopied);
  for (const place of [10, 10 + one.sizeBytes, 9 + one.sizeBytes + two.sizeBytes + three.sizeBytes]) {
    const bytes = Buffer.from(last.bytes);
    bytes[place] = (bytes[place] ?? 0) ^ 1;
    const openRange: StoredBundle['openRange'] = async (start, end) => Readable.from([bytes.subarray(start, end)]);
    await expect(joining({ openRange }).sha256()).rejects.toThrow(NotCopied);
  }
  const closing = await inPieces('closing', 'abc');
  const damaged = { ...closing, openRange: async () => Readable.from([Buffer.alloc(300)]) };
  await expect(joinedBundle([one, damaged], { last }).sha256()).rejects.toThrow(
    'segment closing (number 2 of the bundle) has other bytes than those that were stored',
  );
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
  const joining = joinedBundle(segments).sha256();
  await new Promise(setImmediate);
  expect(opened).toEqual(['1', '2', '3', '4']);
  isThere.resolve();
  expect(await joining).toMatch(/^[0-9a-f]{64}$/);
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
  await joinedBundle(segments).sha256();
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
  ['has more than', async () => Readable.from(endless())],
])('a segment that %s is named', async (reason, open) => {
  const [one, two, three] = await threeSegments();
  await expect(joinedBundle([one, two, { ...three, open }]).sha256()).rejects.toThrow(
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
  await expect(joinedBundle([one, { ...two, open: () => Promise.reject(gone) }]).sha256()).rejects.toBe(gone);
});

test('segments that were opened ahead do not hide the damage', async () => {
  const [one, two, three] = await threeSegments();
  const damaged = { ...one, sha256: two.sha256 };
  const whole = { ...two, open: async () => Buffer.from('all at once') };
  const gone = { ...three, open: () => Promise.reject(new Error('the store is gone')) };
  const missing = { ...three, open: async () => undefined };
  await expect(joinedBundle([damaged, whole, gone, missing]).sha256()).rejects.toThrow(SegmentDamaged);
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

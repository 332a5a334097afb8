import { hash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { crc32, constants, inflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { deflateWhole } from './deflated-bytes.ts';
import { packSegment, segmentWriter } from './segment-writer.ts';

const inflate = (bytes: Buffer) => inflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH });
const files = [
  { path: 'acme/index.html', body: Buffer.from('<h1>Hello</h1>') },
  { path: 'acme/big.bin', body: randomBytes(300_000) },
  { path: 'acme/text.md', body: Buffer.from('words and more words\n'.repeat(20_000)) },
  { path: 'acme/empty', body: Buffer.alloc(0) },
];

test('a segment ends with a full flush on a byte boundary and is described correctly', async () => {
  const segment = await packSegment(files);
  expect(segment.bytes.subarray(-4)).toEqual(Buffer.from([0, 0, 0xff, 0xff]));
  const raw = inflate(segment.bytes);
  expect(segment).toMatchObject({ rawLength: raw.length, crc32: crc32(raw), sizeBytes: segment.bytes.length });
  expect(raw.length % 512).toBe(0);
  expect(segment.files.map(({ path, size }) => [path, size])).toEqual(files.map((f) => [f.path, f.body.length]));
  expect(segment.files[3]?.sha256).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
});

test.each([
  ['few', files],
  ['many', [...files, { path: 'acme/large.md', body: Buffer.from('word '.repeat(700_000)) }]],
])('the same files give the same bytes, packed at once or streamed to a slow reader: %s', async (_name, files) => {
  const whole = await packSegment(files);
  const writer = segmentWriter();
  const chunks: Buffer[] = [];
  const slowly = (async () => {
    for await (const chunk of writer.output) {
      chunks.push(Buffer.from(chunk));
      await new Promise(setImmediate);
    }
  })();
  for (const { path, body } of files) await writer.add(path, body);
  const { bytes, ...summary } = whole;
  expect(await writer.finish()).toEqual(summary);
  await slowly;
  expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
});

test('bytes that are packed already are stored, and others are deflated', async () => {
  const random = randomBytes(300_000);
  const { bytes } = await packSegment([{ path: 'acme/photo.jpg', body: random }]);
  expect(bytes.indexOf(random.subarray(1_000, 61_000))).toBeGreaterThan(0);
  expect(
    inflate(bytes)
      .subarray(512, 512 + random.length)
      .equals(random),
  ).toBe(true);
  for (const text of [
    'words and more words\n',
    'ключ и слово\n',
    '設定と値の一覧\n',
    random.toString('base64').slice(0, 90_000),
  ]) {
    const body = Buffer.from(text.repeat(Math.ceil(90_000 / text.length)));
    expect((await packSegment([{ path: 'acme/text.md', body }])).sizeBytes).toBeLessThan(0.8 * body.length);
  }
});

test('a writer lists the pieces of its segment, and a changed text is a changed piece', async () => {
  const text = async (words: string) => {
    const raw = Buffer.from(words.repeat(9_000));
    return { raw, deflated: await deflateWhole(raw), crc32: crc32(raw) };
  };
  const packed = async (words: readonly string[]) => {
    const writer = segmentWriter({ withPieces: true });
    const bytes = buffer(writer.output);
    const texts = await Promise.all(words.map(text));
    const size = texts.reduce((sum, { raw }) => sum + raw.length, 0);
    await writer.addStream('acme/llms-full.txt', size, Readable.from(texts));
    const { pieces = [] } = await writer.finish();
    return { pieces, bytes: await bytes };
  };
  const { pieces, bytes } = await packed(['one ', 'two ', 'six ']);
  let at = 0;
  for (const [sizeBytes, sha256] of pieces) {
    expect(hash('sha256', bytes.subarray(at, at + sizeBytes), 'hex')).toBe(sha256);
    at += sizeBytes;
  }
  expect(at).toBe(bytes.length);
  const changed = (await packed(['one ', 'ten ', 'six '])).pieces;
  expect(changed.map((piece, number) => piece[1] === pieces[number]?.[1])).toEqual([true, true, false, true, true]);
});

test('paths that are not allowed in an archive are refused, and so are duplicate paths', async () => {
  await expect(packSegment([{ path: '../x', body: '' }])).rejects.toThrow('"../x" points outside its folder');
  const twice = { path: 'acme/x', body: Buffer.from('') };
  await expect(packSegment([twice, twice])).rejects.toThrow('acme/x is already in this segment');
});

test('a text is packed as UTF-8', async () => {
  for (const body of [
    '',
    'plain',
    'Größe',
    '日本語 😀',
    `lone \ud800 surrogate`,
    'x'.repeat(511),
    'é'.repeat(400_000),
  ]) {
    const packed = (one: string | Buffer) => packSegment([{ path: 'acme/x', body: one }]);
    const [text, bytes] = await Promise.all([packed(body), packed(Buffer.from(body))]);
    expect(text).toEqual(bytes);
  }
});

test('adding fails when the reader has destroyed the output', async () => {
  const writer = segmentWriter();
  writer.output.destroy();
  const adding = async () => {
    for (let n = 0; ; n++) await writer.add(`acme/${n}`, randomBytes(100_000));
  };
  await expect(adding()).rejects.toThrow('Premature close');
  await expect(writer.finish()).rejects.toThrow('Premature close');
});

test('finishing fails when the reader has destroyed the output of a segment without files', async () => {
  const writer = segmentWriter();
  writer.output.destroy();
  await expect(writer.finish()).rejects.toThrow('Premature close');
});

test('adding waits for the reader, so that memory stays at a few blocks', async () => {
  const writer = segmentWriter();
  let added = 0;
  const adding = (async () => {
    for (; added < 100; added++) await writer.add(`acme/${added}`, randomBytes(100_000));
    return writer.finish();
  })();
  // Without a reader the pipe fills up, and adding stops long before the end.
  for (let turn = 0, before = -1; added !== before || turn < 50; turn++) {
    before = added;
    await new Promise(setImmediate);
  }
  expect(added).toBeLessThan(20);
  const bytes = await buffer(writer.output);
  expect((await adding).sizeBytes).toBe(bytes.length);
});

test('a file added as a stream gives the same bytes, and one with another size than announced is refused', async () => {
  const whole = await packSegment(files);
  const writer = segmentWriter();
  const bytes = buffer(writer.output);
  for (const { path, body } of files) {
    await writer.addStream(path, body.length, Readable.from([body.subarray(0, 5), body.subarray(5)]));
  }
  const { sha256, files: listed } = await writer.finish();
  expect([sha256, listed]).toEqual([whole.sha256, whole.files]);
  expect((await bytes).equals(whole.bytes)).toBe(true);
  const refusing = segmentWriter();
  refusing.output.resume();
  await expect(refusing.addStream('a', 3, Readable.from([Buffer.from('ab')]))).rejects.toThrow(
    'a has only 2 of 3 bytes',
  );
});

test('a stream that goes on after its announced size is refused, and is not read further', async () => {
  let read = 0;
  const endless = async function* () {
    for (; ; read += 1) yield Buffer.from('ab');
  };
  const writer = segmentWriter();
  writer.output.resume();
  await expect(writer.addStream('a', 3, endless())).rejects.toThrow('a has more than 3 bytes');
  expect(read).toBeLessThan(3);
});

test('adding a stream gives its SHA-256, or the one that the caller computes', async () => {
  const writer = segmentWriter();
  writer.output.resume();
  const body = Buffer.from('words');
  expect(await writer.addStream('a', body.length, Readable.from([body]))).toBe(hash('sha256', body, 'hex'));
  const known = 'd'.repeat(64);
  expect(await writer.addStream('b', body.length, Readable.from([body]), () => known)).toBe(known);
  expect((await writer.finish()).files.map(({ sha256 }) => sha256)).toEqual([hash('sha256', body, 'hex'), known]);
});

test('bytes that were deflated before are packed unchanged, wherever they come', async () => {
  const parts = [1, 300_000, 0, 70_000, 5].map((length, at) =>
    Buffer.from(`part ${at} of words, `.repeat(Math.ceil(length / 16)).slice(0, length)),
  );
  const raw = Buffer.concat(parts);
  const expected = await packSegment([{ path: 'acme/x', body: raw }]);
  for (const isDeflated of [(at: number) => at % 2 === 1, (at: number) => at % 2 === 0, () => true]) {
    const pieces = parts.map(async (part, at) =>
      isDeflated(at) ? { raw: part, deflated: await deflateWhole(part), crc32: crc32(part) } : part,
    );
    const writer = segmentWriter();
    const read = buffer(writer.output);
    await writer.addStream('acme/x', raw.length, Readable.from(await Promise.all(pieces)));
    const summary = await writer.finish();
    const unpacked = inflate(await read);
    expect(unpacked.equals(inflate(expected.bytes))).toBe(true);
    expect(summary).toMatchObject({ crc32: expected.crc32, rawLength: expected.rawLength, files: expected.files });
  }
});

test('pieces of deflated bytes follow each other, and later ones may refer to them', async () => {
  const words = randomBytes(20_000);
  const deflated = await deflateWhole(words);
  const one = { raw: words, deflated, crc32: crc32(words) };
  const writer = segmentWriter();
  const read = buffer(writer.output);
  await writer.addStream('acme/x', 3 * words.length, Readable.from([one, one, words]));
  await writer.finish();
  const packed = await read;
  expect(packed.includes(Buffer.concat([deflated, deflated]))).toBe(true);
  expect(packed.length).toBeLessThan(2.5 * words.length);
});

test('unread bytes are packed as they are, and inflated only as the window of bytes that follow them', async () => {
  // A multiple of 512, so that no padding follows.
  const words = randomBytes(20_480);
  const deflated = await deflateWhole(words);
  const sha256 = hash('sha256', deflated, 'hex');
  let inflated = 0;
  const unread = {
    ...{ deflated, sha256, crc32: crc32(words), rawLength: words.length },
    inflate: async () => {
      inflated += 1;
      return words;
    },
  };
  const packed = async (...parts: (typeof unread | Buffer)[]) => {
    const writer = segmentWriter({ withPieces: true });
    const read = buffer(writer.output);
    await writer.addStream('acme/x', parts.length * words.length, Readable.from(parts), () => 'd'.repeat(64));
    const summary = await writer.finish();
    const bytes = await read;
    const raw = inflate(bytes);
    expect(summary).toMatchObject({ crc32: crc32(raw), rawLength: raw.length, sizeBytes: bytes.length });
    for (let at = 0; at < parts.length; at += 1)
      expect(raw.subarray(512 + at * words.length, 512 + (at + 1) * words.length).equals(words)).toBe(true);
    return { bytes, pieces: summary.pieces };
  };
  const alone = await packed(unread, unread);
  expect(inflated).toBe(0);
  expect(alone.pieces?.slice(1)).toEqual([
    [deflated.length, sha256],
    [deflated.length, sha256],
  ]);
  const followed = await packed(unread, words);
  expect(inflated).toBe(1);
  expect(followed.bytes.length).toBeLessThan(1.5 * words.length);
});

import { randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { deflatePiece, deflateWhole, inflatePieces, lastBlock, pieceBytes, windowBytes } from './deflated-bytes.ts';

const none = new Uint8Array(0);
/** Size above which work is done off the event loop. */
const large = 2 * 1024 * 1024 + 1;
const text = (length: number): Buffer =>
  Buffer.from('Words of a page. '.repeat(Math.ceil(length / 17)).slice(0, length));
const end = lastBlock(Buffer.from('end'));

describe('deflating', () => {
  test.each([0, 1, pieceBytes, pieceBytes + 1, large])(
    '%i bytes are whole again, also with other data behind them',
    async (length) => {
      const raw = text(length);
      const deflated = await deflateWhole(raw);
      expect((await inflatePieces(deflated, length)).equals(raw)).toBe(true);
      const followed = inflateRawSync(Buffer.concat([deflated, deflated, end]));
      expect(followed.equals(Buffer.concat([raw, raw, Buffer.from('end')]))).toBe(true);
    },
  );

  test('the bytes are those of pieces that know the window before them', async () => {
    const raw = Buffer.concat([randomBytes(pieceBytes - 40_000), text(large)]);
    const pieces: Buffer[] = [];
    for (let at = 0; at < raw.length; at += pieceBytes)
      pieces.push(
        await deflatePiece(raw.subarray(at, at + pieceBytes), raw.subarray(Math.max(0, at - windowBytes), at)),
      );
    expect((await deflateWhole(raw)).equals(Buffer.concat(pieces))).toBe(true);
  });

  test('a piece refers to the whole window before it, and to nothing without one', async () => {
    // Deflate looks 32 KB back, without the length of its longest match.
    const repeated = randomBytes(windowBytes - 300);
    expect((await deflatePiece(repeated, repeated)).length).toBeLessThan(1_000);
    expect((await deflatePiece(repeated, none)).length).toBeGreaterThan(repeated.length);
    // The first byte is at the far end of the window of the second piece.
    const twice = Buffer.concat([randomBytes(pieceBytes - 300), repeated.subarray(0, 300), repeated.subarray(0, 300)]);
    expect((await deflateWhole(twice)).length).toBeLessThan(pieceBytes + 200);
  });

  test('bytes that are spread evenly are stored from 64 KB on, in blocks of one piece; fewer bytes are deflated', async () => {
    const random = randomBytes(pieceBytes);
    const stored = await deflatePiece(random, none);
    // Five bytes for each stored block of 64 KB, and those of the flush.
    expect(stored.length - random.length).toBeLessThan(64);
    expect(stored.subarray(5, 5 + 1_000).equals(random.subarray(0, 1_000))).toBe(true);
    const again = random.subarray(0, 64 * 1024);
    // A stored piece ignores the window, a deflated one repeats it.
    expect((await deflatePiece(again, again.subarray(-windowBytes))).length).toBeGreaterThan(again.length);
    const shorter = again.subarray(1);
    const halves = Buffer.concat([shorter.subarray(0, 30_000), shorter.subarray(0, 30_000)]);
    expect((await deflatePiece(halves, none)).length).toBeLessThan(31_000);
  });

  test('bytes with a bias that deflating can use are deflated', async () => {
    // Half of the values never occur, as in base64 and in drawings.
    const biased = randomBytes(pieceBytes).map((byte) => byte & 0x7f);
    const deflated = await deflatePiece(biased, none);
    expect(deflated.length).toBeLessThan(biased.length * 0.9);
    // Evenness is judged by the whole piece, not by its beginning.
    const laterText = Buffer.concat([randomBytes(pieceBytes / 4), text((pieceBytes * 3) / 4)]);
    expect((await deflatePiece(laterText, none)).length).toBeLessThan(pieceBytes / 2);
  });

  test('a last block has its header, its length twice, and its bytes', () => {
    const bytes = randomBytes(65_535);
    expect([...lastBlock(bytes).subarray(0, 5)]).toEqual([1, 0xff, 0xff, 0, 0]);
    expect(inflateRawSync(lastBlock(bytes)).equals(bytes)).toBe(true);
    expect([...end]).toEqual([1, 3, 0, 0xfc, 0xff, ...Buffer.from('end')]);
  });
});

describe.each([
  ['on the event loop', 1_000],
  ['on the event loop, without the shared buffer', 400_000],
  ['off it', large],
])('inflating %s', (_where, length) => {
  const raw = randomBytes(length);
  const notWhole = 'the deflate data is not made of whole pieces';

  test('gives the bytes, whether the digest is known or not', async () => {
    const deflated = await deflateWhole(raw);
    expect((await inflatePieces(deflated, length)).equals(raw)).toBe(true);
    expect((await inflatePieces(deflated, length, sha256Of(deflated))).equals(raw)).toBe(true);
  });

  test('rejects another length, a last block, and data that is cut or goes on', async () => {
    const deflated = await deflateWhole(raw);
    await expect(inflatePieces(deflated, length - 1)).rejects.toBeInstanceOf(Error);
    await expect(inflatePieces(deflated, length + 1)).rejects.toThrow(notWhole);
    await expect(inflatePieces(Buffer.concat([deflated, await deflateWhole(text(9))]), length)).rejects.toBeInstanceOf(
      Error,
    );
    await expect(inflatePieces(deflateRawSync(raw), length)).rejects.toThrow(notWhole);
    await expect(inflatePieces(Buffer.concat([deflated, lastBlock(none)]), length)).rejects.toThrow(notWhole);
    // Without the last five bytes, an empty stored block, some data is whole.
    for (const cut of [1, 4, 100])
      await expect(inflatePieces(deflated.subarray(0, -cut), length)).rejects.toBeInstanceOf(Error);
  });

  test('rejects a stored block that is open at its end, so that it would take what follows as its content', async () => {
    // The block claims the last block that is appended, header included: 5 bytes and those of a SHA-256.
    const content = raw.subarray(0, 60_000);
    const open = Buffer.concat([Buffer.from([0, 0, 0, 0, 0]), content]);
    open.writeUInt16LE(content.length + 37, 1);
    open.writeUInt16LE(0xffff - content.length - 37, 3);
    await expect(inflatePieces(open, content.length)).rejects.toBeInstanceOf(Error);
    await expect(inflatePieces(open, content.length + 5)).rejects.toBeInstanceOf(Error);
  });
});

test('data that is too short for its length is rejected before it is inflated', async () => {
  const zeros = Buffer.alloc(large);
  const deflated = await deflateWhole(zeros);
  expect((await inflatePieces(deflated, large)).equals(zeros)).toBe(true);
  await expect(inflatePieces(Buffer.alloc(10), 11_001)).rejects.toThrow('the deflate data is too short for its length');
  await expect(inflatePieces(Buffer.alloc(10), 11_000)).rejects.not.toThrow('too short');
});

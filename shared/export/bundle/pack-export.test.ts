import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { packRendered, packStored, packTo, type StoredFile } from './pack-export.ts';

const stored = (path: string, text: string): StoredFile => ({
  path,
  sha256: hash('sha256', text, 'hex'),
  sizeBytes: Buffer.byteLength(text),
});
const readAll = async (segment: Readable): Promise<void> => void (await buffer(segment));

test('files of a project and texts in place of files are packed as rendered files are, under the domain', async () => {
  const rendered = await packRendered('acme', [
    { path: 'a.txt', body: 'one' },
    { path: 'b.txt', body: 'two' },
  ]);
  let packed = Buffer.alloc(0);
  const summary = await packStored(
    'acme',
    [stored('a.txt', 'one'), { ...stored('b.txt', 'of before'), body: Buffer.from('two') }],
    async () => Readable.from([Buffer.from('one')]),
    async (segment) => void (packed = await buffer(segment)),
  );
  expect(packed.equals(rendered.bytes)).toBe(true);
  expect(summary.files.map(({ path }) => path)).toEqual(['acme/a.txt', 'acme/b.txt']);
  expect(summary.sha256).toBe(rendered.sha256);
});

test.each([
  ['is gone', undefined, 'the file a.txt of the content version is gone'],
  ['has other bytes', 'two', 'the stored file a.txt of the content version is damaged'],
  ['is cut', 'on', 'acme/a.txt has only 2 of 3 bytes'],
  ['goes on', 'ones', 'acme/a.txt has more than 3 bytes'],
])('a file that %s is named, and its stream is closed', async (_fault, text, message) => {
  const body = text === undefined ? undefined : Readable.from([Buffer.from(text)]);
  const packing = packStored('acme', [stored('a.txt', 'one')], async () => body, readAll);
  await expect(packing).rejects.toThrow(message);
  expect(body?.destroyed ?? true).toBe(true);
});

test('a file that is refused before it is read is closed, too', async () => {
  const bodies: Readable[] = [];
  const open = async (): Promise<Readable> => {
    const body = Readable.from([Buffer.from('one')]);
    bodies.push(body);
    return body;
  };
  const packing = packStored('acme', [stored('a.txt', 'one'), stored('a.txt', 'one')], open, readAll);
  await expect(packing).rejects.toThrow('acme/a.txt is already in this segment');
  expect(bodies.map(({ destroyed }) => destroyed)).toEqual([true, true]);
});

test('an upload that fails first is the reason, whether it ends the stream or leaves it', async () => {
  const lost = new Error('the store is gone');
  const endsIt = async (segment: Readable): Promise<void> => {
    segment.destroy();
    throw lost;
  };
  const endsItLongBefore = async (segment: Readable): Promise<void> => {
    segment.destroy();
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    throw lost;
  };
  const leavesIt = () => Promise.reject(lost);
  for (const upload of [endsIt, endsItLongBefore, leavesIt]) {
    const filling = packTo(upload, async (writer) => {
      for (let at = 0; at < 100; at += 1) await writer.add(`acme/${at}`, Buffer.alloc(300_000, at));
    });
    await expect(filling).rejects.toBe(lost);
    await expect(packTo(upload, async () => {})).rejects.toBe(lost);
  }
});

test('an error of filling ends the upload, and is thrown when it has ended', async () => {
  const fault = new Error('a fault in a page');
  let ended = false;
  const upload = async (segment: Readable): Promise<void> => {
    await readAll(segment).catch(() => {});
    await new Promise(setImmediate);
    ended = true;
  };
  await expect(packTo(upload, () => Promise.reject(fault))).rejects.toBe(fault);
  expect(ended).toBe(true);
});

test('the options are those of the writer, whose pieces the upload gets', async () => {
  const body = Buffer.from('words');
  let listed: unknown;
  const summary = await packTo(
    async (segment, pieces) => {
      await readAll(segment);
      listed = pieces;
    },
    (writer) => writer.add('acme/a', body),
    { withPieces: true },
  );
  expect(summary.pieces).toEqual(listed);
  expect(summary.pieces?.length).toBe(1);
});

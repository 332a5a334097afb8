import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tarHeader } from '#shared/export/bundle/tar-header.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { Unavailable } from '#shared/runtime/failures.ts';
import { packTar } from '../../test/support/archives.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { describeWithSmallDisk, mountSmallDisk } from '../../test/support/small-disk.ts';
import { openUploads, type Uploads } from './project-files.ts';

const never = new AbortController().signal;
let folder: string;
let uploads: Uploads;

beforeAll(async () => {
  folder = newFolder();
  uploads = openUploads({ folder, places: 4 });
});
afterAll(() => uploads.close());

test('all files come back as they were, from one file on disk', async () => {
  const files: Record<string, Buffer> = {
    'p/docs.json': Buffer.from('{}'),
    'p/empty.mdx': Buffer.alloc(0),
    'p/big.png': randomBytes(3_000_000),
    'p/last.mdx': Buffer.from('é'),
  };
  const project = await uploads.receive('acme', Readable.from([await packTar(files)]), never);
  expect((await readdir(folder, { recursive: true, withFileTypes: true })).filter((one) => one.isFile())).toHaveLength(
    1,
  );
  for (const [name, content] of Object.entries(files)) {
    const file = project.files.find(({ path }) => `p/${path}` === name);
    expect(file).toMatchObject({ sha256: sha256Of(content), sizeBytes: content.length });
    expect(Buffer.from(await project.read(file!)).equals(content)).toBe(true);
    expect(await project.read(file!, 2)).toHaveLength(Math.min(2, content.length));
    if (content.length > 0) expect((await buffer(project.stream(file!))).equals(content)).toBe(true);
  }
  await project.remove();
  expect(await readdir(folder)).toEqual([]);
});

test('an archive that did not arrive is none, whatever the child says of it', async () => {
  const program = { entry: new URL('./test-children/deaf-unpacker.ts', import.meta.url) };
  const deceived = openUploads({ folder, places: 1, program });
  const packed = new Readable({ read: (): void => void packed.destroy(new Error('the client went away')) });
  await expect(deceived.receive('acme', packed, never)).rejects.toThrow('the client went away');
  await deceived.close();
  expect(await readdir(folder)).toEqual([]);
});

/** An archive of `count` empty files, made as it is read. */
function emptyFiles(count: number): { packed: Readable; sent: () => number } {
  let sent = 0;
  const headers = function* (): Generator<Buffer> {
    for (; sent < count; sent += 100) {
      yield Buffer.concat(Array.from({ length: 100 }, (_, index) => tarHeader(`f/${sent + index}.mdx`, 0)));
    }
    yield Buffer.alloc(1024);
  };
  return { packed: Readable.from(headers()).pipe(createGzip({ level: 1 })), sent: () => sent };
}

test('a million empty files are refused at the 200,001st, and the rest is not read', async () => {
  const { packed, sent } = emptyFiles(1_000_000);
  await expect(uploads.receive('acme', packed, never)).rejects.toThrow('the archive has more than 200000 entries');
  expect(sent()).toBeLessThan(500_000);
  expect(await readdir(folder)).toEqual([]);
});

test.each([
  ['of a file', { name: 'a', pax: { path: 'x'.repeat(2_000_000) } }, 'is longer than 1024 bytes'],
  ['of folders', { name: 'a', pax: { path: 'a/'.repeat(1_000_000) } }, 'is longer than 1024 bytes'],
  ['of a link', { name: 'l', type: 'symlink', pax: { linkpath: 'x'.repeat(2_000_000) } }, '"l" is a symbolic link'],
] as const)('a name of 2 MB is refused in a sentence that can be read: %s', async (_what, entry, reason) => {
  const packed = Readable.from([await packTar({ 'docs.json': '{}' }, [entry])]);
  const error = await uploads.receive('acme', packed, never).catch((thrown: unknown) => thrown as Error);
  expect((error as Error).message).toContain(reason);
  expect((error as Error).message.length).toBeLessThan(1_000);
});

test('an error of the source comes back as it is, and nothing is left', async () => {
  const lost = new Error('connection lost');
  const packed = new Readable({ read() {} });
  const receiving = uploads.receive('acme', packed, never);
  packed.destroy(lost);
  await expect(receiving).rejects.toBe(lost);
  expect(await readdir(folder)).toEqual([]);
});

test('an aborted signal ends the upload', async () => {
  const controller = new AbortController();
  const receiving = uploads.receive('acme', new Readable({ read() {} }), controller.signal);
  controller.abort(new Error('The client disconnected.'));
  await expect(receiving).rejects.toThrow('The client disconnected.');
  expect(await readdir(folder)).toEqual([]);
});

describeWithSmallDisk('a full disk', () => {
  test('keeps a project out until there is room, which is not the fault of the project', async () => {
    const disk = mountSmallDisk(1);
    const small = openUploads({ folder: disk.folder, places: 1 });
    const receive = async () => {
      const packed = Readable.from([await packTar({ 'docs.json': '{}', 'a.png': randomBytes(500_000) })]);
      return small.receive('acme', packed, never);
    };
    disk.fill();
    await expect(receive()).rejects.toThrow(Unavailable);
    disk.free();
    await (await receive()).remove();
    await small.close();
    disk.remove();
  });
});

import { once } from 'node:events';
import { mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { create as contentDisposition } from 'content-disposition';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { verifyFolderLink } from './download-link.ts';
import { folderObjectStore } from './folder-object-store.ts';
import { objectStoreContract } from './object-store.contract.ts';
import { DamagedObject, type ObjectStore, ObjectStoreUnavailable } from './object-store.ts';

const signingKey = 'a secret of sixteen or more';

objectStoreContract('a folder', async (settings) => {
  const folder = await mkdtemp(join(tmpdir(), 'bindery-objects-'));
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const store = folderObjectStore({ folder, publicBaseUrl: `http://127.0.0.1:${port}`, signingKey, ...settings });

  /** A minimal version of the gateway's route for links. */
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const link = verifyFolderLink(request.url ?? '', signingKey, new Date());
    if (typeof link === 'string') return void response.writeHead(403).end(link);
    const size = (await store.head(link.key))?.sizeBytes ?? 0;
    const asked = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
    const range = asked === null ? undefined : { start: Number(asked[1]), end: Number(asked[2]) };
    const stream = await store.getStream(link.key, range === undefined ? {} : { range });
    response.writeHead(range === undefined ? 200 : 206, {
      'content-type': link.contentType,
      'content-disposition': contentDisposition(link.fileName),
      ...(range === undefined ? {} : { 'content-range': `bytes ${range.start}-${range.end}/${size}` }),
    });
    if (stream !== undefined) await pipeline(stream, response);
  }

  return {
    store,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await rm(folder, { recursive: true });
    },
  };
});

let folder = '';
let store: ObjectStore;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bindery-objects-'));
  store = folderObjectStore({ folder, publicBaseUrl: 'http://127.0.0.1' });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('the folder contains only stored objects, and removing the last object of a folder removes it', async () => {
  await store.put('a/b/c', Buffer.from('x'));
  await store.put('a/b/d/e', Buffer.from('y'));
  await store.putIfAbsent('a/b/c', Buffer.from('z'));
  await store.remove('a/b/d/e');
  expect((await readdir(folder, { recursive: true })).sort()).toEqual([
    'stored',
    'stored/a',
    'stored/a/b',
    'stored/a/b/c#',
    'uploads',
  ]);
});

test('writes succeed although others remove the folders they write to', async () => {
  for (let round = 0; round < 50; round++) {
    await Promise.all([
      store.put(`race/x/${round}`, Buffer.from('x')),
      store.remove(`race/x/${round - 1}`),
      store.remove('race/x/none'),
    ]);
  }
  expect(await store.head('race/x/49')).toMatchObject({ sizeBytes: 1 });
});

test('with many concurrent reads, other work gets a turn after a few of them', async () => {
  await store.put('turns', Buffer.from('x'));
  let nowMs = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 1));
  let read = 0;
  const reading = Array.from({ length: 200 }, async () => {
    await store.get('turns');
    read += 1;
  });
  const readInTurn: number[] = [];
  for (let before = 0; read < reading.length; before = read) {
    await setImmediate();
    readInTurn.push(read - before);
  }
  clock.mockRestore();
  // At most the reads of a turn that had already begun and of one more turn have run.
  expect(Math.max(...readInTurn)).toBeLessThanOrEqual(10);
});

test('an object that is cut while it is read makes the stream fail', async () => {
  await store.put('cut', Buffer.alloc(2_000_000));
  const stream = await store.getStream('cut');
  await truncate(join(folder, 'stored', 'cut#'), 1_000_000);
  const rest = stream?.toArray();
  await expect(rest).rejects.toThrow(DamagedObject);
  await expect(rest).rejects.toThrow('too early');
  const cut = store.get('cut');
  await expect(cut).rejects.toThrow(DamagedObject);
  await expect(cut).rejects.toThrow('was not written by this object store, or was cut');
});

test('an object that was cut is listed, and so are the others', async () => {
  await store.put('cut/one', Buffer.alloc(100));
  await store.put('cut/two', Buffer.alloc(100));
  await truncate(join(folder, 'stored', 'cut', 'one#'), 50);
  const sizes = new Map<string, number>();
  for await (const { key, sizeBytes } of store.list('cut/')) sizes.set(key, sizeBytes);
  expect(Object.fromEntries(sizes)).toEqual({ 'cut/one': 50, 'cut/two': 100 });
});

test('a folder that cannot be written is unavailable, and the error names the reason', async () => {
  await writeFile(join(folder, 'a-file'), '');
  const settings = { folder: join(folder, 'a-file', 'objects'), publicBaseUrl: 'http://x' };
  const broken = folderObjectStore(settings);
  await expect(broken.check()).rejects.toThrow(ObjectStoreUnavailable);
  await expect(broken.check()).rejects.toThrow(`${settings.folder} cannot be used: ENOTDIR`);
  await expect(broken.put('a', Buffer.from('x'))).rejects.toThrow(ObjectStoreUnavailable);
  await expect(broken.list('')[Symbol.asyncIterator]().next()).rejects.toThrow(ObjectStoreUnavailable);
  await expect(broken.presign('a', { lifetimeSeconds: 1, fileName: 'a', contentType: 'a/b' })).rejects.toThrow(
    'BINDERY_LINK_SIGNING_KEY',
  );
});

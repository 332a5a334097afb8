import { mkdir, readdir, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeEach, expect, test } from 'vitest';
import { blobKey } from '#shared/contracts/stored-objects.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { DamagedObject, type ObjectStore } from '#shared/storage/object-store.ts';
import { type AgingStore, agingStore } from '../../test/support/aging-store.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { prepareUploadFolder, type ReceivedProject, storeFiles } from './project-files.ts';

const clock = { now: () => new Date() };
const large = 'x'.repeat(8 * 1024 * 1024 + 1);

let objects: AgingStore;
beforeEach(async () => {
  objects = agingStore();
});

/** A received project with these files. */
function received(files: Record<string, string>): ReceivedProject {
  return {
    files: Object.entries(files).map(([path, text]) => {
      return { path, sha256: sha256Of(text), sizeBytes: text.length, offset: 0 };
    }),
    read: async ({ path }) => Buffer.from(files[path] ?? ''),
    stream: ({ path }) => Readable.from([Buffer.from(files[path] ?? '')]),
    remove: async () => {},
  };
}
const modifiedAt = async (text: string) =>
  (await objects.store.head(blobKey('acme', sha256Of(text))))?.modifiedAt.getTime() ?? 0;

test('files are stored under their hash, each once', async () => {
  const files = received({ 'a.mdx': 'same', 'b.mdx': 'same', 'c.png': large });
  await storeFiles(objects.store, clock, 'acme', files, new AbortController().signal);
  expect(await objects.keys()).toEqual(
    [blobKey('acme', sha256Of('same')), blobKey('acme', sha256Of(large))].toSorted(),
  );
});

test('recently stored files stay; old ones are stored again, because housekeeping may be about to remove them', async () => {
  const files = received({ 'a.mdx': 'small', 'b.mdx': large });
  const store = () => storeFiles(objects.store, clock, 'acme', files, new AbortController().signal);
  await store();
  for (const [days, isStoredAgain] of [
    [0.4, false],
    [0.6, true],
  ] as const) {
    await objects.age('blobs/', days);
    const before = await Promise.all([modifiedAt('small'), modifiedAt(large)]);
    await store();
    const after = await Promise.all([modifiedAt('small'), modifiedAt(large)]);
    expect(after.map((time, index) => time !== before[index])).toEqual([isStoredAgain, isStoredAgain]);
  }
});

test('a file that was damaged where it is kept is stored again', async () => {
  const files = received({ 'a.mdx': 'small', 'b.mdx': large });
  const stored: string[] = [];
  const damaged: ObjectStore = {
    ...objects.store,
    head: async (key) => {
      throw new DamagedObject(`${key} was cut`);
    },
    put: async (key) => void stored.push(key),
    putStream: async (key) => void stored.push(key),
  };
  await storeFiles(damaged, clock, 'acme', files, new AbortController().signal);
  expect(stored.toSorted()).toEqual(files.files.map(({ sha256 }) => blobKey('acme', sha256)).toSorted());
});

test('files left more than a day ago are removed, those that may be in use stay', async () => {
  const folder = join(newFolder(), 'uploads');
  const now = new Date('2026-03-02T12:00:00Z');
  await prepareUploadFolder(folder, now);
  await mkdir(join(folder, 'old'));
  await mkdir(join(folder, 'new'));
  await utimes(join(folder, 'old'), now, new Date('2026-03-01T11:00:00Z'));
  await utimes(join(folder, 'new'), now, new Date('2026-03-02T11:00:00Z'));
  await prepareUploadFolder(folder, now);
  expect(await readdir(folder)).toEqual(['new']);
  await rm(join(folder, '..'), { recursive: true });
});

import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { blobKey } from '#shared/contracts/stored-objects.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { type AgingStore, agingStore } from '../../test/support/aging-store.ts';
import { prepareUploadFolder, storeFiles } from './project-files.ts';

const clock = { now: () => new Date() };
const large = 'x'.repeat(8 * 1024 * 1024 + 1);

let folder: string;
let objects: AgingStore;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bindery-files-'));
  objects = await agingStore();
});
afterEach(async () => {
  await objects.remove();
  await rm(folder, { recursive: true, force: true });
});

async function received(path: string, text: string) {
  const file = join(folder, sha256Of(path));
  await writeFile(file, text);
  return { path, file, sha256: sha256Of(text), sizeBytes: text.length };
}
const modifiedAt = async (text: string) =>
  (await objects.store.head(blobKey('acme', sha256Of(text))))?.modifiedAt.getTime() ?? 0;

test('files are stored under their hash, each once', async () => {
  const files = [await received('a.mdx', 'same'), await received('b.mdx', 'same'), await received('c.png', large)];
  await storeFiles(objects.store, clock, 'acme', files, new AbortController().signal);
  expect(await objects.keys()).toEqual(
    [blobKey('acme', sha256Of('same')), blobKey('acme', sha256Of(large))].toSorted(),
  );
});

test('what was stored lately stays as it is; what is old is stored again, because housekeeping may be about to remove it', async () => {
  const files = [await received('a.mdx', 'small'), await received('b.mdx', large)];
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

test('what was left more than a day ago goes, what may still be in use stays', async () => {
  const folder = join(await mkdtemp(join(tmpdir(), 'bindery-uploads-')), 'uploads');
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

import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { blobKey } from '#shared/contracts/stored-objects.ts';
import { type ArchiveBudgets, readArchive } from '#shared/export/bundle/read-archive.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { type Clock, dayMs } from '#shared/runtime/time-and-ids.ts';
import { isStoredRecently, type ObjectStore } from '#shared/storage/object-store.ts';

/** `file`: where the bytes are on disk, under a name of ours and never one from the archive. */
export type ReceivedFile = { path: string; sha256: string; sizeBytes: number; file: string };

const projectBudgets: ArchiveBudgets = {
  packedBytes: 500 * 1024 * 1024,
  unpackedBytes: 2 * 1024 * 1024 * 1024,
  entries: 200_000,
  ratio: 1_000,
};

/** Unpacks a docs project into `folder` as it arrives, and hashes it. Throws `ArchiveRefused`; files may be left in the folder then. */
export async function receiveArchive(
  packed: Readable,
  folder: string,
  budgets: ArchiveBudgets = projectBudgets,
): Promise<ReceivedFile[]> {
  const received: ReceivedFile[] = [];
  for await (const { path, body } of readArchive(packed, budgets)) {
    const file = join(folder, String(received.length));
    const hash = createHash('sha256');
    let sizeBytes = 0;
    const measure = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk);
        sizeBytes += chunk.length;
        done(null, chunk);
      },
    });
    await pipeline(body, measure, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
    received.push({ path, sha256: hash.digest('hex'), sizeBytes, file });
  }
  return withoutTopFolder(received);
}

const configFiles = ['docs.json', 'mint.json'];

/** Paths without the one folder that all are in, if the project starts there, as in `tar czf p.tar.gz my-docs`. Pure. */
function withoutTopFolder<F extends { path: string }>(files: readonly F[]): F[] {
  const paths = new Set(files.map(({ path }) => path));
  if (configFiles.some((name) => paths.has(name))) return [...files];
  const top = files[0]?.path.split('/')[0] ?? '';
  const startsThere = configFiles.some((name) => paths.has(`${top}/${name}`));
  if (!startsThere || files.some(({ path }) => !path.startsWith(`${top}/`))) return [...files];
  return files.map((file) => ({ ...file, path: file.path.slice(top.length + 1) }));
}

const filesAtOnce = 16;
/** Larger files are not held in memory. */
const mostHeldBytes = 8 * 1024 * 1024;

/** Stores files under their hashes; a file that was stored recently is not stored again. */
export async function storeFiles(
  objectStore: ObjectStore,
  clock: Clock,
  organization: string,
  files: readonly ReceivedFile[],
  signal: AbortSignal,
): Promise<void> {
  const different = [...new Map(files.map((file) => [file.sha256, file])).values()];
  await inParallel(different, filesAtOnce, async (file) => {
    signal.throwIfAborted();
    await storeFile(objectStore, clock, blobKey(organization, file.sha256), file, signal);
  });
}

async function storeFile(
  objectStore: ObjectStore,
  clock: Clock,
  key: string,
  { file, sizeBytes }: ReceivedFile,
  signal: AbortSignal,
): Promise<void> {
  if (sizeBytes <= mostHeldBytes) {
    const body = await readFile(file);
    if (await objectStore.putIfAbsent(key, body, { signal })) return;
    if (!isStoredRecently(await objectStore.head(key, { signal }), clock)) await objectStore.put(key, body, { signal });
  } else if (!isStoredRecently(await objectStore.head(key, { signal }), clock)) {
    await objectStore.putStream(key, createReadStream(file), { signal });
  }
}

const longestUploadMs = dayMs;

/** Makes the folder for uploads, and removes what killed publishers left in it more than a day before `now`. */
export async function prepareUploadFolder(folder: string, now: Date): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    // Another publisher may do the same; what is gone need not be removed.
    const modifiedMs = await stat(path).then(
      (found) => found.mtimeMs,
      () => now.getTime(),
    );
    if (now.getTime() - modifiedMs > longestUploadMs) await rm(path, { recursive: true, force: true });
  }
}

import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { blobKey } from '#shared/contracts/content-keys.ts';
import type { ObjectStore } from '#shared/object-store/object-store.ts';
import type { ReceivedFile } from './receive-archive.ts';

const concurrency = 16;
/** Larger files are not held in memory. */
const mostHeldBytes = 8 * 1024 * 1024;

/** Stores files under their hash; what is there already stays. */
export async function storeFiles(
  objectStore: ObjectStore,
  organization: string,
  files: readonly ReceivedFile[],
  signal: AbortSignal,
): Promise<void> {
  const waiting = [...new Map(files.map((file) => [file.sha256, file])).values()];
  const worker = async (): Promise<void> => {
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      signal.throwIfAborted();
      await storeFile(objectStore, blobKey(organization, file.sha256), file, signal);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

async function storeFile(
  objectStore: ObjectStore,
  key: string,
  { file, sizeBytes }: ReceivedFile,
  signal: AbortSignal,
): Promise<void> {
  if (sizeBytes <= mostHeldBytes) await objectStore.putIfAbsent(key, await readFile(file), { signal });
  else if ((await objectStore.head(key, { signal })) === undefined) {
    await objectStore.putStream(key, createReadStream(file), { signal });
  }
}

import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Clock } from '#shared/clock/clock.ts';
import { blobKey } from '#shared/contracts/content-keys.ts';
import type { ObjectStore } from '#shared/object-store/object-store.ts';
import { isReusable } from '#shared/object-store/reusable.ts';
import type { ReceivedFile } from './receive-archive.ts';

const concurrency = 16;
/** Larger files are not held in memory. */
const mostHeldBytes = 8 * 1024 * 1024;

/** Stores files under their hash; what was stored lately stays. */
export async function storeFiles(
  objectStore: ObjectStore,
  clock: Clock,
  organization: string,
  files: readonly ReceivedFile[],
  signal: AbortSignal,
): Promise<void> {
  const waiting = [...new Map(files.map((file) => [file.sha256, file])).values()];
  const worker = async (): Promise<void> => {
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      signal.throwIfAborted();
      await storeFile(objectStore, clock, blobKey(organization, file.sha256), file, signal);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
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
    if (!isReusable(await objectStore.head(key, { signal }), clock)) await objectStore.put(key, body, { signal });
  } else if (!isReusable(await objectStore.head(key, { signal }), clock)) {
    await objectStore.putStream(key, createReadStream(file), { signal });
  }
}

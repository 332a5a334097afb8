import { archivedJobHeadSchema, archivePrefix } from '#shared/contracts/archived-job.ts';
import { inParallel } from '#shared/export-objects/in-parallel.ts';
import type { ObjectEntry, ObjectStore } from '#shared/object-store/object-store.ts';
import type { KeptJob, KeptJobs } from './kept-job.ts';

const readsAtOnce = 16;
const batchSize = 1_000;
/** An object is younger than the end of its job, by two clocks that may differ. */
const clockMarginMs = 86_400_000;

/** The kept jobs that the archive has. Of those that were archived since `endedSince` only the head is read. */
export function jobsInArchive(objectStore: Pick<ObjectStore, 'list' | 'head'>): KeptJobs {
  return async function* (organization, endedSince, signal) {
    const archivedSince = endedSince.getTime() - clockMarginMs;
    let batch: string[] = [];
    const entries: AsyncIterable<ObjectEntry> = objectStore.list(`${archivePrefix}${organization}/`, { signal });
    for await (const { key, modifiedAt } of entries) {
      if (modifiedAt.getTime() > 0 && modifiedAt.getTime() < archivedSince) continue;
      batch.push(key);
      if (batch.length < batchSize) continue;
      yield* await keptOf(objectStore, batch, endedSince, signal);
      batch = [];
    }
    yield* await keptOf(objectStore, batch, endedSince, signal);
  };
}

async function keptOf(
  objectStore: Pick<ObjectStore, 'head'>,
  keys: readonly string[],
  endedSince: Date,
  signal: AbortSignal,
): Promise<KeptJob[]> {
  const jobs = await inParallel(keys, readsAtOnce, async (key): Promise<KeptJob[]> => {
    const head = await objectStore.head(key, { signal });
    const archived = archivedJobHeadSchema.safeParse(head?.metadata);
    if (!archived.success) throw new Error(`The object ${key} does not say which job it is the history of.`);
    if (Date.parse(archived.data['ended-at']) < endedSince.getTime()) return [];
    return [
      {
        domain: archived.data.domain,
        contentVersion: archived.data['content-version'],
        planHash: archived.data['plan-hash'],
        selectionKey: archived.data['selection-key'],
      },
    ];
  });
  return jobs.flat();
}

import { archivePrefix } from '#shared/contracts/archived-job.ts';
import type { ExportCommit } from '#shared/contracts/export-commit.ts';
import type { ObjectStore } from '#shared/object-store/object-store.ts';
import { commitsOf, readArchivedJob } from './read-archived-job.ts';

const mostAtOnce = 1_000;

/** The commits of all archived jobs, job by job in no promised order, in batches of whole histories. */
export async function* archivedCommits(objectStore: Pick<ObjectStore, 'list' | 'get'>): AsyncIterable<ExportCommit[]> {
  let batch: ExportCommit[] = [];
  for await (const { key } of objectStore.list(archivePrefix)) {
    const job = await readArchivedJob(objectStore, key);
    if (job === undefined) continue;
    batch.push(...commitsOf(job).map(({ commit }) => commit));
    if (batch.length < mostAtOnce) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

import { type ArchivedJob, archivedJobSchema } from '#shared/contracts/archived-job.ts';
import { storedExportCommit } from '#shared/contracts/stored-messages.ts';
import type { ExportCommit } from '#shared/contracts/export-commit.ts';
import type { StoredCommit } from '#shared/event-log/event-log.ts';
import { parseMessage } from '#shared/event-log/parse-message.ts';
import type { ObjectStore, ReadOptions } from '#shared/object-store/object-store.ts';

/** The archived job under a key; undefined when there is none. Throws when the object is no archived job. */
export async function readArchivedJob(
  objectStore: Pick<ObjectStore, 'get'>,
  key: string,
  options: ReadOptions = {},
): Promise<ArchivedJob | undefined> {
  const stored = await objectStore.get(key, options);
  if (stored === undefined) return undefined;
  try {
    return archivedJobSchema.parse(JSON.parse(Buffer.from(stored).toString()));
  } catch (error) {
    throw new Error(`The object ${key} is no archived job.`, { cause: error });
  }
}

/** The commits of today for those that are stored. Throws `UnknownEvent` and `BadMessage` as reading the log does. */
export function commitsOf({ subject, messages }: ArchivedJob): StoredCommit<ExportCommit>[] {
  return messages.map(({ sequence, text }) => ({
    commit: parseMessage({ subject, seq: sequence, data: Buffer.from(text) }, storedExportCommit),
    sequence,
  }));
}

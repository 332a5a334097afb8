import { z } from 'zod';
import { actorSchema } from '../actor.ts';
import type { ExportCommit } from '../export-commit.ts';
import type { ExportEvent } from '../export-events.ts';
import { jobId, timestamp } from '../identifiers.ts';

/** One event of a job's history as `GET …/events` shows it. */
export const historyEntrySchema = z.object({
  /** Events of one decision share a revision. */
  revision: z.int().min(1),
  type: z.string(),
  version: z.int(),
  time: timestamp,
  actor: actorSchema,
  data: z.record(z.string(), z.json()),
});

export type HistoryEntry = z.infer<typeof historyEntrySchema>;

export const exportHistorySchema = z.object({ jobId, events: z.array(historyEntrySchema) });

/** What only the inside of the system can use: keys of the object store, and the digest that guards idempotency. */
const internalFields = new Set(['requestDigest', 'bundleKey', 'selectionKey']);

/** The entries of one commit. Stream sequences, commit ids and internal fields are left out. Pure. */
export function toHistoryEntries(commit: ExportCommit): HistoryEntry[] {
  return commit.data.events.map((event: ExportEvent) => ({
    revision: commit.revision,
    type: event.type,
    version: event.version,
    time: commit.time,
    actor: commit.actor,
    data: withoutInternalFields(event.data),
  }));
}

function withoutInternalFields(data: object): HistoryEntry['data'] {
  // A parsed event is JSON: going through its text once drops undefined members, too.
  return JSON.parse(JSON.stringify(data, (name, value: unknown) => (internalFields.has(name) ? undefined : value)));
}

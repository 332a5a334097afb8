import type { AuditEntry } from '#shared/contracts/audit-entry.ts';
import type { AccessRecord } from '#shared/contracts/export-facts.ts';
import type { UsageDocument } from '#shared/contracts/read-models.ts';
import type { DocumentStore, ReadModels } from '#shared/messaging/read-models.ts';
import { accessSubject } from '#shared/messaging/subjects/subject-names.ts';
import { firstKeptDay } from '#shared/messaging/subjects/subject-table.ts';
import { auditTrail } from './audit-trail.ts';
import { type ProjectionSource, updateDocument } from './projection.ts';

/**
 * Who was given a link, and at which address. Records have neither revisions nor an order; their ids say which of them are there already.
 * They are kept for a limited time, and so is what is made of them.
 */
export const accessProjection: ProjectionSource<AccessRecord> = {
  name: 'access',
  openReader: (bus, generation) => bus.projectionReaders.access(generation),
  into: ({ auditAccess, usageAccess }) => {
    const trail = auditTrail(auditAccess, usageAccess);
    return {
      prepare: async () => {},
      fold: async (record) => trail.add(record.organization, [accessAuditEntry(record)]),
      finish: () => trail.write(),
    };
  },
  expire: expireAccess,
};

/** Pure. */
export function accessAuditEntry(record: AccessRecord): AuditEntry {
  const { id, time, organization, jobId, domain, actor, address, bundleSha256, expiresAt } = record;
  return {
    id: `${id}.0`,
    time,
    action: 'link.signed',
    actor,
    ...(domain === undefined ? {} : { domain }),
    jobId,
    address,
    sha256: bundleSha256,
    expiresAt,
    commit: { subject: accessSubject(organization, jobId), id },
  };
}

/**
 * Removes what was made of records that the log begins to remove today, whole days at a time: once the first record of a day is gone, a
 * rebuild could not make the day's documents again. The figures go with the entries that they count.
 */
export async function expireAccess(
  { auditAccess, usageAccess }: Pick<ReadModels, 'auditAccess' | 'usageAccess'>,
  now: Date,
): Promise<void> {
  const first = firstKeptDay(now);
  for (const key of await auditAccess.keys()) {
    const [, day = ''] = key.split('.');
    if (day < first) await auditAccess.remove(key);
  }
  for (const key of await usageAccess.keys()) {
    const [, month = ''] = key.split('.');
    if (month < first.slice(0, 7)) await usageAccess.remove(key);
    else if (month === first.slice(0, 7)) await removeDays(usageAccess, key, first.slice(8));
  }
}

async function removeDays(store: DocumentStore<UsageDocument>, key: string, firstDay: string): Promise<void> {
  let isEmpty = false;
  await updateDocument(store, key, (usage) => {
    const days = Object.entries(usage?.days ?? {});
    const kept = days.filter(([day]) => day >= firstDay);
    isEmpty = kept.length === 0;
    return isEmpty || kept.length === days.length ? undefined : { days: Object.fromEntries(kept) };
  });
  if (isEmpty) await store.remove(key);
}

import type { UsageDocument } from '#shared/contracts/read-model-documents.ts';
import type { DocumentStore } from '#shared/read-model/document-store.ts';
import type { ReadModels } from '#shared/read-model/read-models.ts';
import { firstKeptDay } from '#shared/read-model/first-kept-day.ts';

/**
 * Removes what was made of records that begin to be removed today, whole days at a time: the first of a day's records goes 400 days after
 * it, and then the day's documents hold what a rebuild could not find any more. The figures go with the entries that they count.
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
  for (;;) {
    const stored = await store.get(key, { fromLeader: true });
    if (stored === undefined) return;
    const kept = Object.entries(stored.document.days).filter(([day]) => day >= firstDay);
    if (kept.length === Object.keys(stored.document.days).length) return;
    if (kept.length === 0) return await store.remove(key);
    const written = await store.put(key, { days: Object.fromEntries(kept) }, { expectedRevision: stored.revision });
    if (written !== undefined) return;
  }
}

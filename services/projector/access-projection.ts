import type { AccessRecord } from '#shared/contracts/export-facts.ts';
import { dateInKey, type UsageDocument } from '#shared/interfaces/read-models.ts';
import type { DocumentStore, ReadModels } from '#shared/messaging/read-models.ts';
import { accessAuditEntry } from '#shared/messaging/log/access-audit.ts';
import { firstKeptDay } from '#shared/messaging/subjects/subject-table.ts';
import { auditTrail } from './audit-trail.ts';
import { removeDaysBefore } from './day-list.ts';
import { type ProjectionSource, updateDocument } from './projection.ts';

/**
 * Records of signed links with the actor and address of each request. They have no revisions and no order, and are identified by their ids: folding
 * one again changes nothing. Records and their documents are kept for a limited time.
 */
export const accessProjection: ProjectionSource<AccessRecord> = {
  name: 'access',
  shape: 4,
  isUnordered: true,
  openReader: (bus, generation) => bus.projectionReaders.access(generation),
  into: ({ auditAccess, auditAccessDays, usageAccess }, _logs, { auditKey }) => {
    const trail = auditTrail({ days: auditAccessDays, parts: auditAccess }, usageAccess);
    return {
      fold: async (record) => trail.add(record.organization, [accessAuditEntry(record, auditKey)]),
      finish: () => trail.write(),
    };
  },
  expire: async (generations, { now }) => {
    for (const models of generations) await expireAccess(models, now);
  },
};

/**
 * Removes the documents of whole days whose records begin to expire in the log: once the first record of a day has expired, a rebuild could not
 * restore the documents of that day. The figures are removed with the entries that they count.
 */
export async function expireAccess(
  { auditAccess, auditAccessDays, usageAccess }: Pick<ReadModels, 'auditAccess' | 'auditAccessDays' | 'usageAccess'>,
  now: Date,
): Promise<void> {
  const firstDay = firstKeptDay(now);
  await removeDaysBefore({ days: auditAccessDays, parts: auditAccess }, firstDay);
  await removeUsageBefore(usageAccess, firstDay);
}

/** Removes the figures of days before `firstDay` (`yyyy-mm-dd`). */
export async function removeUsageBefore(usage: DocumentStore<UsageDocument>, firstDay: string): Promise<void> {
  for (const key of await usage.keys()) {
    if (dateInKey(key) <= firstDay.slice(0, 7)) await removeDays(usage, key, firstDay);
  }
}

async function removeDays(usage: DocumentStore<UsageDocument>, key: string, firstDay: string): Promise<void> {
  const isKept = (day: string): boolean => `${dateInKey(key)}-${day}` >= firstDay;
  const stored = await usage.get(key, { fromLeader: true });
  if (!Object.keys(stored?.document.days ?? {}).some(isKept)) return void (await usage.remove(key));
  const keptIn = <T>(days: Record<string, T>) =>
    Object.fromEntries(Object.entries(days).filter(([day]) => isKept(day)));
  await updateDocument<UsageDocument>(usage, key, ({ days, parts, outcomes } = { days: {} }) => {
    if (Object.keys(days).every(isKept)) return undefined;
    return {
      days: keptIn(days),
      ...(parts === undefined ? {} : { parts: keptIn(parts) }),
      ...(outcomes === undefined ? {} : { outcomes: keptIn(outcomes) }),
    };
  });
}

import type { AuditEntry } from '#shared/contracts/audit-entry.ts';
import type { AuditDocument, UsageDocument } from '#shared/contracts/read-model-documents.ts';
import { auditKey, usageKey } from '#shared/contracts/read-model-keys.ts';
import { inParallel } from '#shared/export-objects/in-parallel.ts';
import { entriesPerPart, withEntries } from './audit-parts.ts';
import { WrittenMeanwhile } from './buffered-store.ts';
import type { Store } from './projection.ts';
import { usageOfEntries } from './usage-of-entries.ts';

/** Collects the audit entries of a batch, and writes them by day when all are there. */
export type AuditTrail = {
  add(organization: string, entries: readonly AuditEntry[]): void;
  write(): Promise<void>;
};

const daysAtOnce = 32;

/**
 * The audit documents of one log, and what is counted from them. A day's figures are always counted anew from all of its entries, which
 * are known by their ids: nothing counts twice, however often a commit is delivered, and where a crash leaves figures behind their
 * entries, the redelivery puts them right.
 */
export function auditTrail(audit: Store<AuditDocument>, usage?: Store<UsageDocument>): AuditTrail {
  const days = new Map<string, { organization: string; day: string; added: AuditEntry[] }>();
  return {
    add(organization, entries) {
      for (const entry of entries) {
        const day = entry.time.slice(0, 10);
        const key = `${organization} ${day}`;
        const known = days.get(key) ?? { organization, day, added: [] };
        known.added.push(entry);
        days.set(key, known);
      }
    },
    async write() {
      const byMonth = Map.groupBy(days.values(), ({ organization, day }) => usageKey(organization, day.slice(0, 7)));
      // Days of a month share a document, so they take turns.
      await inParallel([...byMonth], daysAtOnce, async ([key, inMonth]) => {
        for (const { organization, day, added } of inMonth) {
          // Read before the entries: who writes entries meanwhile writes this afterwards, and one of both is refused.
          const counted = await usage?.get(key);
          const entries = await writeDay(audit, organization, day, added);
          if (usage === undefined) continue;
          const figures = { ...counted?.document.days, [day.slice(8)]: usageOfEntries(entries) };
          await usage.put(key, { days: figures }, { expectedRevision: counted?.revision ?? 0 });
        }
      });
      days.clear();
    },
  };
}

/** Answers all entries of the day. */
async function writeDay(
  audit: Store<AuditDocument>,
  organization: string,
  day: string,
  added: readonly AuditEntry[],
): Promise<AuditEntry[]> {
  const stored: { entries: AuditEntry[]; revision: number }[] = [];
  let entryCount = added.length;
  for (let isThere = true; isThere || stored.length * entriesPerPart < entryCount; ) {
    // A crash can leave later parts of a new day without the first: parts that are about to be written are read, too.
    const part = await audit.get(auditKey(organization, day, stored.length));
    isThere = part !== undefined;
    stored.push({ entries: part?.document.entries ?? [], revision: part?.revision ?? 0 });
    entryCount += part?.document.entries.length ?? 0;
  }
  const parts = withEntries(
    stored.map(({ entries }) => entries),
    added,
  );
  for (const [index, entries] of parts.entries()) {
    const before = stored[index];
    if (before?.entries === entries) continue;
    const key = auditKey(organization, day, index);
    const written = await audit.put(key, { entries }, { expectedRevision: before?.revision ?? 0 });
    if (written === undefined) throw new WrittenMeanwhile(`The document "${key}" was written by somebody else.`);
  }
  return parts.flat();
}

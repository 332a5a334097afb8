import {
  type AuditAction,
  type AuditEntry,
  type SomeUsageFigures,
  type UsageFigureName,
  usageFigureNames,
} from '#shared/contracts/audit-entry.ts';
import type { Commit, CommitEvent } from '#shared/contracts/commit.ts';
import { type AuditDocument, auditKey, type UsageDocument, usageKey } from '#shared/contracts/read-models.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { entriesPerPart, withEntries } from './audit-parts.ts';
import { WrittenMeanwhile } from './buffered-store.ts';
import type { Store } from './projection.ts';

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

/** What an entry says; the rest comes from the commit. `actor` where it was somebody else than who committed. */
export type Said = Omit<AuditEntry, 'id' | 'time' | 'actor' | 'commit'> & Partial<Pick<AuditEntry, 'actor'>>;

/** The entries of one commit, with ids that depend on it alone. Pure. */
export function entriesOf<E extends CommitEvent>(
  { id, time, actor, subject, revision, data }: Commit<E>,
  say: (event: E) => Said[],
): AuditEntry[] {
  return data.events
    .flatMap(say)
    .map((said, index) => ({ id: `${id}.${index}`, time, actor, ...said, commit: { subject, revision, id } }));
}

const longestText = 200;

/** The beginning of a text that others wrote, so that entries stay small. Pure. */
export function shortened(text: string): string {
  return text.length <= longestText ? text : `${text.slice(0, longestText - 1).toWellFormed()}…`;
}

/** What one entry adds; an action that is not here adds nothing. */
const countedOf: Partial<Record<AuditAction, (entry: AuditEntry) => SomeUsageFigures>> = {
  'export.requested': () => ({ exportsStarted: 1 }),
  'export.replayed': () => ({ exportsStarted: 1, exportsReplayed: 1 }),
  'export.completed': ({ pageCount = 0, sizeBytes = 0 }) => ({
    exportsCompleted: 1,
    pagesExported: pageCount,
    bundleBytes: sizeBytes,
  }),
  'export.failed': () => ({ exportsFailed: 1 }),
  'export.cancelled': () => ({ exportsCancelled: 1 }),
  'content.published': ({ pageCount = 0, sizeBytes = 0 }) => ({
    publications: 1,
    pagesPublished: pageCount,
    publishedBytes: sizeBytes,
  }),
  'link.signed': () => ({ linksSigned: 1 }),
};

/** The figures of a day by what happened on it. Pure: every entry must be there once, the order does not matter. */
export function usageOfEntries(entries: readonly AuditEntry[]): SomeUsageFigures {
  const sums = new Map<UsageFigureName, number>();
  for (const entry of entries) {
    const counted = countedOf[entry.action]?.(entry) ?? {};
    for (const name of usageFigureNames) sums.set(name, (sums.get(name) ?? 0) + (counted[name] ?? 0));
  }
  return Object.fromEntries([...sums].filter(([, sum]) => sum > 0));
}

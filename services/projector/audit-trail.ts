import {
  type AuditAction,
  type AuditEntry,
  auditOrder,
  type SomeUsageFigures,
  type UsageFigureName,
  usageFigureNames,
} from '#shared/contracts/audit-entry.ts';
import type { Commit, CommitEvent } from '#shared/contracts/commit.ts';
import { type AuditDocument, auditKey, type UsageDocument, usageKey } from '#shared/contracts/read-models.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { type Store, WrittenMeanwhile } from './projection.ts';

/** Collects the audit entries of a batch, and writes them by day when all are there. */
export type AuditTrail = {
  add(organization: string, entries: readonly AuditEntry[]): void;
  write(): Promise<void>;
};

const daysAtOnce = 32;

/**
 * The audit documents of one log, and the figures that are counted from them. A day's figures are always counted again from all of its
 * entries, and entries are known by their ids: nothing counts twice, however often a commit is delivered. Where a crash leaves figures
 * behind their entries, the redelivery corrects them.
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
          // Read before the entries: another process that writes entries meanwhile writes this afterwards, and one of both is refused.
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
    if (written === undefined) throw new WrittenMeanwhile(key);
  }
  return parts.flat();
}

/** Entries of one document. Each has at most about 900 bytes, so a document stays under half a megabyte. */
export const entriesPerPart = 500;

/**
 * The parts of a day after some more entries, in any order, new or known: entry n of the day is in part n / `size`, so the parts follow
 * from the set of entries alone. A part that did not change is the same array. Pure.
 */
export function withEntries(
  parts: readonly AuditEntry[][],
  added: readonly AuditEntry[],
  size: number = entriesPerPart,
): AuditEntry[][] {
  const untouched = untouchedCount(parts, added, size);
  const ids = new Set<string>();
  const sorted = [...parts.slice(untouched).flat(), ...added]
    .map((entry) => ({ entry, order: auditOrder(entry) }))
    .sort((a, b) => (a.order < b.order ? -1 : a.order > b.order ? 1 : 0))
    .flatMap(({ entry }) => (ids.has(entry.id) ? [] : (ids.add(entry.id), entry)));
  const cut = parts.slice(0, untouched);
  for (let start = 0; start < sorted.length; start += size) {
    const next = sorted.slice(start, start + size);
    const before = parts[cut.length];
    cut.push(before !== undefined && hasSameIds(before, next) ? before : next);
  }
  return cut;
}

/** How many parts at the beginning are full and come before everything that is added: mostly all but the last. */
function untouchedCount(parts: readonly AuditEntry[][], added: readonly AuditEntry[], size: number): number {
  const first = added.map(auditOrder).reduce((least, order) => (order < least ? order : least), '\uffff');
  let count = 0;
  for (;;) {
    const last = parts[count]?.at(-1);
    const next = parts[count + 1]?.[0];
    if (last === undefined || next === undefined || parts[count]?.length !== size) return count;
    // A crash left an entry in both; from here on it is corrected.
    if (last.id === next.id || auditOrder(next) > first) return count;
    count += 1;
  }
}

const hasSameIds = (one: readonly AuditEntry[], other: readonly AuditEntry[]): boolean =>
  one.length === other.length && one.every(({ id }, index) => id === other[index]?.id);

/**
 * Keys of audit documents in the order of writing: a later part before an earlier one. An entry that moves to the next part is then in
 * both for a moment and never in neither, even when writing stops halfway. Pure.
 */
export function lastPartFirst(keys: readonly string[]): string[][] {
  const byPart = Map.groupBy(keys, (key) => Number(key.slice(key.lastIndexOf('.') + 1)));
  return [...byPart].sort(([a], [b]) => b - a).map(([, round]) => round);
}

/** What an entry says; the rest comes from the commit. `actor`: when it is not the one who committed. */
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

/** The beginning of a text that a client wrote, so that entries stay small. Pure. */
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

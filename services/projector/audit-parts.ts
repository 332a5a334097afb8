import { type AuditEntry, auditOrder } from '#shared/contracts/audit-entry.ts';

/** Entries of one document. Each has at most about 900 bytes, so a document stays under half a megabyte. */
export const entriesPerPart = 500;

/**
 * The parts of a day after some more entries, in any order and whether they are there already or not: entry n of the day is in part
 * n / `size`, so parts follow from the set of entries alone. A part that did not change is the same array. Pure.
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

/** How many parts at the beginning are whole and have only what comes before all that is added: mostly all but the last. */
function untouchedCount(parts: readonly AuditEntry[][], added: readonly AuditEntry[], size: number): number {
  const first = added.map(auditOrder).reduce((least, order) => (order < least ? order : least), '\uffff');
  let count = 0;
  for (;;) {
    const last = parts[count]?.at(-1);
    const next = parts[count + 1]?.[0];
    if (last === undefined || next === undefined || parts[count]?.length !== size) return count;
    // An entry that is in both is what a crash left behind; it is put right from here on.
    if (last.id === next.id || auditOrder(next) > first) return count;
    count += 1;
  }
}

const hasSameIds = (one: readonly AuditEntry[], other: readonly AuditEntry[]): boolean =>
  one.length === other.length && one.every(({ id }, index) => id === other[index]?.id);

/**
 * Keys of audit documents in the order of writing: a later part before an earlier one. An entry that moves to the next part is then in
 * both for a moment, and never in neither, also when writing ends halfway. Pure.
 */
export function lastPartFirst(keys: readonly string[]): string[][] {
  const byPart = Map.groupBy(keys, (key) => Number(key.slice(key.lastIndexOf('.') + 1)));
  return [...byPart].sort(([a], [b]) => b - a).map(([, round]) => round);
}

import type { AuditAction, AuditEntry } from '#shared/contracts/audit-entry.ts';
import { type SomeUsageFigures, type UsageFigureName, usageFigureNames } from '#shared/contracts/usage-figures.ts';

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

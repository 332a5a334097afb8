import {
  type AuditAction,
  type AuditEntry,
  auditOrder,
  type SomeUsageFigures,
  type UsageFigureName,
  usageFigureNames,
} from '#shared/contracts/audit-entry.ts';
import type { Commit, CommitEvent } from '#shared/contracts/commit.ts';
import { type UsageDocument, usageKey } from '#shared/interfaces/read-models.ts';
import { dayList, type DayListKind, type DayListStores } from './day-list.ts';
import type { Store } from './projection.ts';

/** Collects the audit entries of a batch, and writes them by day at its end. */
export type AuditTrail = {
  add(organization: string, entries: readonly AuditEntry[]): void;
  write(): Promise<void>;
};

/** Entries of one document. Each has at most about 1,100 bytes, so a document stays under 600 kilobytes. */
export const entriesPerPart = 500;

/** An entry never changes, so the known one stays. */
export const auditListKind: DayListKind<AuditEntry> = {
  orderOf: auditOrder,
  newer: (known) => known,
  size: entriesPerPart,
};

/**
 * The audit documents of one log, and the figures that are counted from them. The figures of each part are counted from all of its entries, and entries
 * are identified by their ids, so nothing counts twice, however often a commit is delivered. Parts before the first new entry are not read again. If a
 * crash leaves figures behind their entries, the redelivery corrects them, because it counts the same parts.
 */
export function auditTrail(stores: DayListStores<AuditEntry>, usage?: Store<UsageDocument>): AuditTrail {
  const list = dayList(stores, auditListKind);
  return {
    add(organization, entries) {
      for (const entry of entries) list.add(organization, entry);
    },
    async write() {
      if (usage === undefined) return list.write();
      await list.write(async (organization, date) => {
        const [key, day] = [usageKey(organization, date.slice(0, 7)), date.slice(8)];
        // The figures are read before the entries: another process that writes entries meanwhile writes the figures afterwards, and one of both writes is
        // refused.
        const counted = await usage.get(key);
        return async ({ first, parts, earlier }) => {
          const known = counted?.document.parts?.[day] ?? [];
          const before: SomeUsageFigures[] = [];
          for (let part = 0; part < first; part += 1) before.push(known[part] ?? usageOfEntries(await earlier(part)));
          const ofParts = [...before, ...parts.map(usageOfEntries)];
          const days = { ...counted?.document.days, [day]: sumOf(ofParts) };
          const document = { days, parts: keptParts({ ...counted?.document.parts, [day]: ofParts }, days) };
          await usage.put(key, document, { expectedRevision: counted?.revision ?? 0 });
        };
      }, 1);
    },
  };
}

/** Number of days of a month whose figures of parts are kept, however many they have. Two, because the clocks of two writers may be on either side of midnight. */
const growingDays = 2;
/** Most parts of an earlier day whose figures are kept. Those of a longer day are counted again from its entries if one comes late. */
const mostKeptParts = 8;

/**
 * The figures of parts that a month's document keeps. The document is written with each batch, and a day of 100,000 entries has 200 parts, so only the
 * newest days keep them all. The result depends on the set of entries alone. Pure.
 */
function keptParts(
  parts: NonNullable<UsageDocument['parts']>,
  days: UsageDocument['days'],
): NonNullable<UsageDocument['parts']> {
  const growing = new Set(Object.keys(days).toSorted().slice(-growingDays));
  return Object.fromEntries(
    Object.entries(parts).filter(([day, figures]) => growing.has(day) || figures.length <= mostKeptParts),
  );
}

/** The fields of an entry that do not come from the commit. `actor`: set if it differs from the committer. */
export type Said = Omit<AuditEntry, 'id' | 'time' | 'actor' | 'commit'> & Partial<Pick<AuditEntry, 'actor'>>;

/** The entries of one commit, with ids that depend on it alone. Pure. */
export function entriesOf<E extends CommitEvent>(
  { id, time, actor, subject, revision, correlationId, request, data }: Commit<E>,
  say: (event: E) => Said[],
): AuditEntry[] {
  const from =
    request === undefined ? startedBy(correlationId) : { requestId: request.id, addressHash: request.addressHash };
  return data.events
    .flatMap(say)
    .map((said, index) => ({ id: `${id}.${index}`, time, actor, ...said, ...from, commit: { subject, revision, id } }));
}

/** Correlation ids of other kinds are from services that act on their own. */
const startedBy = (correlationId: string) =>
  /^req_[0-9A-Za-z]+$/.test(correlationId) ? { requestId: correlationId } : {};

const longestText = 200;

/** The beginning of a text that a client wrote, so that entries stay small. Pure. */
export function shortened(text: string): string {
  return text.length <= longestText ? text : `${text.slice(0, longestText - 1).toWellFormed()}…`;
}

const nothing = (): SomeUsageFigures => ({});

/** Figures that one entry adds. */
const countedOf: Record<AuditAction, (entry: AuditEntry) => SomeUsageFigures> = {
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
  'content.labelled': nothing,
  'content.unlabelled': nothing,
  'content.promoted': nothing,
  'content.deleted': nothing,
  'content.ended': nothing,
  'site.opened': nothing,
  'site.closed': nothing,
  'deployment.requested': nothing,
  'deployment.live': nothing,
  'deployment.failed': nothing,
  'deployment.rolled-back': nothing,
  'preview.ended': nothing,
  'organization.created': nothing,
  'organization.changed': nothing,
  'domain.added': nothing,
  'key.created': nothing,
  'key.rotated': nothing,
  'key.revoked': nothing,
  'link.signed': () => ({ linksSigned: 1 }),
};

/** The figures of entries. Pure: every entry must be there once, in any order. */
export const usageOfEntries = (entries: readonly AuditEntry[]): SomeUsageFigures =>
  sumOf(entries.map((entry) => countedOf[entry.action](entry)));

function sumOf(figures: readonly SomeUsageFigures[]): SomeUsageFigures {
  const sums = new Map<UsageFigureName, number>();
  for (const counted of figures)
    for (const name of usageFigureNames) sums.set(name, (sums.get(name) ?? 0) + (counted[name] ?? 0));
  return Object.fromEntries([...sums].filter(([, sum]) => sum > 0));
}

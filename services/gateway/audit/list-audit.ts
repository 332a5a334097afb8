import {
  auditActionsOf,
  type AuditEntry,
  auditOrder,
  type AuditSource,
  auditSources,
} from '#shared/contracts/audit-entry.ts';
import { type AuditList, endOf, type ListAuditQuery } from '#shared/contracts/http/audit.ts';
import { type AuditDocument, auditKey, dateInKey } from '#shared/contracts/read-models.ts';
import type { DocumentStore } from '#shared/messaging/read-models.ts';
import { firstKeptDay } from '#shared/messaging/subjects/subject-table.ts';
import { askBus } from '../ask-bus.ts';
import type { GatewayContext } from '../context.ts';
import { readCursor, toCursor, wrongCursor } from '../parse-input.ts';

const defaultLimit = 50;
/** A search for rare entries stops after this many documents. Its answer then has fewer entries and a cursor. */
const mostDocuments = 500;

/** One page of an organization's audit entries, newest first. */
export async function listAudit(
  context: Pick<GatewayContext, 'bus' | 'clock'>,
  organization: string,
  filter: AuditFilter,
  limit: number = defaultLimit,
): Promise<AuditList> {
  const found: AuditEntry[] = [];
  let documentCount = 0;
  for await (const { day, entries, ...read } of auditDays(context, organization, filter)) {
    found.push(...entries);
    documentCount += read.documentCount;
    if (found.length > limit) break;
    if (documentCount >= mostDocuments) return { entries: found, nextCursor: toCursor(beforeDay(day)) };
  }
  const entries = found.slice(0, limit);
  const last = entries.at(-1);
  if (found.length <= limit || last === undefined) return { entries };
  return { entries, nextCursor: toCursor(auditOrder(last)) };
}

/** All entries that match, newest first, one line of JSON each; at most `limit` of them. */
export async function* auditLines(
  context: Pick<GatewayContext, 'bus' | 'clock'>,
  organization: string,
  filter: AuditFilter,
  limit: number = Infinity,
): AsyncGenerator<string> {
  let left = limit;
  for await (const { entries } of auditDays(context, organization, filter)) {
    for (const entry of entries) {
      if (left <= 0) return;
      left -= 1;
      yield `${JSON.stringify(entry)}\n`;
    }
  }
}

/** Comes after every entry of the day before: no subject begins with a tilde. */
const beforeDay = (day: string): string => `${new Date(Date.parse(day) - 1).toISOString()} ~`;

/** The position in a cursor. Throws `invalid_request` for a wrong one. Pure. */
export function parseAuditCursor(cursor: string): string {
  const [order, time = ''] = readCursor(cursor, positionPattern);
  if (Number.isNaN(Date.parse(time))) throw wrongCursor();
  return order;
}

const positionPattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (?:~|[!-~]+ \d{9} [!-~]+)$/;

/** `domain` is a slug. `before` comes from a cursor: only entries whose order is smaller match. */
export type AuditFilter = Pick<ListAuditQuery, 'domain' | 'jobId' | 'actor' | 'action' | 'since' | 'until'> & {
  before: string | undefined;
};

/** The entries of one day that match, newest first. `documentCount` is how many documents were read for them. */
type AuditDay = { day: string; entries: AuditEntry[]; documentCount: number };

/** An organization's audit entries by day, newest first. A day whose documents have no match is empty. */
async function* auditDays(
  { bus, clock }: Pick<GatewayContext, 'bus' | 'clock'>,
  organization: string,
  filter: AuditFilter,
): AsyncGenerator<AuditDay> {
  const { auditExports, auditContent, auditDirectory, auditAccess } = bus.readModels;
  const stores = { exports: auditExports, content: auditContent, directory: auditDirectory, access: auditAccess };
  const range = timesOf(filter);
  const keptSince = { exports: '', content: '', directory: '', access: firstKeptDay(clock.now()) };
  const found = await Promise.all(
    auditSources
      .filter((source) => mayMatch(source, filter))
      .map(async (source) => {
        const keys = await askBus(stores[source].keys(`${organization}.*.*`));
        return keys.map((key) => ({ source, day: dateInKey(key) }));
      }),
  );
  const sourcesByDay = Map.groupBy(
    found.flat().filter(({ source, day }) => {
      return day >= keptSince[source] && day >= range.since.slice(0, 10) && day <= range.until.slice(0, 10);
    }),
    ({ day }) => day,
  );
  for (const [day, ofDay] of [...sourcesByDay].sort(([a], [b]) => (a < b ? 1 : -1))) {
    const sources = new Set(ofDay.map(({ source }) => source));
    const read = await Promise.all([...sources].map((source) => readDay(stores[source], organization, day)));
    const entries = read.flat().filter((entry) => matches(entry, filter, range));
    yield { day, entries: sorted(entries), documentCount: ofDay.length };
  }
}

/** Reads earlier parts first: an entry that moves to the next part meanwhile is then seen twice, but never missed. */
async function readDay(store: DocumentStore<AuditDocument>, organization: string, day: string): Promise<AuditEntry[]> {
  const entries = new Map<string, AuditEntry>();
  for (let part = 0; ; part += 1) {
    const stored = await askBus(store.get(auditKey(organization, day, part)));
    if (stored === undefined) return [...entries.values()];
    for (const entry of stored.document.entries) entries.set(entry.id, entry);
  }
}

/** Whether a log can have entries that match. The others need not be read. */
function mayMatch(source: AuditSource, { action, jobId }: AuditFilter): boolean {
  if (jobId !== undefined && source !== 'exports' && source !== 'access') return false;
  return action === undefined || auditActionsOf[source].some((one) => isOf(one, action));
}

const isOf = (action: string, wanted: string): boolean => action === wanted || action.startsWith(`${wanted}.`);

type Times = { since: string; until: string };

const timeLength = '2026-03-01T10:00:00.000Z'.length;

/** Times in the form of entries, so that they compare as texts. */
function timesOf({ since, until, before }: AuditFilter): Times {
  const last = until === undefined ? '9' : new Date(endOf(until)).toISOString();
  return {
    since: since === undefined ? '' : new Date(since).toISOString(),
    until: before === undefined || last < before ? last : before.slice(0, timeLength),
  };
}

function matches(entry: AuditEntry, filter: AuditFilter, { since, until }: Times): boolean {
  return (
    entry.time >= since &&
    entry.time <= until &&
    (filter.before === undefined || auditOrder(entry) < filter.before) &&
    (filter.domain === undefined || entry.domain === filter.domain) &&
    (filter.jobId === undefined || entry.jobId === filter.jobId) &&
    (filter.actor === undefined || entry.actor.id === filter.actor) &&
    (filter.action === undefined || isOf(entry.action, filter.action))
  );
}

function sorted(entries: readonly AuditEntry[]): AuditEntry[] {
  return entries
    .map((entry) => ({ entry, order: auditOrder(entry) }))
    .sort((a, b) => (a.order < b.order ? 1 : -1))
    .map(({ entry }) => entry);
}

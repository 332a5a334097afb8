import {
  auditActionsOf,
  type AuditEntry,
  auditOrder,
  type AuditSource,
  auditSources,
} from '#shared/contracts/audit-entry.ts';
import { type AuditList, endOf, type ListAuditQuery } from '#shared/interfaces/http/audit.ts';
import { firstKeptDay } from '#shared/messaging/subjects/subject-table.ts';
import { addressHashOf } from './request-behind.ts';
import type { GatewayContext } from '../context.ts';
import { readCursor, toCursor, wrongCursor } from '../parse-input.ts';
import { type DayList, partsNewestFirst, readCost } from '../read-day-list.ts';

type AuditContext = Pick<GatewayContext, 'bus' | 'clock'> & { config: { hashKey: string } };

const defaultLimit = 50;
/** Limit of entries that a request reads, even if few match. Reading them takes most of a tenth of a second. */
const mostAudited = 15_000;

/** One page of an organization's audit entries, newest first. If few entries match, the page may have fewer than requested, with a cursor to continue. */
export async function listAudit(
  context: AuditContext,
  organization: string,
  filter: AuditFilter,
  limit: number = defaultLimit,
): Promise<AuditList> {
  const found: AuditEntry[] = [];
  let readSoFar = 0;
  for await (const { entries, position, cost } of auditEntries(context, organization, filter)) {
    found.push(...entries);
    readSoFar += cost;
    if (found.length > limit) break;
    if (readSoFar >= mostAudited && position !== '') return { entries: found, nextCursor: toCursor(position) };
  }
  const entries = found.slice(0, limit);
  const last = entries.at(-1);
  if (found.length <= limit || last === undefined) return { entries };
  return { entries, nextCursor: toCursor(auditOrder(last)) };
}

/** All entries that match, newest first, one line of JSON each; at most `limit` of them. */
export async function* auditLines(
  context: AuditContext,
  organization: string,
  filter: AuditFilter,
  limit: number = Infinity,
): AsyncGenerator<string> {
  let left = limit;
  for await (const { entries } of auditEntries(context, organization, filter)) {
    for (const entry of entries) {
      if (left <= 0) return;
      left -= 1;
      yield `${JSON.stringify(entry)}\n`;
    }
  }
}

/** The position in a cursor. Throws `invalid_request` for a wrong one. Pure. */
export function parseAuditCursor(cursor: string): string {
  const [order, time = ''] = readCursor(cursor, positionPattern);
  if (Number.isNaN(Date.parse(time))) throw wrongCursor();
  return order;
}

const positionPattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (?:~|[!-~]+ \d{9} [!-~]+)$/;

/** `domain` is a slug. `before` comes from a cursor: only entries with a smaller order match. */
export type AuditFilter = Omit<ListAuditQuery, 'address' | 'cursor' | 'limit'> & {
  addressHash: string | undefined;
  before: string | undefined;
};

/** Entries that match, newest first. `position`: the last entry that was examined; `cost`: the cost of reading them. */
type AuditRun = { entries: AuditEntry[]; position: string; cost: number };

/**
 * An organization's audit entries, newest first, in runs. A run has the entries of the parts read so far that come before all unread parts. A run
 * without a match is empty.
 */
async function* auditEntries(
  { bus, clock, config }: AuditContext,
  organization: string,
  filter: AuditFilter,
): AsyncGenerator<AuditRun> {
  const range = timesOf(filter);
  const keptSince = { exports: '', content: '', sites: '', directory: '', access: firstKeptDay(clock.now()) };
  const having = textsOf(filter);
  const logs = auditSources
    .filter((source) => mayMatch(source, filter))
    .map((source) => ({
      parts: partsNewestFirst(auditListOf(bus.readModels, source), organization, {
        firstDay: [keptSince[source], range.since.slice(0, 10)].sort().at(-1) ?? '',
        lastDay: range.until.slice(0, 10),
        before: filter.before,
        having,
      }),
      left: [] as AuditEntry[],
      /** All entries above this order have been read. */
      readTo: '~',
    }));
  for (let position = '~'; ; ) {
    let cost = 0;
    await Promise.all(
      logs.map(async (log) => {
        // A log that has been read to an order below the position can wait.
        const isWaiting = ([newest] = log.left) =>
          log.readTo < position || (newest !== undefined && auditOrder(newest) >= position);
        while (log.readTo !== '' && !isWaiting()) {
          const next = await log.parts.next();
          if (next.done === true) {
            log.readTo = '';
            return;
          }
          const { entries, searched } = next.value;
          const last = entries.at(-1);
          log.left.push(...entries);
          cost += searched === undefined ? readCost(entries) : searchCost(searched.bytes);
          if (searched !== undefined) log.readTo = `${searched.oldest} ~`;
          else if (last !== undefined) log.readTo = auditOrder(last);
          if (searched !== undefined || entries.length > 0) return;
        }
      }),
    );
    // The log whose part ends first may have the next entry in an unread part.
    position = logs.reduce((latest, { readTo }) => (readTo < latest ? latest : readTo), '');
    const isWhole = position === '' && logs.every(({ left }) => left.length === 0);
    if (isWhole) return;
    const run = logs.flatMap((log) => {
      const ready = log.left.filter((entry) => auditOrder(entry) >= position);
      log.left = log.left.slice(ready.length);
      return ready;
    });
    const hashed = (entry: AuditEntry) => withAddressHash(entry, config.hashKey, organization);
    // A hash takes longer than all other comparisons, so it is made of the entries that match these.
    const found = run.filter((entry) => matches(entry, filter, range)).map(hashed);
    yield { entries: sorted(found.filter((entry) => matchesAddress(entry, filter))), position, cost };
  }
}

/** Cost of a part whose text was searched, as that of reading its entries: most of it is the transport from the bus. */
const searchCost = (bytes: number): number => Math.max(50, Math.round(bytes / bytesOfEntry));
const bytesOfEntry = 550;

/** Texts that the JSON of each match has, the rarest first; undefined if there are none. Pure. */
function textsOf({ action, actor, domain, jobId, requestId }: AuditFilter): string[] | undefined {
  const field = (name: string, value: string | undefined): string[] =>
    value === undefined ? [] : [`"${name}":${JSON.stringify(value)}`];
  const isWhole = action?.includes('.') === true;
  const texts = [
    ...[...field('requestId', requestId), ...field('jobId', jobId), ...field('id', actor)],
    ...(action === undefined || isWhole ? field('action', action) : [`"action":"${action}.`]),
    ...field('domain', domain),
  ];
  return texts.length === 0 ? undefined : texts;
}

/** Link records contain the address itself while it is kept. All other entries are found by its hash. */
function withAddressHash(entry: AuditEntry, hashKey: string, organization: string): AuditEntry {
  const { address, addressHash } = entry;
  if (address === undefined || addressHash !== undefined) return entry;
  return { ...entry, addressHash: addressHashOf(hashKey, organization, address) };
}

function auditListOf(models: GatewayContext['bus']['readModels'], source: AuditSource): DayList<AuditEntry> {
  const { auditExports, auditContent, auditSites, auditDirectory, auditAccess } = models;
  const { auditExportsDays, auditContentDays, auditSitesDays, auditDirectoryDays, auditAccessDays } = models;
  const lists = {
    exports: { days: auditExportsDays, parts: auditExports },
    content: { days: auditContentDays, parts: auditContent },
    sites: { days: auditSitesDays, parts: auditSites },
    directory: { days: auditDirectoryDays, parts: auditDirectory },
    access: { days: auditAccessDays, parts: auditAccess },
  };
  return { ...lists[source], orderOf: auditOrder };
}

/** False for a log that cannot have matching entries and need not be read. */
function mayMatch(source: AuditSource, { action, jobId }: AuditFilter): boolean {
  if (jobId !== undefined && source !== 'exports' && source !== 'access' && source !== 'sites') return false;
  return action === undefined || auditActionsOf[source].some((one) => isOf(one, action));
}

const isOf = (action: string, wanted: string): boolean => action === wanted || action.startsWith(`${wanted}.`);

type Times = { since: string; until: string };

const timeLength = '2026-03-01T10:00:00.000Z'.length;

/** The times of a filter in the form of entries, so that they compare as text. */
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
    (filter.requestId === undefined || entry.requestId === filter.requestId) &&
    (filter.actor === undefined || entry.actor.id === filter.actor) &&
    (filter.action === undefined || isOf(entry.action, filter.action))
  );
}

const matchesAddress = ({ addressHash }: AuditEntry, filter: AuditFilter): boolean =>
  filter.addressHash === undefined || addressHash === filter.addressHash;

/** Entries newest first, without the anchors, which callers do not see. */
function sorted(entries: readonly AuditEntry[]): AuditEntry[] {
  return entries
    .map((entry) => ({ entry, order: auditOrder(entry) }))
    .sort((a, b) => (a.order < b.order ? 1 : -1))
    .map(({ entry: { anchor: _, ...shown } }) => shown);
}

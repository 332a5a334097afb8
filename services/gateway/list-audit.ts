import { type AuditEntry, auditOrder } from '#shared/contracts/audit-entry.ts';
import type { AuditList } from '#shared/contracts/http/list-audit.ts';
import { ApiError } from '#shared/errors/api-error.ts';
import { type AuditFilter, auditDays } from './audit-days.ts';
import type { GatewayContext } from './context.ts';

const defaultLimit = 50;
/** A search for what is rare reads no more than this before it answers what it has, and how to go on. */
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

/** All that matches, newest first, one line of JSON each; at most `limit` where it is given. */
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

const toCursor = (order: string): string => Buffer.from(order).toString('base64url');

/** What a cursor says. Throws `invalid_request` for one that is none. Pure. */
export function parseCursor(cursor: string): string {
  const order = Buffer.from(cursor, 'base64url').toString('utf8');
  const time = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (?:~|[!-~]+ \d{9} [!-~]+)$/.exec(order)?.[1];
  if (time !== undefined && !Number.isNaN(Date.parse(time))) return order;
  throw new ApiError('invalid_request', 'The parameter "cursor" must be the "nextCursor" of an earlier answer.', {
    fields: [{ path: 'cursor', message: 'must be the "nextCursor" of an earlier answer' }],
  });
}

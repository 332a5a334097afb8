import { z } from 'zod';
import { addressRange } from '#shared/http/address-ranges.ts';
import { dayMs } from '#shared/runtime/time-and-ids.ts';
import {
  auditActions,
  auditEntrySchema,
  someUsageFiguresSchema,
  usageFigureNames,
} from '#shared/contracts/audit-entry.ts';
import { domainName, jobId, organizationId, organizationPlans } from '#shared/contracts/identifiers.ts';

/** Values of `action` other than an action: all actions of an area. */
export const auditAreas = ['export', 'link', 'content', 'organization', 'domain', 'key'] as const;

const time = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);

const isAddress = (text: string): boolean => !text.includes('/') && addressRange(text) !== undefined;

/** Query of `GET /v1/audit`. */
export const listAuditQuerySchema = z
  .strictObject({
    domain: domainName.optional(),
    jobId: jobId.optional(),
    /** The id of a key, of a service or of the operator. */
    actor: z.string().min(1).max(100).optional(),
    /** One action (`key.created`), or all of an area (`key`). */
    action: z.enum([...auditAreas, ...auditActions]).optional(),
    /** Only entries caused from this address. */
    address: z.string().refine(isAddress, 'must be an IP address such as 192.0.2.7').optional(),
    /** Only entries caused by this request: the "requestId" of an answer. */
    requestId: z.string().min(1).max(100).optional(),
    /** Only entries of this time or later, given as a date or a time with offset. */
    since: time.optional(),
    /** Only entries of this time or earlier. A date includes the whole day. */
    until: time.optional(),
    cursor: z.string().max(600).optional(),
    /** By default 50 for a JSON answer, all entries for NDJSON. */
    limit: z.coerce.number().int().min(1).max(500).optional(),
  })
  .refine(({ since, until }) => since === undefined || until === undefined || Date.parse(since) <= endOf(until), {
    path: ['until'],
    message: 'must not be before "since"',
  });

export type ListAuditQuery = z.infer<typeof listAuditQuerySchema>;

/** The last millisecond that `until` includes. Pure. */
export function endOf(until: string): number {
  const time = Date.parse(until);
  return /^\d{4}-\d\d-\d\d$/.test(until) ? time + dayMs - 1 : time;
}

/** An audit entry as callers receive it. */
export const shownAuditEntrySchema = auditEntrySchema.omit({ anchor: true }).meta({ title: 'AuditEntry' });

/** Newest first. `nextCursor` is absent on the last page. A page may be shorter than the limit although further pages follow. */
export const auditListSchema = z
  .object({
    entries: z.array(shownAuditEntrySchema),
    nextCursor: z.string().optional(),
  })
  .meta({ title: 'AuditList' });

export type AuditList = z.infer<typeof auditListSchema>;

const month = z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'must be a month such as 2026-03');

/** Limit of months in one query. */
const mostMonths = 24;

/** Query of `GET /v1/usage`: one month, or the first and the last of several (`2026-01..2026-03`); this month by default. */
export const usageQuerySchema = z
  .strictObject({
    month: month.optional(),
    months: z
      .string()
      .regex(/^\d{4}-(0[1-9]|1[0-2])\.\.\d{4}-(0[1-9]|1[0-2])$/, {
        error: 'must be two months such as 2026-01..2026-03',
        abort: true,
      })
      .refine((range) => monthsOf(range).length > 0, 'must begin with the earlier month')
      .refine((range) => monthsOf(range).length <= mostMonths, `must be at most ${mostMonths} months`)
      .optional(),
  })
  .refine((query) => query.month === undefined || query.months === undefined, {
    path: ['months'],
    message: 'cannot be used with "month"',
  });

/** The months of `2026-01..2026-03`, oldest first; one more than the limit when there are too many. Pure. */
export function monthsOf(range: string): string[] {
  const [first = '', last = ''] = range.split('..');
  const months: string[] = [];
  for (let at = first; at <= last && months.length <= mostMonths; at = monthAfter(at)) months.push(at);
  return months;
}

function monthAfter(text: string): string {
  const [year = 0, number = 0] = text.split('-').map(Number);
  return number === 12
    ? `${String(year + 1).padStart(4, '0')}-01`
    : `${text.slice(0, 5)}${String(number + 1).padStart(2, '0')}`;
}

const usageMonthSchema = z.object({
  month,
  /**
   * Figures of the whole month so far, including zeros. `linksSigned`, and `questions` and `tokens`, are missing for months that began
   * before their retention: see `firstKeptDay`.
   */
  total: z.partialRecord(z.enum(usageFigureNames), z.int().min(0)),
  /** Days with activity, oldest first, with the figures that are not 0. */
  days: z.array(z.object({ day: z.iso.date(), figures: someUsageFiguresSchema })),
});

export type UsageMonth = z.infer<typeof usageMonthSchema>;

/** Answer of `GET /v1/usage`, oldest month first. */
export const usageSchema = z
  .object({ organization: organizationId, months: z.array(usageMonthSchema) })
  .meta({ title: 'Usage' });

export type Usage = z.infer<typeof usageSchema>;

/** Answer of `GET /v1/limits`: the limits that an organization's requests share, by name. A window begins with its first request. */
export const limitListSchema = z
  .object({
    plan: z.enum(organizationPlans),
    activeExports: z.int().min(0),
    limits: z.array(
      z.object({
        name: z.string(),
        requests: z.int().min(0),
        windowSeconds: z.int().min(1),
        remaining: z.int().min(0),
      }),
    ),
  })
  .meta({ title: 'LimitList' });

import { z } from 'zod';
import { auditActions, auditEntrySchema } from '../audit-entry.ts';
import { jobId } from '../identifiers.ts';
import { domainName } from './domain-name.ts';

/** What `action` can be besides an action: all of an area. */
export const auditAreas = ['export', 'link', 'content', 'organization', 'domain', 'key'] as const;

const time = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);

/** Query of `GET /v1/audit`. */
export const listAuditQuerySchema = z
  .object({
    domain: domainName.optional(),
    jobId: z
      .string()
      .refine((id) => jobId.safeParse(id).success, 'must be the id of an export job: se_ and 22 letters and digits')
      .optional(),
    /** The id of a key, a service or the operator. */
    actor: z.string().min(1).max(100).optional(),
    /** One action (`key.created`), or all of an area (`key`). */
    action: z.enum([...auditAreas, ...auditActions]).optional(),
    /** Only what happened at this time or later; a date or a time with offset. */
    since: time.optional(),
    /** Only what happened at this time or earlier; a date is meant to its end. */
    until: time.optional(),
    cursor: z.string().max(600).optional(),
    /** Of a JSON answer 50 where nothing is said; as lines all that there are. */
    limit: z.coerce.number().int().min(1).max(500).optional(),
  })
  .refine(({ since, until }) => since === undefined || until === undefined || Date.parse(since) <= endOf(until), {
    path: ['until'],
    message: 'must not be before "since"',
  });

export type ListAuditQuery = z.infer<typeof listAuditQuerySchema>;

const dayMs = 86_400_000;

/** The last millisecond that `until` means. Pure. */
export function endOf(until: string): number {
  const time = Date.parse(until);
  return /^\d{4}-\d\d-\d\d$/.test(until) ? time + dayMs - 1 : time;
}

/** Newest first; `nextCursor` is absent on the last page. A page may be shorter than asked for although there is another one. */
export const auditListSchema = z.object({ entries: z.array(auditEntrySchema), nextCursor: z.string().optional() });

export type AuditList = z.infer<typeof auditListSchema>;

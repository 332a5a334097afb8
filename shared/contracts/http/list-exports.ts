import { z } from 'zod';
import { domainName } from './domain-name.ts';
import { exportJobSchema, exportJobStatuses } from './export-job.ts';

/** Query of `GET /v1/static-export/jobs`. */
export const listExportsQuerySchema = z.object({
  domain: domainName.optional(),
  status: z.enum(exportJobStatuses).optional(),
  /** Only jobs created at this time or later; a date or a time with offset. */
  since: z.union([z.iso.datetime({ offset: true }), z.iso.date()]).optional(),
  cursor: z.string().max(200).optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
});

export type ListExportsQuery = z.infer<typeof listExportsQuerySchema>;

/** Newest first; `nextCursor` is absent on the last page. */
export const exportListSchema = z.object({ jobs: z.array(exportJobSchema), nextCursor: z.string().optional() });

export type ExportList = z.infer<typeof exportListSchema>;

import { z } from 'zod';
import { auditEntrySchema } from './audit-entry.ts';
import { apiKeySchema, directoryStateSchema, domainEntrySchema } from './directory-events.ts';
import { contentStateSchema } from './content-events.ts';
import { exportJobStateSchema } from './export-job-state.ts';
import { organizationId, timestamp } from './identifiers.ts';
import { organizationPlans } from './organization-plan.ts';
import { someUsageFiguresSchema } from './usage-figures.ts';

/** Every document says which commit it reflects: the aggregate's own revision and the commit's id. */
const reflects = { revision: z.int().min(1), commitId: z.string(), updatedAt: timestamp };

/** Bucket `job-status`, key `<org>.<job>`. */
export const jobStatusDocumentSchema = z.object({ ...reflects, state: exportJobStateSchema });
export type JobStatusDocument = z.infer<typeof jobStatusDocumentSchema>;

/** Bucket `job-list`, key `<org>.<yyyy-mm-dd>`: the jobs created that day, newest last. */
export const jobListDocumentSchema = z.object({
  jobs: z.array(
    z.object({ jobId: z.string(), domain: z.string(), createdAt: timestamp, revision: z.int(), status: z.string() }),
  ),
});
export type JobListDocument = z.infer<typeof jobListDocumentSchema>;

/** Bucket `directory`, key `org.<org>`. */
export const organizationDocumentSchema = z.object({ ...reflects, state: directoryStateSchema });
export type OrganizationDocument = z.infer<typeof organizationDocumentSchema>;

/** Bucket `directory`, key `key.<sha256>`: all that a gateway needs to let a request in. */
export const keyDocumentSchema = z.object({
  ...reflects,
  organization: organizationId,
  organizationPlan: z.enum(organizationPlans),
  domains: z.array(domainEntrySchema),
  key: apiKeySchema,
});
export type KeyDocument = z.infer<typeof keyDocumentSchema>;

/** Bucket `directory`, key `content.<org>.<domain>`. */
export const contentDocumentSchema = z.object({ ...reflects, state: contentStateSchema });
export type ContentDocument = z.infer<typeof contentDocumentSchema>;

/** Bucket `active-jobs`, key `<org>.<job>`: written before the first dispatch, removed after the last commit. */
export const activeJobDocumentSchema = z.object({
  organization: organizationId,
  jobId: z.string(),
  createdAt: timestamp,
});
export type ActiveJobDocument = z.infer<typeof activeJobDocumentSchema>;

/**
 * Bucket `audit`, key `<source>.<org>.<yyyy-mm-dd>.<part>`: what one log says of one day, oldest first by `auditOrder`, and every entry
 * once. The first part has the first entries of the day, the next part the following: which entry is where follows from the entries alone.
 */
export const auditDocumentSchema = z.object({ entries: z.array(auditEntrySchema) });
export type AuditDocument = z.infer<typeof auditDocumentSchema>;

/** Bucket `usage`, key `<source>.<org>.<yyyy-mm>`: figures by day of the month (`01`…), each counted from that day's audit entries. */
export const usageDocumentSchema = z.object({
  days: z.record(z.string().regex(/^\d\d$/), someUsageFiguresSchema),
});
export type UsageDocument = z.infer<typeof usageDocumentSchema>;

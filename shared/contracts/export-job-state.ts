import { z } from 'zod';
import { exportOptionsSchema } from './export-options.ts';
import { failedPageSchema } from './failed-page.ts';
import {
  contentVersion,
  domainSlug,
  jobId,
  organizationId,
  rendererVersion,
  sha256Hex,
  timestamp,
} from './identifiers.ts';
import { organizationPlans } from './organization-plan.ts';

/**
 * The folded state of an export job, carried by each commit of its log. Under 4 KB whatever the size of the site:
 * bitmaps and counters, at most 50 failed pages, never lists.
 */
export const exportJobStateSchema = z.object({
  jobId,
  organization: organizationId,
  organizationPlan: z.enum(organizationPlans),
  domain: domainSlug,
  contentVersion,
  label: z.string().optional(),
  options: exportOptionsSchema,
  requestDigest: sha256Hex,
  replayOf: jobId.optional(),
  requestedBy: z.string(),
  /** requested → rendering → closing → joining → completed; failed and cancelled from any of the first four. */
  phase: z.enum(['requested', 'rendering', 'closing', 'joining', 'completed', 'failed', 'cancelled']),
  createdAt: timestamp,
  completedAt: timestamp.optional(),
  planHash: sha256Hex.optional(),
  rendererVersion: rendererVersion.optional(),
  chunkCount: z.int().min(0),
  pageTotal: z.int().min(0),
  pageCount: z.int().min(0),
  /** One bit per chunk, least significant first, base64: a segment is there. */
  doneChunks: z.string(),
  /** Same shape: ended without a segment, because pages of it cannot be rendered. */
  failedChunks: z.string(),
  /**
   * Attempts that failed as a whole, took a renderer down or got lost, by chunk, and under `closing` and `bundle`; only for work that is
   * not done yet and has any.
   */
  timedOutAttempts: z.record(z.string(), z.int()),
  /** How often a segment that was there got lost. Part of later task ids, so that the same attempt is a new task. */
  lostSegments: z.int().min(1).optional(),
  failedPages: z.array(failedPageSchema).max(50),
  failedPageCount: z.int().min(0),
  /** Never goes down, also when a segment is lost. */
  progress: z.number().min(0).max(100),
  manifestSha256: sha256Hex.optional(),
  bundle: z.object({ key: z.string(), sizeBytes: z.int(), sha256: sha256Hex }).optional(),
  digestMatch: z.enum(['same', 'different', 'renderer-changed']).optional(),
  error: z.string().optional(),
});

export type ExportJobState = z.infer<typeof exportJobStateSchema>;

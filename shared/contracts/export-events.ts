import { z } from 'zod';
import { exportOptionsSchema } from './export-options.ts';
import { failedPageSchema } from './failed-page.ts';
import {
  contentLabel,
  contentVersion,
  domainSlug,
  jobId,
  organizationId,
  rendererVersion,
  sha256Hex,
} from './identifiers.ts';
import { organizationPlans } from './organization-plan.ts';

/** What can happen to an export job, in the words of its log. Every one has version 1; golden files in `golden/` keep them readable. */
const event = <T extends string, D extends z.ZodType>(type: T, data: D) =>
  z.object({ type: z.literal(type), version: z.literal(1), data });

export const exportRequested = event(
  'ExportRequested',
  z.object({
    jobId,
    organization: organizationId,
    organizationPlan: z.enum(organizationPlans),
    domain: domainSlug,
    contentVersion,
    /** The request's `version`: a tag, and the label whose content was chosen if there is one. */
    label: contentLabel.optional(),
    options: exportOptionsSchema,
    /** SHA-256 of the canonical request, to tell a repeated request from another one under the same idempotency key. */
    requestDigest: sha256Hex,
    replayOf: jobId.optional(),
  }),
);

export const pagesPlanned = event(
  'PagesPlanned',
  z.object({ planHash: sha256Hex, rendererVersion, chunkCount: z.int().min(1), pageTotal: z.int().min(0) }),
);

export const chunkRendered = event(
  'ChunkRendered',
  z.object({
    chunk: z.int().min(0),
    pageCount: z.int().min(0),
    attempt: z.int().min(1),
    renderer: z.string(),
    /** The segment was there already: nothing was rendered. */
    reused: z.boolean(),
    durationMs: z.number().min(0),
  }),
);

export const chunkFailed = event(
  'ChunkFailed',
  z.object({
    chunk: z.int().min(0),
    attempt: z.int().min(1),
    renderer: z.string(),
    /** `pages`: these pages cannot be rendered, final. `renderer`: the attempt failed as a whole and may be repeated. */
    cause: z.enum(['pages', 'renderer']),
    reason: z.string().max(500),
    failedPages: z.array(failedPageSchema).max(64),
  }),
);

/** The chunk took its renderer down or was lost: no presence named it and no fact came. */
export const chunkTimedOut = event('ChunkTimedOut', z.object({ chunk: z.int().min(0), attempt: z.int().min(1) }));

/**
 * A segment that was there is gone or damaged: its chunk is rendered again. `chunk` −1 is the closing segment; `pageCount` is what the
 * count of exported pages goes down by.
 */
export const segmentLost = event(
  'SegmentLost',
  z.object({ chunk: z.int().min(-1), reason: z.string().max(500), pageCount: z.int().min(0).optional() }),
);

export const renderingFinished = event('RenderingFinished', z.object({ pageCount: z.int().min(0) }));

export const closingRendered = event(
  'ClosingRendered',
  z.object({ attempt: z.int().min(1), renderer: z.string(), reused: z.boolean(), manifestSha256: sha256Hex }),
);

/** An attempt at the closing segment failed or was lost; it may be repeated. */
export const closingFailed = event('ClosingFailed', z.object({ attempt: z.int().min(1), reason: z.string().max(500) }));

/** An attempt at joining the bundle failed or was lost; it may be repeated. */
export const bundleFailed = event('BundleFailed', z.object({ attempt: z.int().min(1), reason: z.string().max(500) }));

export const exportCompleted = event(
  'ExportCompleted',
  z.object({
    bundleKey: z.string(),
    sizeBytes: z.int().min(0),
    sha256: sha256Hex,
    manifestSha256: sha256Hex,
    digestMatch: z.enum(['same', 'different', 'renderer-changed']).optional(),
  }),
);

export const exportFailed = event('ExportFailed', z.object({ error: z.string(), failedPageCount: z.int().min(0) }));

export const exportCancelled = event('ExportCancelled', z.object({ cancelledBy: z.string() }));

export const exportEventSchema = z.discriminatedUnion('type', [
  exportRequested,
  pagesPlanned,
  chunkRendered,
  chunkFailed,
  chunkTimedOut,
  segmentLost,
  renderingFinished,
  closingRendered,
  closingFailed,
  bundleFailed,
  exportCompleted,
  exportFailed,
  exportCancelled,
]);

export type ExportEvent = z.infer<typeof exportEventSchema>;
export type ExportEventOf<T extends ExportEvent['type']> = Extract<ExportEvent, { type: T }>;

import { z } from 'zod';
import { deploymentTypes } from './export-options.ts';
import { contentVersion, domainSlug, organizationId, rendererVersion } from './identifiers.ts';

/** `key` names the segment: `segments/<org>/<key>`, its sidecar beside it with `.json`. */
const key = z.string().regex(/^[0-9a-f]{64}$/);

export const planChunkSchema = z.discriminatedUnion('kind', [
  /** Theme, shared navigation, settings, redirects: made from the site model alone. Always chunk 0. */
  z.object({ kind: z.literal('site'), key }),
  /** Files of the project as they are; paths in the project. */
  z.object({ kind: z.literal('assets'), key, paths: z.array(z.string()) }),
  /** Page paths (`guides/x`), in bundle order. */
  z.object({ kind: z.literal('pages'), key, paths: z.array(z.string()) }),
]);

/**
 * What one export consists of, in bundle order; stored once under `plans/<org>/<SHA-256 of its canonical JSON>.json`. It holds no clock,
 * no job id and nothing random, so the same content, options and renderer version always make the same plan, and so the same bundle.
 */
export const exportPlanSchema = z.object({
  version: z.literal(1),
  organization: organizationId,
  domain: domainSlug,
  contentVersion,
  /** Shown in the manifest only. */
  label: z.string().optional(),
  rendererVersion,
  deployment: z.enum(deploymentTypes),
  onPageError: z.enum(['fail', 'report']),
  allowTenantScripts: z.boolean(),
  groups: z.array(z.string()),
  pageTotal: z.int().min(0),
  chunks: z.array(planChunkSchema).min(1),
  closingKey: key,
});

export type ExportPlan = z.infer<typeof exportPlanSchema>;
export type PlanChunk = z.infer<typeof planChunkSchema>;

/** Where things of an export are in the object store. */
export const planKey = (organization: string, planHash: string): string => `plans/${organization}/${planHash}.json`;
export const segmentKey = (organization: string, key: string): string => `segments/${organization}/${key}`;
export const sidecarKey = (organization: string, key: string): string => `segments/${organization}/${key}.json`;
export const bundleKey = (organization: string, domain: string, planHash: string): string =>
  `bundles/${organization}/${domain}/${planHash}.tar.gz`;

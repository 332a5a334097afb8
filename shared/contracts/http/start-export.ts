import { z } from 'zod';
import { deploymentTypes } from '../export-options.ts';
import { contentLabel } from '../identifiers.ts';
import { domainName } from './domain-name.ts';

/** Body of `POST /v1/static-export/jobs`. */
export const startExportBodySchema = z.object({
  domain: domainName,
  version: contentLabel.optional(),
  /** Page paths, with or without a slash in front. */
  paths: z.array(z.string().min(1).max(1024)).min(1).max(10_000).optional(),
  groups: z.array(z.string().min(1).max(100)).max(100).default([]),
  deployment: z.enum(deploymentTypes).default('cloud'),
  onPageError: z.enum(['fail', 'report']).default('fail'),
});

export type StartExportBody = z.infer<typeof startExportBodySchema>;

/** Header `Idempotency-Key`. */
export const idempotencyKeySchema = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, 'must be 1 to 200 printable ASCII characters without spaces');

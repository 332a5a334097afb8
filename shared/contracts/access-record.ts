import { z } from 'zod';
import { actorSchema } from './actor.ts';
import { domainSlug, jobId, organizationId, sha256Hex, timestamp } from './identifiers.ts';

/** Who was given a link to which bundle (`access.<org>.<job>`, kept 400 days). Written before the link is handed out. */
export const accessRecordSchema = z.object({
  type: z.literal('LinkSigned'),
  version: z.literal(1),
  id: z.string(),
  time: timestamp,
  organization: organizationId,
  jobId,
  /** Of the job; records of before this field was there have none. */
  domain: domainSlug.optional(),
  actor: actorSchema,
  /** Address of the caller as the gateway saw it. */
  address: z.string(),
  requestId: z.string(),
  bundleSha256: sha256Hex,
  expiresAt: timestamp,
});

export type AccessRecord = z.infer<typeof accessRecordSchema>;

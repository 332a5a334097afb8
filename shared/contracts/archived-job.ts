import { z } from 'zod';

/**
 * The whole history of an export job that ended long ago, as an object: its messages just as the stream had them, so that the hash chain
 * can be verified, in the order of the stream. `sequence` is the stream's own and stays internal.
 */
export const archivedJobSchema = z.object({
  version: z.literal(1),
  subject: z.string(),
  messages: z.array(z.object({ sequence: z.int().positive(), text: z.string() })).min(1),
});

export type ArchivedJob = z.infer<typeof archivedJobSchema>;

/** What housekeeping asks of an archived job without reading it: metadata of its object. */
export const archivedJobHeadSchema = z.object({
  'ended-at': z.iso.datetime(),
  domain: z.string(),
  'content-version': z.string(),
  'plan-hash': z.string().optional(),
  'selection-key': z.string().optional(),
});

export type ArchivedJobHead = z.infer<typeof archivedJobHeadSchema>;

export const archivePrefix = 'archive/';
export const archivedJobKey = (organization: string, jobId: string): string =>
  `${archivePrefix}${organization}/${jobId}.json`;

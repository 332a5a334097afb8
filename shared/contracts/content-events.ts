import { z } from 'zod';
import { commitSchema } from './commit.ts';
import { contentLabel, contentVersion, domainSlug, organizationId, timestamp } from './identifiers.ts';

/** What can happen to the content of one domain (`content.<org>.<domain>.log`). */
const event = <T extends string, D extends z.ZodRawShape>(type: T, data: D) =>
  z.object({
    type: z.literal(type),
    version: z.literal(1),
    data: z.object({ organization: organizationId, domain: domainSlug, contentVersion, ...data }),
  });

export const contentEventSchema = z.discriminatedUnion('type', [
  event('ContentPublished', {
    label: contentLabel.optional(),
    pageCount: z.int(),
    fileCount: z.int(),
    sizeBytes: z.int(),
  }),
  /** Passages are in the search index: this version is searched from now on. */
  event('ContentIndexed', { passageCount: z.int() }),
  event('ContentPromoted', {}),
  event('ContentDeleted', {}),
]);

export type ContentEvent = z.infer<typeof contentEventSchema>;

export const contentStateSchema = z.object({
  organization: organizationId,
  domain: domainSlug,
  /** Newest last. */
  versions: z.array(z.object({ contentVersion, publishedAt: timestamp, pageCount: z.int(), indexed: z.boolean() })),
  /** Label → content version. */
  labels: z.record(z.string(), contentVersion),
  latest: contentVersion.optional(),
  searched: contentVersion.optional(),
});

export type ContentState = z.infer<typeof contentStateSchema>;

export const contentCommitSchema = commitSchema(contentEventSchema, contentStateSchema);

export type ContentCommit = z.infer<typeof contentCommitSchema>;

import { z } from 'zod';
import type { ContentState } from '#shared/aggregates/content/content.ts';
import { diagnosticSchema } from '#shared/contracts/diagnostic.ts';
import { contentLabel, contentVersion, domainSlug, sha256Hex, timestamp } from '#shared/contracts/identifiers.ts';
import { publicationSourceQuery, publicationSourceSchema } from '#shared/contracts/publication-source.ts';

/** Query of `PUT /v1/domains/{domain}/content`. */
export const publishQuerySchema = z
  .strictObject({
    version: contentLabel.optional(),
    /** True: the content only gets the label `version`; another one stays the latest. */
    preview: z.stringbool().optional(),
    ...publicationSourceQuery,
  })
  .refine(({ version, preview }) => preview !== true || version !== undefined, {
    path: ['version'],
    message: 'is missing: a preview needs a label',
  });

/** Answer of `PUT /v1/domains/{domain}/content`. `version` is the label of the request. */
export const publishedContentSchema = z
  .object({
    contentVersion,
    version: contentLabel.optional(),
    pages: z.int(),
    diagnostics: z.array(diagnosticSchema.meta({ title: 'Diagnostic' })),
  })
  .meta({ title: 'PublishedContent' });

export type PublishedContent = z.infer<typeof publishedContentSchema>;

/** Answer of `POST /v1/domains/{domain}/content/missing`: hashes of listed files whose bytes have to be sent, each once, in the order of the list. */
export const missingContentsSchema = z.object({ missing: z.array(sha256Hex) }).meta({ title: 'MissingContents' });

export type MissingContents = z.infer<typeof missingContentsSchema>;

/** Answer of `GET /v1/domains/{domain}/content`, newest version first. */
export const contentListSchema = z
  .object({
    domain: domainSlug,
    /** The version that exports without a label use. */
    latest: contentVersion.optional(),
    /** The version that the assistant and search use. */
    searched: contentVersion.optional(),
    versions: z.array(
      z.object({
        contentVersion,
        publishedAt: timestamp,
        pages: z.int(),
        labels: z.array(z.string()),
        latest: z.boolean(),
        searched: z.boolean(),
        source: publicationSourceSchema.optional(),
      }),
    ),
  })
  .meta({ title: 'ContentList' });

export type ContentList = z.infer<typeof contentListSchema>;

/** A domain without any published content has no state. Pure. */
export function toContentList(domain: string, state: ContentState | undefined): ContentList {
  if (state === undefined) return { domain, versions: [] };
  const labelsOf = (version: string) =>
    Object.entries(state.labels).flatMap(([label, target]) => (target === version ? [label] : []));
  return {
    domain,
    ...(state.latest === undefined ? {} : { latest: state.latest }),
    ...(state.searched === undefined ? {} : { searched: state.searched }),
    versions: state.versions.toReversed().map((version) => ({
      contentVersion: version.contentVersion,
      publishedAt: version.publishedAt,
      pages: version.pageCount,
      labels: labelsOf(version.contentVersion).sort(),
      latest: version.contentVersion === state.latest,
      searched: version.contentVersion === state.searched,
      ...(version.source !== undefined && { source: version.source }),
    })),
  };
}

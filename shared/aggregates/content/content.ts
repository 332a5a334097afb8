import { z } from 'zod';
import { type Aggregate, commitSchema, type EventMetadata } from '#shared/contracts/commit.ts';
import { storedCommit } from '#shared/contracts/upcast.ts';
import { contentLabel, contentVersion, domainSlug, organizationId, timestamp } from '#shared/contracts/identifiers.ts';

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

/** What has been published in one domain. Publisher and indexer append to its log. */
export const contentAggregate: Aggregate<ContentEvent, ContentState> = {
  commitIdPrefix: 'cc',
  storedCommit: storedCommit(contentCommitSchema, {}),
  evolve,
};

function evolve(state: ContentState | undefined, event: ContentEvent, { time }: EventMetadata): ContentState {
  const { organization, domain, contentVersion } = event.data;
  const before: ContentState = state ?? { organization, domain, versions: [], labels: {} };
  switch (event.type) {
    case 'ContentPublished': {
      const { label, pageCount } = event.data;
      const known = before.versions.find((version) => version.contentVersion === contentVersion);
      // A version that is published again becomes the newest. It has the same files, so it is still indexed if it was.
      const entry = { contentVersion, publishedAt: time, pageCount, indexed: known?.indexed ?? false };
      return {
        ...before,
        versions: [...before.versions.filter((version) => version !== known), entry],
        labels: label === undefined ? before.labels : { ...before.labels, [label]: contentVersion },
        latest: contentVersion,
      };
    }
    case 'ContentIndexed':
      return {
        ...before,
        versions: before.versions.map((version) =>
          version.contentVersion === contentVersion ? { ...version, indexed: true } : version,
        ),
        searched: contentVersion,
      };
    case 'ContentPromoted':
      return { ...before, latest: contentVersion };
    case 'ContentDeleted':
      return withoutVersion(before, contentVersion);
    default:
      return event satisfies never;
  }
}

function withoutVersion({ searched, ...state }: ContentState, contentVersion: string): ContentState {
  return {
    ...state,
    versions: state.versions.filter((version) => version.contentVersion !== contentVersion),
    ...(searched === undefined || searched === contentVersion ? {} : { searched }),
  };
}

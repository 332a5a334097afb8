import { z } from 'zod';
import { type Aggregate, commitSchema, type EventMetadata, eventSchema } from '#shared/contracts/commit.ts';
import { storedCommit } from '#shared/contracts/upcast.ts';
import { contentLabel, contentVersion, domainSlug, organizationId, timestamp } from '#shared/contracts/identifiers.ts';
import { publicationSourceSchema } from '#shared/contracts/publication-source.ts';

/** The events of one domain's content (`content.<org>.<domain>.log`). */
const domainEvent = eventSchema({ organization: organizationId, domain: domainSlug });
const event = eventSchema({ organization: organizationId, domain: domainSlug, contentVersion });

export const contentEventSchema = z.discriminatedUnion('type', [
  event('ContentPublished', {
    label: contentLabel.optional(),
    /** True if the version only gets the label, and the latest version stays the same. */
    labelOnly: z.literal(true).optional(),
    pageCount: z.int(),
    fileCount: z.int(),
    sizeBytes: z.int(),
    /** Events of earlier versions have none. */
    source: publicationSourceSchema.optional(),
  }),
  /** The version's passages are in the search index, so searches use this version from now on. */
  event('ContentIndexed', { passageCount: z.int() }),
  event('ContentPromoted', {}),
  event('ContentDeleted', {}),
  /** The content version that had the label is kept. */
  event('LabelRemoved', { label: contentLabel }),
  /** The oldest unused versions ended because the domain had too many. */
  domainEvent('ContentsEnded', { contentVersions: z.array(contentVersion).min(1) }),
]);

export type ContentEvent = z.infer<typeof contentEventSchema>;

/*
 * Every commit carries the state, and a message of the bus has 1 MB at most. With these limits the state always has less than 200 KB. A domain that
 * had more before the limits existed cannot grow, and shrinks with every version and label that ends.
 */
export const mostVersions = 500;
export const mostLabels = 250;
const mostEnded = 500;
/** Number of versions, newest first, whose source the state has. The log has that of each. */
const mostSources = 100;

export const contentStateSchema = z.object({
  organization: organizationId,
  domain: domainSlug,
  /** Content versions, newest last; at most 500. */
  versions: z.array(
    z.object({
      contentVersion,
      publishedAt: timestamp,
      pageCount: z.int(),
      indexed: z.boolean(),
      source: publicationSourceSchema.optional(),
    }),
  ),
  /** Label → content version; at most 250. */
  labels: z.record(z.string(), contentVersion),
  /**
   * Versions that ended because there were too many, newest last, at most 500. They were not deleted by a request, so exports of them can
   * be replayed.
   */
  ended: z.array(contentVersion).optional(),
  latest: contentVersion.optional(),
  searched: contentVersion.optional(),
});

export type ContentState = z.infer<typeof contentStateSchema>;

export const contentCommitSchema = commitSchema(contentEventSchema, contentStateSchema);

export type ContentCommit = z.infer<typeof contentCommitSchema>;

/** The published content of one domain. Publisher and indexer append to its log. */
export const contentAggregate: Aggregate<ContentEvent, ContentState> = {
  commitIdPrefix: 'cc',
  storedCommit: storedCommit(contentCommitSchema, {}),
  evolve,
};

function evolve(state: ContentState | undefined, event: ContentEvent, { time }: EventMetadata): ContentState {
  const { organization, domain } = event.data;
  const before: ContentState = state ?? { organization, domain, versions: [], labels: {} };
  switch (event.type) {
    case 'ContentPublished': {
      const { contentVersion, label, labelOnly, pageCount, source } = event.data;
      const known = before.versions.find((version) => version.contentVersion === contentVersion);
      // A version that is published again becomes the newest. Its files are the same, so it is still indexed if it was.
      const entry = {
        contentVersion,
        publishedAt: time,
        pageCount,
        indexed: known?.indexed ?? false,
        ...(source !== undefined && { source }),
      };
      const { latest } = before;
      return {
        ...withoutVersions(before, [contentVersion]),
        ...(before.searched === undefined ? {} : { searched: before.searched }),
        versions: withFewSources([...before.versions.filter((version) => version !== known), entry]),
        labels: label === undefined ? before.labels : { ...before.labels, [label]: contentVersion },
        ...(labelOnly !== true ? { latest: contentVersion } : latest === undefined ? {} : { latest }),
      };
    }
    case 'ContentIndexed': {
      const { contentVersion } = event.data;
      return {
        ...before,
        versions: before.versions.map((version) =>
          version.contentVersion === contentVersion ? { ...version, indexed: true } : version,
        ),
        searched: contentVersion,
      };
    }
    case 'ContentPromoted':
      return { ...before, latest: event.data.contentVersion };
    case 'ContentDeleted':
      return withoutVersions(before, [event.data.contentVersion]);
    case 'LabelRemoved': {
      const { [event.data.label]: _, ...labels } = before.labels;
      return { ...before, labels };
    }
    case 'ContentsEnded': {
      const { contentVersions } = event.data;
      const { ended = [], ...rest } = withoutVersions(before, contentVersions);
      return { ...rest, ended: [...ended, ...contentVersions].slice(-mostEnded) };
    }
  }
}

/** Keeps the sources of the newest versions only. */
function withFewSources(versions: ContentState['versions']): ContentState['versions'] {
  const at = versions.length - 1 - mostSources;
  return versions.map(({ source, ...version }, index) =>
    source === undefined || index <= at ? version : { ...version, source },
  );
}

function withoutVersions({ searched, ended, ...state }: ContentState, gone: readonly string[]): ContentState {
  const isGone = new Set(gone);
  const stillEnded = ended?.filter((contentVersion) => !isGone.has(contentVersion)) ?? [];
  return {
    ...state,
    versions: state.versions.filter(({ contentVersion }) => !isGone.has(contentVersion)),
    ...(stillEnded.length === 0 ? {} : { ended: stillEnded }),
    ...(searched === undefined || isGone.has(searched) ? {} : { searched }),
  };
}

import type { ContentEvent, ContentState } from '#shared/contracts/content-events.ts';

/** The state of a domain's content after one more event. Pure: `time` is the commit's. Publisher and indexer append with it. */
export function evolveContent(state: ContentState | undefined, event: ContentEvent, time: string): ContentState {
  const { organization, domain, contentVersion } = event.data;
  const before: ContentState = state ?? { organization, domain, versions: [], labels: {} };
  switch (event.type) {
    case 'ContentPublished': {
      const { label, pageCount } = event.data;
      const known = before.versions.find((version) => version.contentVersion === contentVersion);
      // Published again, a version becomes the newest; what was found out about it stays true, it has the same files.
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

import { sha256OfJson } from '#shared/runtime/canonical-json.ts';
import type { FoundPage, SearchIndex, SearchPage, SearchScope } from './search-index.ts';

/** Path of the page that keeps the instructions of a content version for its assistant. Pages of projects cannot have it. */
const guidancePath = '.mintlify/assistant';
/** The only group that may see it. Readers are never in it, also if a request claims it. */
export const guidanceGroup = '.mintlify/assistant';

/**
 * The instructions of a content version as a page without passages that no reader may see, so that they are published, replaced and removed with their
 * version in every engine.
 */
export const guidancePage = (guidance: object): SearchPage => ({
  ...{ path: guidancePath, title: 'Assistant', names: [], keywords: [], boost: 1, links: [], passages: [] },
  groups: [guidanceGroup],
  key: sha256OfJson(guidance),
  markdown: JSON.stringify(guidance),
});

/** The stored instructions; undefined if the version has none. */
export const findGuidance = (
  searchIndex: Pick<SearchIndex, 'findPage'>,
  scope: SearchScope,
): Promise<FoundPage | undefined> => searchIndex.findPage(scope, guidancePath, [guidanceGroup]);

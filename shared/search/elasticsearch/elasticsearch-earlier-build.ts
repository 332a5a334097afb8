import type { estypes } from '@elastic/elasticsearch';
import { buildFilter } from './elasticsearch-candidates.ts';
import type { ElasticsearchIndex } from './elasticsearch-connection.ts';
import { countWhere, everyHit } from './elasticsearch-documents.ts';
import {
  buildWith,
  exact,
  type LinkDocument,
  type ListedPage,
  type PageDocument,
  type PagesDocument,
  type PassageDocument,
  type VersionDocument,
} from './elasticsearch-schema.ts';

type TakenDocument = PageDocument | PassageDocument | LinkDocument;

/** The build of an earlier content version whose pages can be reused. */
export type EarlierBuild = {
  /** The build that becomes the base of a build that leaves pages in place. */
  base: string;
  /** The pages by path. */
  pages: ReadonlyMap<string, ListedPage & { isInBase: boolean }>;
  /** All stored documents of these pages. */
  documents(paths: readonly string[]): AsyncGenerator<TakenDocument>;
};

const readWithinMs = 30_000;
const kinds = ['page', 'passage', 'link'] as const;
/** Documents per request. Passages and links have some kilobytes; a page may have megabytes of Markdown. */
const documentsAtOnce = { page: 20, passage: 1_000, link: 1_000, pages: 20 };
/** Limit of paths in a filter. For more pages all documents are read. */
const mostPathsInFilter = 500;

/** Reads the list of pages of a version that is searched. Undefined if parts of it are lost, so that all pages have to be written again. */
export async function openEarlierBuild(
  index: ElasticsearchIndex,
  version: VersionDocument,
): Promise<EarlierBuild | undefined> {
  const { build, base = { build, changed: [], gone: [] }, documentCount } = version;
  const pages = new Map<string, ListedPage & { isInBase: boolean }>();
  for (const of of new Set([base.build, build])) {
    for await (const list of all<PagesDocument>(index, version, inBuild(version, of, 'pages'), 'pages')) {
      for (const page of list.pages) {
        if (buildWith(version, exact(page.path)) !== of) continue;
        pages.set(page.path, { ...page, isInBase: of === base.build });
      }
    }
  }
  const listed = [...pages.values()].reduce((sum, { size }) => sum + 1 + size.passages + size.links, 0);
  const stored = await countWhere(index, version, buildFilter(version, ...kinds));
  if (listed !== documentCount || stored !== documentCount) return undefined;
  return {
    base: base.build,
    pages,
    async *documents(paths) {
      const wanted = new Set(paths.map(exact));
      const isWanted = wanted.size > mostPathsInFilter ? [] : [{ terms: { 'filters.path': [...wanted] } }];
      for (const kind of kinds) {
        const filter = [...buildFilter(version, kind), ...isWanted];
        for await (const document of all<TakenDocument>(index, version, filter, kind))
          if (wanted.has(document.filters.path)) yield document;
      }
    },
  };
}

function inBuild({ organization, domain }: VersionDocument, build: string, kind: string) {
  return [{ term: { organization } }, { term: { domain } }, { term: { build } }, { term: { kind } }];
}

/** All documents of one kind that match the filter. */
async function* all<T extends TakenDocument | PagesDocument>(
  index: ElasticsearchIndex,
  version: VersionDocument,
  filter: estypes.QueryDslQueryContainer[],
  kind: T['kind'],
): AsyncGenerator<T> {
  const sorts: estypes.SortCombinations[] = [{ 'filters.path': 'asc' }, { position: 'asc' }];
  const sort = sorts.slice(0, kind === 'page' ? 1 : 2);
  const what = `list the documents of ${version.contentVersion}`;
  const request = { size: documentsAtOnce[kind], query: { bool: { filter } }, sort };
  for await (const { _source } of everyHit<T>(index, version, what, readWithinMs, request))
    if (_source !== undefined) yield _source;
}

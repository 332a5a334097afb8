import type { estypes } from '@elastic/elasticsearch';
import type { ElasticsearchWriter } from './elasticsearch-connection.ts';
import {
  everyone,
  exact,
  type LinkDocument,
  type PageDocument,
  type PageSize,
  type PassageDocument,
  routingOf,
  type VersionDocument,
} from './elasticsearch-schema.ts';
import { type SearchPage, SearchUnavailable } from './search-index.ts';

type EarlierPage = {
  key: string;
  size: PageSize;
  filters: Pick<SearchPage, 'version' | 'language' | 'tag' | 'groups'>;
};
type TakenDocument = PageDocument | PassageDocument | LinkDocument;

/** The build of an earlier content version, of which pages are taken over. */
export type EarlierBuild = {
  /** By path. */
  pages: ReadonlyMap<string, EarlierPage>;
  /** All that the build has of these pages. What is gone by now is left out. */
  documents(paths: readonly string[]): AsyncGenerator<TakenDocument>;
};

const readWithinMs = 30_000;
const kinds = ['page', 'passage', 'link'] as const;
/** Passages and links have some kilobytes; a page may have megabytes of Markdown. */
const documentsAtOnce = { page: 20, passage: 1_000, link: 1_000 };
const factsAtOnce = 1_000;

/**
 * Reads which pages the build of a version has that is searched. Documents are read and written again, because a cluster copies none within an index: still,
 * nothing has to be read of the pages themselves.
 */
export async function openEarlierBuild(
  writer: ElasticsearchWriter,
  version: VersionDocument,
  signal?: AbortSignal,
): Promise<EarlierBuild> {
  const pages = new Map<string, EarlierPage>();
  const facts = ['filters', 'page.path', 'page.key', 'page.size', 'page.version', 'page.language'];
  for await (const { filters, page } of all<PageDocument>(writer, version, 'page', facts, signal)) {
    const { path, key, size, version: ofVersion, language } = page;
    // Nobody asks here what the groups are called, only whether there are some.
    const groups = filters.groups.includes(everyone) ? [] : filters.groups;
    pages.set(path, { key, size, filters: { version: ofVersion, language, tag: filters.tag, groups } });
  }
  return {
    pages,
    async *documents(paths) {
      const wanted = new Set(paths.map(exact));
      for (const kind of kinds)
        for await (const document of all<TakenDocument>(writer, version, kind, true, signal))
          if (wanted.has(document.filters.path)) yield document;
    },
  };
}

/** The documents of one kind that a build has. `source`: what is sent of them. */
async function* all<T extends TakenDocument>(
  { call, alias }: ElasticsearchWriter,
  version: VersionDocument,
  kind: T['kind'],
  source: true | string[],
  signal: AbortSignal | undefined,
): AsyncGenerator<T> {
  const { organization, domain, build } = version;
  const filter = [{ term: { organization } }, { term: { domain } }, { term: { build } }, { term: { kind } }];
  const sort: estypes.SortCombinations[] = [
    { 'filters.path': 'asc' },
    ...(kind === 'page' ? [] : [{ position: 'asc' as const }]),
  ];
  const atOnce = source === true ? documentsAtOnce[kind] : factsAtOnce;
  for (let after: estypes.SortResults | undefined; ; ) {
    const answer = await call(
      `list what is stored of ${version.contentVersion}`,
      readWithinMs,
      (client, deadline) =>
        client.search<T>(
          {
            ...{ index: alias, routing: routingOf(version), size: atOnce, track_total_hits: false },
            ...{ query: { bool: { filter } }, sort, _source: source, allow_partial_search_results: false },
            ...(after === undefined ? {} : { search_after: after }),
          },
          deadline,
        ),
      signal,
    );
    if (answer.timed_out) throw new SearchUnavailable('Elasticsearch did not list all documents in time.');
    const { hits } = answer.hits;
    yield* hits.flatMap(({ _source }) => _source ?? []);
    after = hits.at(-1)?.sort;
    if (hits.length < atOnce || after === undefined) return;
  }
}

import type { estypes } from '@elastic/elasticsearch';
import { LRUCache } from 'lru-cache';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { mostCandidates, mostLinkedPages, mostLinks } from '#shared/search/ranking/candidate-limits.ts';
import {
  documentsIn,
  type ElasticsearchCall,
  type ElasticsearchSettings,
  isMissingIndex,
} from './elasticsearch-connection.ts';
import {
  buildWith,
  divisionKey,
  everyone,
  everywhere,
  exact,
  groupKey,
  hiddenIn,
  type LinkDocument,
  linkId,
  type PassageDocument,
  passageId,
  routingOf,
  vectorField,
  type VersionDocument,
} from './elasticsearch-schema.ts';
import { meaningOf, mostNeighbours, type Neighbours, onlyByMeaning } from '#shared/search/vectors/meaning.ts';
import { packCounts, unpackCounts } from '#shared/search/ranking/packed-counts.ts';
import { splitNames } from '#shared/search/ranking/page-terms.ts';
import type { Candidate as RankedCandidate, CandidatePage } from '#shared/search/ranking/rank-passages.ts';
import { type SearchFilter, type SearchQuery, SearchUnavailable } from '#shared/search/search-index.ts';

export type Candidate = RankedCandidate & { id: string };

/** The fields of a passage that the ranking needs, in a compact form. */
type KeptPassage = {
  kind: 'passage';
  rank: PassageDocument['rank'];
  position: number;
  pathTerms: string;
  heading: string;
  textLength: number;
  counts: Uint32Array;
  /** The numbering of the terms in `counts`. */
  numbers: TermNumbers;
};
type TermNumbers = Map<string, number>;
type KeptLink = { kind: 'link'; from: string; target: string; terms: string };
type Kept = KeptPassage | KeptLink;

/** Size of the cache for all builds. A build of 10,000 passages takes about 10 MB. */
const keptBytes = 64_000_000;
const keptLinkCounts = 50_000;
const keptIds = 50_000;
/** Limit of a numbering. Numbers of terms have 24 bits in the counts. */
const mostTerms = 2 ** 20;

/**
 * Finds the candidates for the ranking. Documents of a build never change, so their fields for the ranking are cached by id: a search
 * fetches ids, and only those documents that are not cached. The engine decides in every search which documents the reader may see.
 */
export function elasticsearchCandidates(
  call: ElasticsearchCall,
  alias: string,
  { product, withinMs }: { product: ElasticsearchSettings['product']; withinMs: number },
) {
  let numbers: TermNumbers = new Map();
  const kept = new LRUCache<string, Kept>({ maxSize: keptBytes, sizeCalculation: bytesOf });
  const ids = new LRUCache<string, string>({ max: keptIds });
  /** Number of pages that link to a page, for readers of the same groups. */
  const linkCounts = new LRUCache<string, number>({ max: keptLinkCounts });

  /** Caches ids, because each contains a digest of the path and is needed often. */
  const remembered =
    (kind: Kept['kind'], idOf: typeof passageId): typeof passageId =>
    (build, path, position) => {
      const key = `${kind} ${build} ${path} ${position}`;
      let id = ids.get(key);
      if (id === undefined) {
        id = idOf(build, path, position);
        ids.set(key, id);
      }
      return id;
    };
  const passageIdOf = remembered('passage', passageId);
  const linkIdOf = remembered('link', linkId);

  function numberOf(term: string): number {
    let number = numbers.get(term);
    if (number === undefined) {
      number = numbers.size;
      numbers.set(term, number);
    }
    return number;
  }

  /**
   * Ids of a build's documents that this reader may see, the best first. They come from columns: reading each document for its id takes
   * four times as long.
   */
  async function idsOf(
    version: VersionDocument,
    kind: Kept['kind'],
    reader: SearchQuery,
    query: {
      must?: estypes.QueryDslQueryContainer | undefined;
      filter: estypes.QueryDslQueryContainer[];
      size: number;
    },
    signal: AbortSignal,
  ): Promise<string[]> {
    const { must, filter, size } = query;
    const answer = await call(
      'search',
      withinMs,
      (client, deadline) =>
        client.search(
          {
            ...{ index: alias, routing: routingOf(version), size, track_total_hits: false },
            ...{ _source: false, stored_fields: '_none_', docvalue_fields: ['filters.path', 'position'] },
            ...{ allow_partial_search_results: false, filter_path: ['timed_out', 'hits.hits.fields'] },
            query: {
              bool: {
                filter: [...buildFilter(version, kind), ...filter],
                must_not: excluded(reader.exclude ?? []),
                ...(must === undefined ? {} : { must }),
              },
            },
          },
          deadline,
        ),
      signal,
    );
    if (answer.timed_out) throw new SearchUnavailable('Elasticsearch did not search everything in time.');
    return (answer.hits?.hits ?? []).flatMap(({ fields }) => {
      const path = fields?.['filters.path']?.[0] as string | undefined;
      const position = fields?.['position']?.[0] as number | undefined;
      if (path === undefined || position === undefined) return [];
      return (kind === 'link' ? linkIdOf : passageIdOf)(buildWith(version, path), path, position);
    });
  }

  /** The fields of these documents, cached or fetched. Documents that no longer exist are left out. */
  async function read<K extends Kept['kind']>(
    version: VersionDocument,
    kind: K,
    ids: readonly string[],
    signal: AbortSignal,
  ): Promise<Map<string, Extract<Kept, { kind: K }>>> {
    const found = new Map<string, Kept>();
    const unknown: string[] = [];
    for (const id of ids) {
      const known = kept.get(id);
      if (known === undefined) unknown.push(id);
      else found.set(id, known);
    }
    if (unknown.length > 0) {
      const answer = await call(
        'send documents',
        withinMs,
        (client, deadline) =>
          client.mget<PassageDocument | LinkDocument>(
            {
              ...{ index: alias, routing: routingOf(version), ids: unknown },
              _source: ['kind', 'terms', 'rank', 'position', 'target', 'filters.path'],
            },
            { ...deadline, ignore: [404] },
          ),
        signal,
      );
      for (const item of documentsIn(answer)) {
        if ('error' in item) {
          if (isMissingIndex(item.error)) continue;
          throw new SearchUnavailable(
            `Elasticsearch cannot send documents now: ${item.error.reason ?? item.error.type}`,
          );
        }
        if (!item.found || item._source === undefined) continue;
        const one = keptOf(item._source);
        kept.set(item._id, one);
        found.set(item._id, one);
      }
    }
    const inOrder = new Map<string, Extract<Kept, { kind: K }>>();
    for (const id of ids) {
      const one = found.get(id);
      if (one?.kind === kind) inOrder.set(id, one as Extract<Kept, { kind: K }>);
    }
    return inOrder;
  }

  function keptOf(document: PassageDocument | LinkDocument): Kept {
    if (document.kind === 'link') {
      return { kind: 'link', from: document.filters.path, target: document.target, terms: document.terms.link };
    }
    if (numbers.size > mostTerms) {
      numbers = new Map();
      kept.clear();
    }
    const { terms, rank, position } = document;
    const text = split(terms.text);
    return {
      ...{ kind: 'passage', rank, position, pathTerms: terms.path, heading: terms.heading, textLength: text.length },
      ...{ counts: packCounts(text.map(numberOf)), numbers },
    };
  }

  /** For each of these pages, the number of pages with links to it that the reader may see and that are not excluded. */
  async function linksTo(
    version: VersionDocument,
    targets: readonly string[],
    { filter, exclude }: SearchQuery,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, number>> {
    // A digest keeps the keys short: readers may name 100 groups of 200 characters, and there is a key for each target.
    const reader = sha256Of(
      JSON.stringify([version.build, [...(filter?.groups ?? [])].sort(), [...(exclude ?? [])].sort()]),
    );
    const keyOf = (target: string): string => `${reader} ${target}`;
    const unknown = targets.filter((target) => !linkCounts.has(keyOf(target)));
    if (unknown.length > 0) {
      const answer = await call(
        'count links',
        withinMs,
        (client, deadline) =>
          client.search<never, { targets: { buckets: { key: string; pages: { value: number } }[] } }>(
            {
              ...{ index: alias, routing: routingOf(version), size: 0, track_total_hits: false },
              allow_partial_search_results: false,
              query: {
                bool: {
                  filter: [
                    ...buildFilter(version, 'link'),
                    groupFilter(filter?.groups),
                    { terms: { target: unknown } },
                  ],
                  must_not: excluded(exclude ?? []),
                },
              },
              aggs: {
                targets: {
                  terms: { field: 'target', size: unknown.length },
                  aggs: { pages: { cardinality: { field: 'filters.path', precision_threshold: 10_000 } } },
                },
              },
            },
            deadline,
          ),
        signal,
      );
      const counted = new Map(answer.aggregations?.targets.buckets.map(({ key, pages }) => [key, pages.value]));
      for (const target of unknown) linkCounts.set(keyOf(target), counted.get(target) ?? 0);
    }
    return new Map(targets.map((target) => [target, linkCounts.get(keyOf(target)) ?? 0]));
  }

  /** The passages of nearest meaning that this reader may see. */
  async function neighboursOf(
    version: VersionDocument,
    reader: SearchQuery,
    signal: AbortSignal,
  ): Promise<Neighbours<string>> {
    const { meaning, filter, exclude } = reader;
    const facts = version.vectorFacts;
    if (meaning === undefined || facts?.model !== meaning.model || facts.dimensions !== meaning.vector.length)
      return new Map();
    const isVisible = {
      bool: {
        filter: [
          ...buildFilter(version, 'vector'),
          ...queryFilter(filter ?? {}, version),
          { term: { model: facts.model } },
        ],
        must_not: excluded(exclude ?? []),
      },
    };
    const answer = await call(
      'search by meaning',
      withinMs,
      (client, deadline) =>
        client.search(
          {
            ...{ index: alias, routing: routingOf(version), size: mostNeighbours, track_total_hits: false },
            ...{ _source: false, stored_fields: '_none_', docvalue_fields: ['filters.path', 'position'] },
            allow_partial_search_results: false,
            filter_path: ['timed_out', 'hits.hits._score', 'hits.hits.fields'],
            knn: {
              ...{ field: vectorField(facts.dimensions), query_vector: [...meaning.vector] },
              ...{ k: mostNeighbours, num_candidates: mostNeighbours, filter: isVisible },
            },
          },
          deadline,
        ),
      signal,
    );
    if (answer.timed_out) throw new SearchUnavailable('Elasticsearch did not search everything in time.');
    const near = new Map<string, number>();
    for (const { _score: score, fields } of answer.hits?.hits ?? []) {
      const path = fields?.['filters.path']?.[0] as string | undefined;
      const position = fields?.['position']?.[0] as number | undefined;
      // The engine avoids negative scores: its score is (1 + cosine) / 2.
      const cosine = 2 * (score ?? 0) - 1;
      const found = meaningOf(cosine, facts.typicalCosine);
      if (path !== undefined && position !== undefined && found > 0)
        near.set(passageIdOf(buildWith(version, path), path, position), found);
    }
    return near;
  }

  /** Passages with the terms, and the first passages of pages to which links with the terms lead. */
  async function find(
    version: VersionDocument,
    terms: readonly string[],
    reader: SearchQuery,
    signal: AbortSignal,
  ): Promise<Candidate[]> {
    const filter = queryFilter(reader.filter ?? {}, version);
    const inLinks = { match: { 'terms.link': terms.join(' ') } };
    const none = new Map<string, never>();
    const [matching, links, neighbours] = await Promise.all([
      terms.length === 0
        ? none
        : idsOf(
            version,
            'passage',
            reader,
            { must: bestWith(terms, product), filter, size: mostCandidates },
            signal,
          ).then((ids) => read(version, 'passage', ids, signal)),
      terms.length === 0
        ? none
        : idsOf(
            version,
            'link',
            reader,
            { must: inLinks, filter: [groupFilter(reader.filter?.groups)], size: mostLinks },
            signal,
          ).then((ids) => read(version, 'link', ids, signal)),
      neighboursOf(version, reader, signal),
    ]);
    const near = await read(version, 'passage', onlyByMeaning(neighbours, matching), signal);
    const linksOf = Map.groupBy(
      [...links.values()].filter(({ target, from }) => target !== from),
      ({ target }) => target,
    );
    const targets = new Set([...matching.values()].map(({ rank }) => exact(rank.path)));
    const nearTargets = [...near.values()].map(({ rank }) => exact(rank.path));
    const linked = [...linksOf.keys()].filter((target) => !targets.has(target)).slice(0, mostLinkedPages);
    for (const target of [...linked, ...nearTargets]) targets.add(target);
    const isFirst = [{ term: { position: 0 } }, { terms: { 'filters.path': linked } }];
    const [first, counts] = await Promise.all([
      linked.length === 0
        ? new Map<string, KeptPassage>()
        : idsOf(version, 'passage', reader, { filter: [...filter, ...isFirst], size: mostLinkedPages }, signal).then(
            (ids) => read(version, 'passage', ids, signal),
          ),
      linksTo(version, [...targets], reader, signal),
    ]);
    const searched = new Map<TermNumbers, { id: number; term: string }[]>();
    const pages = new Map<string, CandidatePage>();
    return [...new Map([...matching, ...first, ...near])].map(([id, passage]) => {
      const { rank, position, heading, textLength } = passage;
      const target = exact(rank.path);
      let page = pages.get(target);
      if (page === undefined) {
        page = {
          ...{ path: rank.path, language: rank.language, version: rank.version },
          ...{ boost: rank.boost, textLength: rank.textLength },
          title: split(rank.title),
          names: splitNames(rank.names),
          keywords: split(rank.keywords),
          pathTerms: split(passage.pathTerms),
          links: (linksOf.get(target) ?? []).map((link) => split(link.terms)),
          linkedFrom: counts.get(target) ?? 0,
        };
        pages.set(target, page);
      }
      let wanted = searched.get(passage.numbers);
      if (wanted === undefined) {
        wanted = numbered(terms, passage.numbers);
        searched.set(passage.numbers, wanted);
      }
      const text = unpackCounts(passage.counts, wanted);
      return { id, page, heading: split(heading), text, textLength, position, meaning: neighbours.get(id) };
    });
  }

  return { find };
}

function numbered(terms: readonly string[], numbers: TermNumbers): { id: number; term: string }[] {
  return terms.flatMap((term) => {
    const id = numbers.get(term);
    return id === undefined ? [] : [{ id, term }];
  });
}

function bytesOf(one: Kept): number {
  const own = 200;
  if (one.kind === 'link') return own + one.from.length + one.target.length + one.terms.length;
  const { path, title, names, keywords } = one.rank;
  const texts = [path, title, names, keywords, one.pathTerms, one.heading];
  return own + one.counts.byteLength + texts.reduce((sum, { length }) => sum + length, 0);
}

/**
 * Selects the documents of a version: its build, and the remaining ones of its base. Organization and domain are in every query,
 * independent of the names of builds.
 */
export function buildFilter(
  { organization, domain, build, base }: Pick<VersionDocument, 'organization' | 'domain' | 'build' | 'base'>,
  ...kinds: ('page' | 'passage' | 'link' | 'vector')[]
): estypes.QueryDslQueryContainer[] {
  const isHidden = { terms: { 'filters.path': hiddenIn(base) } };
  const ofBase = { filter: [{ term: { build: base?.build ?? '' } }], must_not: [isHidden] };
  const either = [{ term: { build } }, { bool: ofBase }];
  return [
    { term: { organization } },
    { term: { domain } },
    base === undefined ? { term: { build } } : { bool: { should: either, minimum_should_match: 1 } },
    { terms: { kind: kinds } },
  ];
}

/** Selects the documents that the reader asked for and may see. */
function queryFilter(
  { version, language, tag, groups }: SearchFilter,
  { facets }: VersionDocument,
): estypes.QueryDslQueryContainer[] {
  return [
    ...(version === undefined ? [] : [{ terms: { 'filters.version': [divisionKey(version), everywhere] } }]),
    ...(language === undefined || facets.languages.length === 0
      ? []
      : [{ terms: { 'filters.language': [divisionKey(language), everywhere] } }]),
    ...(tag === undefined ? [] : [{ term: { 'filters.tag': exact(tag) } }]),
    groupFilter(groups),
  ];
}

const groupFilter = (groups: readonly string[] | undefined): estypes.QueryDslQueryContainer => ({
  terms: { 'filters.groups': [everyone, ...(groups ?? []).map(groupKey)] },
});

const excluded = (paths: readonly string[]): estypes.QueryDslQueryContainer[] =>
  paths.length === 0 ? [] : [{ terms: { 'filters.path': paths.map(exact) } }];

export const split = (terms: string): string[] => (terms === '' ? [] : terms.split(' '));

/** Weights for choosing candidates. The ranking decides their order. */
const weighted = ['terms.title^6', 'terms.path^3', 'terms.heading^3', 'terms.text'];

/** Matches passages with one of these terms. */
export function anyOf(terms: readonly string[]): estypes.QueryDslQueryContainer {
  return { multi_match: { query: terms.join(' '), type: 'cross_fields', tie_breaker: 1, fields: weighted } };
}

/**
 * Matches the same passages, the best first: by BM25F, like SQLite, so that a term in a title and in its text is not counted twice. On
 * known questions it finds a little more than the sum over fields, which is used for OpenSearch, because some of its versions lack this
 * query.
 */
function bestWith(terms: readonly string[], product: ElasticsearchSettings['product']): estypes.QueryDslQueryContainer {
  return product === 'opensearch' ? anyOf(terms) : { combined_fields: { query: terms.join(' '), fields: weighted } };
}

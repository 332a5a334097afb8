import type { estypes } from '@elastic/elasticsearch';
import { LRUCache } from 'lru-cache';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { mostCandidates, mostLinkedPages, mostLinks } from '#shared/search/ranking/candidate-limits.ts';
import {
  documentsIn,
  type ElasticsearchIndex,
  type ElasticsearchSettings,
  isMissingIndex,
} from './elasticsearch-connection.ts';
import { searchDocuments } from './elasticsearch-documents.ts';
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
export function elasticsearchCandidates(product: ElasticsearchSettings['product'], withinMs: number) {
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
   * Ids of a build's documents that this reader may see, the best first. They are read from doc values: reading each document for its id takes four
   * times as long.
   */
  async function idsOf(
    index: ElasticsearchIndex,
    version: VersionDocument,
    kind: Kept['kind'],
    reader: SearchQuery,
    query: {
      must?: estypes.QueryDslQueryContainer | undefined;
      filter: estypes.QueryDslQueryContainer[];
      size: number;
    },
  ): Promise<string[]> {
    const { must, filter, size } = query;
    const answer = await searchDocuments(index, version, 'search', withinMs, {
      ...{ ...onlyPlaces, size },
      query: {
        bool: {
          filter: [...buildFilter(version, kind), ...filter],
          must_not: excluded(reader.exclude ?? []),
          ...(must && { must }),
        },
      },
    });
    const idOf = kind === 'link' ? linkIdOf : passageIdOf;
    return placesIn(answer).map(({ path, position }) => idOf(buildWith(version, path), path, position));
  }

  /** The fields of these documents, cached or fetched. Documents that no longer exist are left out. */
  async function read<K extends Kept['kind']>(
    { call, alias }: ElasticsearchIndex,
    version: VersionDocument,
    kind: K,
    ids: readonly string[],
  ): Promise<Map<string, Extract<Kept, { kind: K }>>> {
    const found = new Map<string, Kept>();
    const unknown: string[] = [];
    for (const id of ids) {
      const known = kept.get(id);
      if (known === undefined) unknown.push(id);
      else found.set(id, known);
    }
    if (unknown.length > 0) {
      const _source = ['kind', 'terms', 'rank', 'position', 'target', 'filters.path'];
      const request = { index: alias, routing: routingOf(version), ids: unknown, _source };
      const answer = await call('send documents', withinMs, (client, deadline) =>
        client.mget<PassageDocument | LinkDocument>(request, { ...deadline, ignore: [404] }),
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
    index: ElasticsearchIndex,
    version: VersionDocument,
    targets: readonly string[],
    { filter, exclude }: SearchQuery,
  ): Promise<ReadonlyMap<string, number>> {
    // A digest keeps the keys short: readers may name 100 groups of 200 characters, and there is a key for each target.
    const reader = sha256Of(
      JSON.stringify([version.build, [...(filter?.groups ?? [])].sort(), [...(exclude ?? [])].sort()]),
    );
    const keyOf = (target: string): string => `${reader} ${target}`;
    const unknown = targets.filter((target) => !linkCounts.has(keyOf(target)));
    if (unknown.length > 0) {
      type Counted = { targets: { buckets: { key: string; pages: { value: number } }[] } };
      const answer = await searchDocuments<never, Counted>(index, version, 'count links', withinMs, {
        size: 0,
        query: {
          bool: {
            filter: [...buildFilter(version, 'link'), groupFilter(filter?.groups), { terms: { target: unknown } }],
            must_not: excluded(exclude ?? []),
          },
        },
        aggs: {
          targets: {
            terms: { field: 'target', size: unknown.length },
            aggs: { pages: { cardinality: { field: 'filters.path', precision_threshold: 10_000 } } },
          },
        },
      });
      const counted = new Map(answer.aggregations?.targets.buckets.map(({ key, pages }) => [key, pages.value]));
      for (const target of unknown) linkCounts.set(keyOf(target), counted.get(target) ?? 0);
    }
    return new Map(targets.map((target) => [target, linkCounts.get(keyOf(target)) ?? 0]));
  }

  /** The passages of nearest meaning that this reader may see. */
  async function neighboursOf(
    index: ElasticsearchIndex,
    version: VersionDocument,
    reader: SearchQuery,
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
    const answer = await searchDocuments(index, version, 'search by meaning', withinMs, {
      ...{ ...onlyPlaces, size: mostNeighbours },
      knn: {
        ...{ field: vectorField(facts.dimensions), query_vector: [...meaning.vector] },
        ...{ k: mostNeighbours, num_candidates: mostNeighbours, filter: isVisible },
      },
    });
    const near = new Map<string, number>();
    for (const { path, position, score } of placesIn(answer)) {
      // The engine avoids negative scores: its score is (1 + cosine) / 2.
      const found = meaningOf(2 * score - 1, facts.typicalCosine);
      if (found > 0) near.set(passageIdOf(buildWith(version, path), path, position), found);
    }
    return near;
  }

  /** Finds passages with the terms, and the first passages of pages to which links with the terms lead. */
  async function find(
    index: ElasticsearchIndex,
    version: VersionDocument,
    terms: readonly string[],
    reader: SearchQuery,
  ): Promise<Candidate[]> {
    const readAll = async <K extends Kept['kind']>(kind: K, query: Parameters<typeof idsOf>[4]) =>
      read(index, version, kind, await idsOf(index, version, kind, reader, query));
    const filter = queryFilter(reader.filter ?? {}, version);
    const inLinks = { match: { 'terms.link': terms.join(' ') } };
    const none = new Map<string, never>();
    const [matching, links, neighbours] = await Promise.all([
      terms.length === 0 ? none : readAll('passage', { must: bestWith(terms, product), filter, size: mostCandidates }),
      terms.length === 0
        ? none
        : readAll('link', { must: inLinks, filter: [groupFilter(reader.filter?.groups)], size: mostLinks }),
      neighboursOf(index, version, reader),
    ]);
    const near = await read(index, version, 'passage', onlyByMeaning(neighbours, matching));
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
      linked.length === 0 ? none : readAll('passage', { filter: [...filter, ...isFirst], size: mostLinkedPages }),
      linksTo(index, version, [...targets], reader),
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

/** Lets a search answer only with the places of the found documents and their scores. */
const onlyPlaces = {
  ...{ _source: false, stored_fields: '_none_', docvalue_fields: ['filters.path', 'position'] },
  filter_path: ['timed_out', 'hits.hits._score', 'hits.hits.fields'],
};

function placesIn({ hits }: estypes.SearchResponse): { path: string; position: number; score: number }[] {
  // `filter_path` leaves out lists that are empty.
  return ((hits as estypes.SearchHitsMetadata | undefined)?.hits ?? []).flatMap(({ fields, _score: score }) => {
    const path = fields?.['filters.path']?.[0] as string | undefined;
    const position = fields?.['position']?.[0] as number | undefined;
    return path === undefined || position === undefined ? [] : [{ path, position, score: score ?? 0 }];
  });
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
 * Matches the same passages as `anyOf`, the best first: by BM25F, like SQLite, so that a term that is in a title and in the text is not counted
 * twice. On known questions this query finds slightly more than `anyOf`. OpenSearch uses `anyOf`, because some of its versions lack this query.
 */
function bestWith(terms: readonly string[], product: ElasticsearchSettings['product']): estypes.QueryDslQueryContainer {
  return product === 'opensearch' ? anyOf(terms) : { combined_fields: { query: terms.join(' '), fields: weighted } };
}

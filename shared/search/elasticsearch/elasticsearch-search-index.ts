import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import { buildElasticsearchPassages, finishRemoval, removeElasticsearchVersion } from './elasticsearch-build.ts';
import { anyOf, buildFilter, type Candidate, elasticsearchCandidates, split } from './elasticsearch-candidates.ts';
import {
  connectElasticsearch,
  documentsIn,
  type ElasticsearchIndex,
  type ElasticsearchSettings,
  indexOf,
  isMissingIndex,
  refusalStatus,
} from './elasticsearch-connection.ts';
import { searchDocuments } from './elasticsearch-documents.ts';
import { openEarlierBuild } from './elasticsearch-earlier-build.ts';
import {
  buildWith,
  documentShape,
  earlierVersionId,
  everyone,
  exact,
  groupKey,
  type PageDocument,
  pageId,
  type PassageDocument,
  prepareIndex,
  routingOf,
  searchedEarlierShape,
  type VersionDocument,
  versionId,
} from './elasticsearch-schema.ts';
import { startElasticsearchVectors } from '#shared/search/vectors/elasticsearch-vectors.ts';
import { fields } from '#shared/search/ranking/rank-passages.ts';
import {
  type FoundPage,
  type FoundPassage,
  type SearchFilter,
  type SearchIndex,
  type SearchQuery,
  type SearchScope,
  SearchUnavailable,
} from '#shared/search/search-index.ts';
import { searchPassages } from '#shared/search/search-passages.ts';
import { similarTo } from '#shared/search/ranking/similar-terms.ts';
import { builtInSynonyms, type Synonyms, synonymsOf } from '#shared/search/ranking/synonyms.ts';

const searchWithinMs = 5_000;
/** Timeout of the check, below the two seconds of a readiness check. */
const checkWithinMs = 1_500;

const keptVersions = 1_000;
const keptCounts = 50_000;
const keptSynonyms = 200;
/** Cached count of a term that occurs nowhere. */
const nowhere = -1;

/** Limit of passages in which similar words are searched. */
const mostSimilarPassages = 30;

/** A search index in Elasticsearch or OpenSearch, for several machines. The first build creates the index. */
export function elasticsearchSearchIndex(settings: ElasticsearchSettings): SearchIndex {
  const connection = connectElasticsearch(settings);
  const whole = indexOf(connection, settings);
  const withinMs = settings.searchWithinMs ?? searchWithinMs;
  /** Cache of version documents, by content version. Each answer is checked against the index before it is returned. */
  const versions = new LRUCache<string, VersionDocument>({ max: keptVersions });
  const candidates = elasticsearchCandidates(settings.product, withinMs);
  const synonyms = new LRUCache<string, Synonyms>({ max: keptSynonyms });
  /** Number of passages of a build with a term. A build never changes. */
  const counts = new LRUCache<string, number>({ max: keptCounts });

  /**
   * The documents with these ids, and the version document with the searched build: of this program's shape, or else of the earlier shape
   * that can be searched.
   */
  async function documents({ call, alias }: ElasticsearchIndex, scope: SearchScope, ids: readonly string[]) {
    const [key, earlierKey] = [versionId(scope), earlierVersionId(scope)];
    const routing = routingOf(scope);
    const docs = [key, earlierKey, ...ids].map((_id) => ({ _id, routing }));
    const request = { index: alias, docs, _source_excludes: ['terms', 'rank', 'synonyms'] };
    const answer = await call('send documents', withinMs, (client, deadline) =>
      client.mget<StoredDocument>(request, { ...deadline, ignore: [404] }),
    );
    const sources = new Map<string, StoredDocument>();
    for (const item of documentsIn(answer)) {
      if ('error' in item && !isMissingIndex(item.error)) {
        throw new SearchUnavailable(`Elasticsearch cannot send documents now: ${item.error.reason ?? item.error.type}`);
      }
      // A document of another site is not shown, whatever the engine sends.
      if ('found' in item && item.found && isOf(scope, item._source)) sources.set(item._id, item._source);
    }
    const stored = sources.get(key) ?? sources.get(earlierKey);
    const version = stored !== undefined && isSearched(stored) ? stored : undefined;
    if (version === undefined) versions.delete(key);
    else versions.set(key, version);
    return { version, sources };
  }

  const versionOf = async (index: ElasticsearchIndex, scope: SearchScope): Promise<VersionDocument | undefined> =>
    (await documents(index, scope, [])).version;

  /** The version document of this program's shape. Builds of other shapes can be searched, but not reused. */
  async function ownVersionOf(index: ElasticsearchIndex, scope: SearchScope): Promise<VersionDocument | undefined> {
    const version = await versionOf(index, scope);
    return version?.shape === documentShape ? version : undefined;
  }

  /**
   * The result of `read` for the searched build. `read` names the documents that it needs; they are fetched together with the version
   * document, so a build that was replaced and is being deleted is detected. Then all is read again from the new build, until the
   * deadline. Undefined when the version is not indexed.
   */
  async function onOneBuild<T>(
    index: ElasticsearchIndex,
    scope: SearchScope,
    read: (version: VersionDocument) => Promise<{ ids: readonly string[]; result: (found: Sources) => T }>,
  ): Promise<T | undefined> {
    let version = versions.get(versionId(scope)) ?? (await versionOf(index, scope));
    while (version !== undefined) {
      const { ids, result } = await read(version);
      const now = await documents(index, scope, ids);
      let searched = now.version;
      // The engine reads the documents one by one. A missing one may have been deleted after its build was replaced, which the version
      // document then shows.
      if (!ids.every((id) => now.sources.has(id))) searched = await versionOf(index, scope);
      if (searched !== undefined && isSameState(searched, version)) return result(now.sources);
      version = searched;
    }
    return undefined;
  }

  /** The synonyms of the build, read once. If the build was replaced meanwhile, they may belong to another build; then the search starts again. */
  async function synonymsOfBuild({ call, alias }: ElasticsearchIndex, version: VersionDocument): Promise<Synonyms> {
    if (version.hasSynonyms !== true) return builtInSynonyms;
    const known = synonyms.get(version.build);
    if (known !== undefined) return known;
    const target = { index: alias, id: idOf(version), routing: routingOf(version) };
    const answer = await call('send synonyms', withinMs, (client, deadline) =>
      client.get<VersionDocument>(
        { ...target, _source_includes: ['build', 'synonyms'] },
        { ...deadline, ignore: [404] },
      ),
    );
    const stored = answer._source;
    if (stored?.build !== version.build) return builtInSynonyms;
    const read = synonymsOf(stored.synonyms);
    synonyms.set(version.build, read);
    return read;
  }

  /** Number of passages of the whole build with each term, independent of the reader; 0 for terms that occur only in links. */
  async function passagesWith(
    index: ElasticsearchIndex,
    version: VersionDocument,
    terms: readonly string[],
  ): Promise<ReadonlyMap<string, number>> {
    const keyOf = (term: string): string => `${version.build} ${term}`;
    const unknown = terms.filter((term) => !counts.has(keyOf(term)));
    if (unknown.length > 0) {
      type Counted = { buckets: Record<string, { doc_count: number }> };
      const inLinks = (each: readonly string[]) => ({ match: { 'terms.link': each.join(' ') } });
      const filters = Object.fromEntries(
        unknown.flatMap((term) => [
          [`passages ${term}`, anyOf([term])],
          [`links ${term}`, inLinks([term])],
        ]),
      );
      const either = { bool: { should: [anyOf(unknown), inLinks(unknown)], minimum_should_match: 1 } };
      const answer = await searchDocuments<never, { terms: Counted }>(index, version, 'count passages', withinMs, {
        size: 0,
        query: { bool: { filter: [...buildFilter(version, 'passage', 'link'), either] } },
        aggs: { terms: { filters: { filters } } },
      });
      const countOf = (key: string): number => answer.aggregations?.terms.buckets[key]?.doc_count ?? 0;
      for (const term of unknown) {
        const passages = countOf(`passages ${term}`);
        counts.set(keyOf(term), passages === 0 && countOf(`links ${term}`) === 0 ? nowhere : passages);
      }
    }
    return new Map(
      terms.map((term) => [term, counts.get(keyOf(term)) ?? nowhere] as const).filter(([, count]) => count !== nowhere),
    );
  }

  /** Terms of the passages that are nearest to a term without passages. */
  async function similarTerms(index: ElasticsearchIndex, version: VersionDocument, term: string): Promise<string[]> {
    const fuzzy = { value: term, fuzziness: term.length > 7 ? 2 : 1, transpositions: true, max_expansions: 50 };
    const { hits } = await searchDocuments<PassageDocument>(index, version, 'find similar words', withinMs, {
      ...{ size: mostSimilarPassages, _source: ['terms'] },
      query: {
        bool: {
          filter: buildFilter(version, 'passage'),
          should: fields.map((field) => ({ fuzzy: { [`terms.${field}`]: fuzzy } })),
          minimum_should_match: 1,
        },
      },
    });
    const all = new Set(
      hits.hits.flatMap(({ _source }) => fields.flatMap((field) => split(_source?.terms[field] ?? ''))),
    );
    const near = similarTo(
      term,
      [...all].map((each) => [each, 0]),
      Number.POSITIVE_INFINITY,
    );
    return similarTo(term, [...(await passagesWith(index, version, near))]);
  }

  /** Path, language and version of the reader's current page, also if its groups exclude the reader. Undefined if the build does not have the page. */
  async function nearPage(index: ElasticsearchIndex, version: VersionDocument, path: string) {
    const id = pageId(buildWith(version, exact(path)), path);
    const found = (await documents(index, version, [id])).sources.get(id);
    if (found?.kind !== 'page') return undefined;
    return { path, language: found.page.language, version: found.page.version };
  }

  async function search(query: SearchQuery): Promise<FoundPassage[]> {
    const index = whole.until(deadlineOf(withinMs));
    const found = await onOneBuild(index, query, async (version) => {
      if (!hasValues(query.filter ?? {}, version)) return { ids: [], result: (): FoundPassage[] => [] };
      let best: readonly Candidate[] = [];
      const { passageCount, averageLength, averagePageLength } = version;
      const passages = await searchPassages<Candidate>(
        {
          synonyms: await synonymsOfBuild(index, version),
          vocabulary: {
            passageCount,
            passagesWith: (terms) => passagesWith(index, version, terms),
            similarTerms: (term) => similarTerms(index, version, term),
          },
          collection: { averageLength, averagePageLength },
          candidates: (terms, reader) => candidates.find(index, version, [...terms.keys()], reader),
          near: (path) => nearPage(index, version, path),
          async texts(some) {
            const ids = some.map(({ id }) => id);
            const { sources } = await documents(index, version, ids);
            return some.map(({ id }) => {
              const source = sources.get(id);
              // A replaced build is detected below.
              if (source?.kind !== 'passage') return '';
              const { title, heading, text } = source.shown;
              return [title, heading, text].join('\n');
            });
          },
          show: async (shown) => {
            best = shown;
            return shown.map(({ page: { path, language, version: ofVersion } }) => {
              return {
                path,
                language,
                version: ofVersion,
                tag: undefined,
                title: '',
                anchor: '',
                heading: '',
                text: '',
              };
            });
          },
        },
        query,
      );
      // The shown texts are fetched last, together with the check that this build is still searched.
      return {
        ids: best.map(({ id }) => id),
        result: (sources) => passages.map((one, at) => ({ ...one, ...shownOf(best[at], sources) })),
      };
    });
    return found ?? [];
  }

  return {
    async startBuild(scope, { from, synonyms = [], signal } = {}) {
      checkScope(scope);
      const index = whole.until(signal);
      await prepareIndex(settings, index);
      await finishRemoval(index, scope);
      const before = from === undefined ? undefined : await ownVersionOf(index, { ...scope, contentVersion: from });
      const earlier = before && (await openEarlierBuild(index, before));
      return buildElasticsearchPassages(index, scope, synonyms, earlier);
    },
    passageCount: async (scope) => (await ownVersionOf(whole, checkScope(scope)))?.passageCount,
    search: (query) => search({ ...query, ...checkScope(query) }),
    async findPage(scope, path, groups) {
      const index = whole.until(deadlineOf(withinMs));
      const page = await onOneBuild(index, checkScope(scope), async (version) => {
        const id = pageId(buildWith(version, exact(path)), path);
        return { ids: [id], result: (sources) => sources.get(id) };
      });
      if (page?.kind !== 'page') return undefined;
      const allowed = new Set([everyone, ...groups.map(groupKey)]);
      if (!page.filters.groups.some((group) => allowed.has(group))) return undefined;
      return shownPage(page);
    },
    async pagesAfter(scope, { after, under, limit }, groups) {
      const index = whole.until(deadlineOf(withinMs));
      const pages = await onOneBuild(index, checkScope(scope), async (version) => {
        const { hits } = await searchDocuments<PageDocument>(index, version, 'list pages', withinMs, {
          size: limit,
          query: {
            bool: {
              filter: [
                ...buildFilter(version, 'page'),
                { terms: { 'filters.groups': [everyone, ...groups.map(groupKey)] } },
                ...(under === '' ? [] : [{ prefix: { 'filters.path': under } }]),
              ],
            },
          },
          sort: [{ 'filters.path': 'asc' }],
          ...(after === '' ? {} : { search_after: [exact(after)] }),
        });
        const found = hits.hits.flatMap(({ _source }) =>
          _source?.kind === 'page' && isOf(scope, _source) ? [shownPage(_source)] : [],
        );
        return { ids: [], result: () => found };
      });
      return pages ?? [];
    },
    // OpenSearch has vectors in another plug-in, with different mappings and queries.
    ...(settings.product === 'elasticsearch' && {
      startVectors: (scope, model, signal) => startElasticsearchVectors(whole.until(signal), checkScope(scope), model),
    }),
    facets: async (scope) => {
      const facets = (await versionOf(whole, checkScope(scope)))?.facets;
      return facets && { ...facets, open: facets.open ?? facets };
    },
    async remove(scope) {
      checkScope(scope);
      versions.delete(versionId(scope));
      try {
        await removeElasticsearchVersion(whole, scope);
      } catch (error) {
        // Without an index there is nothing to remove.
        if (refusalStatus(error) !== 404) throw error;
      }
    },
    async check(use) {
      await whole.call('search', checkWithinMs, (client, deadline) =>
        client.search(
          { index: whole.alias, size: 0, allow_partial_search_results: false, terminate_after: 1 },
          { ...deadline, ignore: [404], maxRetries: 0 },
        ),
      );
      if (use === 'build') await checkBlocks();
    },
    close: () => connection.close(),
  };

  /** A node with a full disk blocks writes to its indices. */
  async function checkBlocks(): Promise<void> {
    const settingsOf = await whole.call('say whether it can be written', checkWithinMs, (client, deadline) =>
      client.indices.getSettings(
        { index: whole.alias, name: 'index.blocks.*', flat_settings: true },
        { ...deadline, ignore: [404], maxRetries: 0 },
      ),
    );
    for (const [index, found] of Object.entries(settingsOf)) {
      const blocks = Object.entries((found as typeof found | null)?.settings ?? {}).filter(
        ([, value]) => String(value) === 'true',
      );
      if (blocks.length === 0) continue;
      const names = blocks.map(([name]) => name).join(', ');
      throw new SearchUnavailable(
        `The index ${index} cannot be written (${names}). Elasticsearch blocks it when a disk is nearly full: make room there.`,
      );
    }
  }
}

const shownPage = ({ page }: PageDocument): FoundPage => {
  const { path, title, language, version, markdown, peoplesMarkdown = markdown } = page;
  return { path, title, language, version, markdown, peoplesMarkdown };
};

type StoredDocument = VersionDocument | PageDocument | PassageDocument;

const isOf = ({ organization, domain }: SearchScope, source: StoredDocument | undefined): source is StoredDocument =>
  source?.organization === organization && source.domain === domain;

const isSearched = (stored: StoredDocument): stored is VersionDocument =>
  (stored.kind === 'searched' || stored.kind === 'version') &&
  !stored.removing &&
  (stored.shape === documentShape || stored.shape === searchedEarlierShape);

const idOf = (version: VersionDocument): string =>
  version.kind === 'searched' ? versionId(version) : earlierVersionId(version);

/** True if the build and its vectors are the same, because vectors may have been added to the build in the meantime. */
const isSameState = (a: VersionDocument, b: VersionDocument): boolean =>
  a.build === b.build && isDeepStrictEqual(a.vectorFacts, b.vectorFacts);

type Sources = ReadonlyMap<string, StoredDocument>;

/** One deadline for all calls of a search. */
function deadlineOf(withinMs: number): AbortSignal {
  const late = new AbortController();
  const reason = new SearchUnavailable(`Elasticsearch did not answer a search within ${withinMs} ms.`);
  setTimeout(() => late.abort(reason), withinMs).unref();
  return late.signal;
}

/** A value that no page has finds nothing, not even pages of all versions or languages. */
function hasValues({ version, language }: SearchFilter, { facets }: VersionDocument): boolean {
  return (
    (version === undefined || facets.versions.includes(version)) &&
    (language === undefined || facets.languages.length === 0 || facets.languages.includes(language))
  );
}

function shownOf(
  candidate: Candidate | undefined,
  sources: Sources,
): PassageDocument['shown'] & { tag: string | undefined } {
  const found = candidate && sources.get(candidate.id);
  if (found?.kind !== 'passage') throw new SearchUnavailable('Elasticsearch found a passage but did not send it.');
  return { ...found.shown, tag: found.shown.tag };
}

/** Ids become parts of document ids and routings, so other characters are refused. */
function checkScope({ organization, domain, contentVersion }: SearchScope): SearchScope {
  for (const id of [organization, domain, contentVersion]) {
    if (!/^[A-Za-z0-9_-]{1,100}$/.test(id)) throw new TypeError(`"${id}" cannot be part of an id of the search index.`);
  }
  return { organization, domain, contentVersion };
}

import type { Client, estypes } from '@elastic/elasticsearch';
import { retryUnavailable, type RetryPolicy } from '#shared/runtime/retry.ts';
import { hourMs, randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { analyzeText } from './analyze-text.ts';
import { type ElasticsearchWriter, isOurMistake, requireMissingIndex } from './elasticsearch-connection.ts';
import type { EarlierBuild } from './elasticsearch-earlier-build.ts';
import {
  documentShape,
  exact,
  filtersOf,
  type LinkDocument,
  linkId,
  type PageDocument,
  pageId,
  type PageSize,
  type PassageDocument,
  passageId,
  routingOf,
  type VectorDocument,
  type VersionDocument,
  versionId,
} from './elasticsearch-schema.ts';
import { joinNames, pageTerms } from './page-terms.ts';
import { fields } from './rank-passages.ts';
import {
  type BuildOptions,
  type IndexBuild,
  type SearchFacets,
  type SearchPage,
  type SearchScope,
  SearchUnavailable,
} from './search-index.ts';

/** No build takes longer. What is older and not searched was left by a process that died, and is removed with the next commit of its domain. */
const longestBuildMs = 2 * hourMs;
const abandonedAfterMs = 2 * longestBuildMs;

const bulkWithinMs = 30_000;
const cleanWithinMs = 60_000;
const abandonWithinMs = 2_000;
const mostBulkCharacters = 2_000_000;

type FilteredPage = Pick<SearchPage, 'path' | 'version' | 'language' | 'tag' | 'groups'>;

/** Of the pages of a build, what they can be filtered by. */
class FoundValues {
  readonly #versions = new Set<string>();
  readonly #languages = new Set<string>();
  readonly #tags = new Set<string>();

  add({ version, language, tag }: FilteredPage): void {
    if (version !== undefined) this.#versions.add(version);
    if (language !== undefined) this.#languages.add(language);
    if (tag !== undefined) this.#tags.add(tag);
  }

  sorted() {
    return {
      versions: [...this.#versions].sort(),
      languages: [...this.#languages].sort(),
      tags: [...this.#tags].sort(),
    };
  }
}

function missing(path: string): never {
  throw new Error(`The earlier build has no page ${path}.`);
}

function idOf(build: string, document: PageDocument | PassageDocument | LinkDocument): string {
  if (document.kind === 'page') return pageId(build, document.page.path);
  return (document.kind === 'passage' ? passageId : linkId)(build, document.filters.path, document.position);
}

const nothing = () => ({ title: 0, path: 0, heading: 0, text: 0 });

/**
 * Writes one build of a content version. Every document has an id of its own within the build: written twice, it is there once. `commit`
 * counts them before it says that the build is searched. `earlier`: pages of it can be taken over.
 */
export function buildElasticsearchPassages(
  writer: ElasticsearchWriter,
  scope: SearchScope,
  { synonyms = [], signal }: Pick<BuildOptions, 'synonyms' | 'signal'> = {},
  earlier?: EarlierBuild,
): IndexBuild {
  const startedAt = Date.now();
  const build = `${startedAt.toString(36)}-${randomBase62(12)}`;
  const { organization, domain, contentVersion } = scope;
  const owner = { organization, domain, contentVersion };
  const bulk = bulkWriter(writer, scope, signal);
  const lengths = nothing();
  const [found, open] = [new FoundValues(), new FoundValues()];
  const paths = new Set<string>();
  let passageCount = 0;
  let linkCount = 0;
  let ended = false;

  async function addPage(page: SearchPage): Promise<void> {
    const { path, language, version, tag, boost } = page;
    const filters = filtersOf(page);
    const { title, names, keywords, path: pathTerms } = pageTerms(page);
    const ofPage = { title: [...title, ...keywords], path: pathTerms };
    const texts = page.passages.map(({ text }) => analyzeText(text));
    const textLength = texts.reduce((sum, { length }) => sum + length, 0);
    const common = { ...owner, build, startedAt, filters };
    const size: PageSize = { passages: page.passages.length, links: 0, lengths: nothing() };
    for (const [position, { anchor, heading, text }] of page.passages.entries()) {
      const terms = { ...ofPage, heading: analyzeText(heading), text: texts[position] ?? [] };
      const passage: PassageDocument = {
        ...{ ...common, kind: 'passage', position },
        terms: { title: '', path: '', heading: '', text: '' },
        rank: {
          ...{ path, language, version, boost, textLength },
          ...{ title: title.join(' '), names: joinNames(names), keywords: keywords.join(' ') },
        },
        shown: { title: page.title, anchor, heading, text, tag },
      };
      for (const field of fields) {
        passage.terms[field] = terms[field].join(' ');
        size.lengths[field] += terms[field].length;
      }
      await bulk.add(passageId(build, filters.path, position), passage);
    }
    for (const { to, text } of page.links) {
      const link = analyzeText(text).join(' ');
      if (link === '') continue;
      const [position, target] = [size.links, exact(to)];
      await bulk.add(linkId(build, filters.path, position), {
        ...common,
        kind: 'link',
        position,
        target,
        terms: { link },
      });
      size.links += 1;
    }
    const pageDocument: PageDocument = {
      ...{ ...common, kind: 'page' },
      page: {
        ...{ path, title: page.title, language, version, key: page.key, size },
        ...{ markdown: page.markdown, peoplesMarkdown: page.peoplesMarkdown },
      },
    };
    await bulk.add(pageId(build, path), pageDocument);
    count(page, size);
  }

  function count(page: FilteredPage, size: PageSize): void {
    paths.add(page.path);
    passageCount += size.passages;
    linkCount += size.links;
    for (const field of fields) lengths[field] += size.lengths[field];
    found.add(page);
    if (page.groups.length === 0) open.add(page);
  }

  return {
    known: new Map([...(earlier?.pages ?? [])].map(([path, { key }]) => [path, key])),
    async add(pages) {
      for (const page of pages) await addPage(page);
    },
    // A build has documents of its own, so that it can be counted and removed as a whole.
    async keep(kept) {
      if (earlier === undefined || kept.length === 0) return;
      for await (const document of earlier.documents(kept)) {
        await bulk.add(idOf(build, document), { ...document, ...owner, build, startedAt });
      }
      for (const path of kept) {
        const { size, filters } = earlier.pages.get(path) ?? missing(path);
        count({ path, ...filters }, size);
      }
    },
    async commit() {
      await bulk.flush();
      await refresh(writer, signal);
      const before = await storedVersion(writer, scope, signal);
      if (before?.document.removing) throw new SearchUnavailable(`${contentVersion} is being removed from the search.`);
      const expected = paths.size + passageCount + linkCount;
      const stored = await countBuild(writer, scope, build, signal);
      if (stored !== expected || Date.now() - startedAt > longestBuildMs) {
        throw new SearchUnavailable(
          `${stored} of ${expected} documents of ${contentVersion} are in the index. It has to be built again.`,
        );
      }
      const averageLength = nothing();
      for (const field of fields) averageLength[field] = passageCount === 0 ? 0 : lengths[field] / passageCount;
      const facets: SearchFacets = { ...found.sorted(), open: open.sorted() };
      const averagePageLength = paths.size === 0 ? 0 : lengths.text / paths.size;
      const averages = { averageLength, averagePageLength };
      const document: VersionDocument = {
        ...{ ...owner, kind: 'version', build, shape: documentShape, passageCount },
        ...{ ...averages, facets },
        ...(synonyms.length > 0 && { synonyms, hasSynonyms: true }),
      };
      // From here on it may be searched, also when the answer gets lost.
      ended = true;
      await storeVersion(writer, scope, document, before, signal);
      // It is searched already. What could not be cleaned now is cleaned with the next commit.
      await removeUnsearched(writer, scope, before?.document, signal).catch(() => {});
      return passageCount;
    },
    async abandon() {
      if (ended) return;
      ended = true;
      const soon = AbortSignal.timeout(abandonWithinMs);
      try {
        await refresh(writer, soon);
        await removeWhere(writer, scope, [{ term: { build } }], soon);
      } catch {
        // As for a process that died: it is not searched, and goes with a later commit.
      }
    },
  };
}

/** Takes a content version out of the search, then removes all that was built of it. A removal that was cut short is continued by the next one. */
export async function removeElasticsearchVersion(
  writer: ElasticsearchWriter,
  scope: SearchScope,
  signal?: AbortSignal,
): Promise<void> {
  const { organization, domain, contentVersion } = scope;
  const before = await storedVersion(writer, scope, signal);
  const gone: VersionDocument = {
    ...{ organization, domain, contentVersion, kind: 'version', build: '', passageCount: 0, removing: true },
    averageLength: nothing(),
    averagePageLength: 0,
    facets: new FoundValues().sorted(),
  };
  if (!before?.document.removing) await storeVersion(writer, scope, gone, before, signal);
  await refresh(writer, signal);
  await removeWhere(writer, scope, [{ term: { contentVersion } }], signal, [{ term: { kind: 'version' } }]);
  const marked = await storedVersion(writer, scope, signal);
  if (!marked?.document.removing) return;
  await writer.call(
    `remove ${contentVersion}`,
    bulkWithinMs,
    (client, deadline) =>
      client.delete(
        {
          ...{ index: writer.alias, id: versionId(scope), routing: routingOf(scope), refresh: true },
          ...{ if_seq_no: marked.sequence, if_primary_term: marked.term },
        },
        { ...deadline, ignore: [404, 409] },
      ),
    signal,
  );
}

/** Finishes a removal that another process began. */
export async function finishRemoval(
  writer: ElasticsearchWriter,
  scope: SearchScope,
  signal?: AbortSignal,
): Promise<void> {
  const stored = await storedVersion(writer, scope, signal);
  if (stored?.document.removing) await removeElasticsearchVersion(writer, scope, signal);
}

type StoredVersion = { document: VersionDocument; sequence: number; term: number };

export async function storedVersion(
  { call, alias }: ElasticsearchWriter,
  scope: SearchScope,
  signal?: AbortSignal,
): Promise<StoredVersion | undefined> {
  const answer = await call(
    `say what is searched of ${scope.domain}`,
    bulkWithinMs,
    (client, deadline) =>
      client.get<VersionDocument>(
        { index: alias, id: versionId(scope), routing: routingOf(scope) },
        { ...deadline, ignore: [404] },
      ),
    signal,
  );
  if ((answer as { found?: boolean } | null)?.found === undefined) requireMissingIndex(answer);
  if (!answer.found || answer._source === undefined) return undefined;
  return { document: answer._source, sequence: answer._seq_no ?? 0, term: answer._primary_term ?? 0 };
}

/** Stores what is searched, unless another process did since `before` was read: then this build may have been removed. */
export async function storeVersion(
  { call, alias }: ElasticsearchWriter,
  scope: SearchScope,
  document: VersionDocument,
  before: StoredVersion | undefined,
  signal?: AbortSignal,
): Promise<void> {
  const guard =
    before === undefined
      ? { op_type: 'create' as const }
      : { if_seq_no: before.sequence, if_primary_term: before.term };
  const target = { index: alias, id: versionId(scope), routing: routingOf(scope), require_alias: true };
  await call(
    `store what is searched of ${scope.domain}`,
    bulkWithinMs,
    (client, deadline) => client.index({ ...target, ...guard, document, refresh: true }, deadline),
    signal,
  );
}

/**
 * Deletes what the commit replaced, and what processes left that died. Never a build that may still be committed. Vectors of the version stay: the new build
 * gets copies of them, and then they go.
 */
async function removeUnsearched(
  writer: ElasticsearchWriter,
  scope: SearchScope,
  replaced: VersionDocument | undefined,
  signal?: AbortSignal,
): Promise<void> {
  const { organization, domain } = scope;
  const answer = await writer.call(
    `list what is searched of ${domain}`,
    bulkWithinMs,
    (client, deadline) =>
      client.search<VersionDocument>(
        {
          ...{ index: writer.alias, routing: routingOf(scope), size: 10_000, _source: ['build'] },
          query: {
            bool: { filter: [{ term: { organization } }, { term: { domain } }, { term: { kind: 'version' } }] },
          },
          allow_partial_search_results: false,
        },
        deadline,
      ),
    signal,
  );
  const searched = answer.hits.hits.flatMap(({ _source }) => _source?.build ?? []);
  const left: estypes.QueryDslQueryContainer[] = [
    { range: { startedAt: { lt: Date.now() - abandonedAfterMs } } },
    ...(replaced === undefined ? [] : [{ term: { build: replaced.build } }]),
  ];
  await removeWhere(writer, scope, [{ bool: { should: left, minimum_should_match: 1 } }], signal, [
    { terms: { build: searched } },
    { terms: { kind: replaced?.vectorFacts === undefined ? ['version'] : ['version', 'vector'] } },
  ]);
}

/** Deletes documents of the scope's domain. Those that are gone already are no error. */
export async function removeWhere(
  { call, alias }: ElasticsearchWriter,
  scope: SearchScope,
  filter: estypes.QueryDslQueryContainer[],
  signal?: AbortSignal,
  mustNot: estypes.QueryDslQueryContainer[] = [],
): Promise<void> {
  const { organization, domain } = scope;
  const query = { bool: { filter: [{ term: { organization } }, { term: { domain } }, ...filter], must_not: mustNot } };
  const where = { index: alias, routing: routingOf(scope), conflicts: 'proceed' as const, refresh: true };
  await call(
    `remove documents of ${domain}`,
    cleanWithinMs,
    (client, deadline) => client.deleteByQuery({ ...where, query }, deadline),
    signal,
  );
}

export async function refresh({ call, alias }: ElasticsearchWriter, signal?: AbortSignal): Promise<void> {
  await call(
    'refresh the index',
    cleanWithinMs,
    (client, deadline) => client.indices.refresh({ index: alias }, deadline),
    signal,
  );
}

async function countBuild(
  { call, alias }: ElasticsearchWriter,
  scope: SearchScope,
  build: string,
  signal?: AbortSignal,
): Promise<number> {
  const { count, _shards } = await call(
    `count the documents of ${scope.domain}`,
    bulkWithinMs,
    (client, deadline) =>
      client.count({ index: alias, routing: routingOf(scope), query: { term: { build } } }, deadline),
    signal,
  );
  if (_shards.failed > 0) throw new SearchUnavailable('Not every shard answered when documents were counted.');
  return count;
}

type BuildDocument = PageDocument | PassageDocument | LinkDocument | VectorDocument;
type BulkOperation = { id: string; document: BuildDocument };

/** Sends documents in portions. Those that the cluster refuses for now, and those of a portion without an answer, are sent again. */
export function bulkWriter({ call, alias, writeWithinMs }: ElasticsearchWriter, scope: SearchScope, signal = never) {
  const retry: RetryPolicy = { firstPauseMs: 200, longestPauseMs: 5_000, giveUpAfterMs: writeWithinMs };
  let waiting: BulkOperation[] = [];
  let characters = 0;

  async function flush(): Promise<void> {
    let left = waiting;
    [waiting, characters] = [[], 0];
    if (left.length === 0) return;
    await retryUnavailable(retry, signal, async () => {
      const answer = await call(
        'store passages',
        bulkWithinMs,
        (client, deadline) => send(client, left, deadline),
        signal,
      );
      const refused = left.filter((_, at) => errorOf(answer.items[at]) !== undefined);
      const [first] = answer.items.flatMap((item) => errorOf(item) ?? []);
      left = refused;
      if (first === undefined) return;
      const said = `${first.reason ?? first.type} (status ${first.status})`;
      if (isOurMistake(first.status)) throw new Error(`Elasticsearch cannot store a passage: ${said}`);
      throw new SearchUnavailable(`Elasticsearch cannot store ${refused.length} passages now: ${said}`);
    });
  }

  function send(client: Client, operations: readonly BulkOperation[], deadline: Parameters<Client['bulk']>[1]) {
    return client.bulk(
      {
        ...{ index: alias, routing: routingOf(scope), require_alias: true },
        operations: operations.flatMap(({ id, document }) => [{ index: { _id: id } }, document]),
      },
      deadline,
    );
  }

  return {
    async add(id: string, document: BuildDocument): Promise<void> {
      const size = 500 + charactersOf(document);
      waiting.push({ id, document });
      characters += size;
      if (characters >= mostBulkCharacters) await flush();
    },
    flush,
  };
}

function charactersOf(document: BuildDocument): number {
  if (document.kind === 'vector') return charactersOfNumber * Object.values(document.vectors ?? {}).flat().length;
  if (document.kind === 'page') return document.page.markdown.length + (document.page.peoplesMarkdown?.length ?? 0);
  return document.kind === 'passage' ? 2 * document.shown.text.length : 0;
}

const charactersOfNumber = 13;

const never = new AbortController().signal;

/** Why a document was refused; undefined when it was stored. An answer that does not name it did not store it. */
function errorOf(item: Partial<Record<string, estypes.BulkResponseItem>> | undefined) {
  const result = item?.index;
  if (result === undefined) return { status: 503, type: 'not_answered', reason: 'the answer lacks it' };
  return result.error === undefined ? undefined : { ...result.error, status: result.status };
}

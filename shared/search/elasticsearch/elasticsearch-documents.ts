import type { estypes } from '@elastic/elasticsearch';
import { retryUnavailable } from '#shared/runtime/retry.ts';
import {
  type ElasticsearchIndex,
  isOurMistake,
  itemsOf,
  requireMissingIndex,
  unlikeElasticsearch,
} from './elasticsearch-connection.ts';
import {
  type LinkDocument,
  type PageDocument,
  type PagesDocument,
  type PassageDocument,
  routingOf,
  type VectorDocument,
} from './elasticsearch-schema.ts';
import { type SearchScope, SearchUnavailable } from '#shared/search/search-index.ts';

const bulkWithinMs = 30_000;
const countWithinMs = 30_000;
const refreshWithinMs = 60_000;
const deleteWithinMs = 60_000;
const mostBulkCharacters = 2_000_000;

type BuildDocument = PageDocument | PagesDocument | PassageDocument | LinkDocument | VectorDocument;
type BulkOperation = { id: string; document: BuildDocument };

/** Repeats a write that is temporarily refused. */
export function retryWrite<T>({ writeWithinMs, signal }: ElasticsearchIndex, write: () => Promise<T>): Promise<T> {
  const policy = { firstPauseMs: 200, longestPauseMs: 5_000, giveUpAfterMs: writeWithinMs };
  return retryUnavailable(policy, signal, write);
}

/**
 * Sends documents in batches. Documents that the cluster temporarily refuses, and those of a batch without an answer, are sent again.
 * `before` is awaited before each batch.
 */
export function bulkWriter(
  index: ElasticsearchIndex,
  scope: SearchScope,
  before: () => Promise<void> = async () => {},
) {
  let waiting: BulkOperation[] = [];
  let characters = 0;

  async function flush(): Promise<void> {
    let left = waiting;
    [waiting, characters] = [[], 0];
    if (left.length === 0) return;
    await before();
    await retryWrite(index, async () => {
      const operations = left.flatMap(({ id, document }) => [{ index: { _id: id } }, document]);
      const target = { index: index.alias, routing: routingOf(scope), require_alias: true };
      const answer = await index.call('store passages', bulkWithinMs, (client, deadline) =>
        client.bulk({ ...target, operations }, deadline),
      );
      const items = itemsOf(answer.items);
      const failures = left.flatMap((operation, at) => {
        const error = errorOf(items[at]);
        return error === undefined ? [] : [{ operation, error }];
      });
      left = failures.map(({ operation }) => operation);
      const first = failures[0]?.error;
      if (first === undefined) return;
      const said = `${first.reason ?? first.type} (status ${first.status})`;
      if (isOurMistake(first.status)) throw new Error(`Elasticsearch cannot store a passage: ${said}`);
      throw new SearchUnavailable(`Elasticsearch cannot store ${failures.length} passages now: ${said}`);
    });
  }

  return {
    async add(id: string, document: BuildDocument): Promise<void> {
      waiting.push({ id, document });
      characters += 500 + charactersOf(document);
      if (characters >= mostBulkCharacters) await flush();
    },
    flush,
  };
}

function charactersOf(document: BuildDocument): number {
  if (document.kind === 'vector') return charactersOfNumber * Object.values(document.vectors ?? {}).flat().length;
  if (document.kind === 'pages') return 300 * document.pages.length;
  if (document.kind === 'page') return document.page.markdown.length + (document.page.peoplesMarkdown?.length ?? 0);
  return document.kind === 'passage' ? 2 * document.shown.text.length : 0;
}

const charactersOfNumber = 13;

/** The reason why a document was refused; undefined when it was stored. A document that is missing in the answer was not stored. */
function errorOf(item: Partial<Record<string, estypes.BulkResponseItem>> | undefined) {
  const result = item?.index;
  if (result === undefined) return { status: 503, type: 'not_answered', reason: 'the answer lacks it' };
  return result.error === undefined ? undefined : { ...result.error, status: result.status };
}

/** Makes all documents written so far searchable. */
export async function refresh({ call, alias }: ElasticsearchIndex): Promise<void> {
  await call('refresh the index', refreshWithinMs, (client, deadline) =>
    client.indices.refresh({ index: alias }, deadline),
  );
}

const readWithinMs = 30_000;

export type GuardedDocument<T> = { document: T; sequence: number; term: number };

/** Reads a document with the numbers that guard its next write; undefined when there is none. `what` names the call in errors. */
export async function storedDocument<T>(
  { call, alias }: ElasticsearchIndex,
  scope: SearchScope,
  what: string,
  id: string,
): Promise<GuardedDocument<T> | undefined> {
  const answer = await call(what, readWithinMs, (client, deadline) =>
    client.get<T>({ index: alias, id, routing: routingOf(scope) }, { ...deadline, ignore: [404] }),
  );
  if ((answer as { found?: boolean } | null)?.found === undefined) requireMissingIndex(answer);
  if (!answer.found || answer._source === undefined) return undefined;
  return { document: answer._source, sequence: answer._seq_no ?? 0, term: answer._primary_term ?? 0 };
}

/** Lets a write succeed only if the document is still as it was read, or still missing. */
export const unchangedSince = (read: GuardedDocument<unknown> | undefined) =>
  read === undefined ? { op_type: 'create' as const } : { if_seq_no: read.sequence, if_primary_term: read.term };

/** Searches the documents of the scope's domain. `what` names the call in errors. */
export async function searchDocuments<Document, Aggregations = never>(
  { call, alias }: ElasticsearchIndex,
  scope: SearchScope,
  what: string,
  withinMs: number,
  request: estypes.SearchRequest,
) {
  const all = { index: alias, routing: routingOf(scope), track_total_hits: false, allow_partial_search_results: false };
  const answer = await call(what, withinMs, (client, deadline) =>
    client.search<Document, Aggregations>({ ...all, ...request }, deadline),
  );
  // Elasticsearch may leave out empty lists.
  const { hits } = answer as { hits?: { hits?: readonly object[] } };
  if (hits !== undefined) itemsOf(hits.hits ?? []);
  if (answer.timed_out) throw new SearchUnavailable(`Elasticsearch did not ${what} completely in time.`);
  return answer;
}

/** All hits of a sorted search, page by page. A cluster that sends a page twice might never end its list, so it counts as unavailable. */
export async function* everyHit<Document>(
  index: ElasticsearchIndex,
  scope: SearchScope,
  what: string,
  withinMs: number,
  request: estypes.SearchRequest & { size: number; sort: estypes.Sort },
): AsyncGenerator<estypes.SearchHit<Document>> {
  const places = new Set<string>();
  for (let after: estypes.SortResults | undefined; ; ) {
    const page = { ...request, ...(after && { search_after: after }) };
    const answer = await searchDocuments<Document>(index, scope, what, withinMs, page);
    const hits = (answer as Partial<typeof answer>).hits?.hits;
    if (hits === undefined) throw unlikeElasticsearch();
    yield* hits;
    after = hits.at(-1)?.sort;
    if (hits.length < request.size || after === undefined) return;
    const place = JSON.stringify(after);
    if (places.has(place)) throw new SearchUnavailable(`Elasticsearch did not ${what}: it sent the same page twice.`);
    places.add(place);
  }
}

/** Number of documents of the scope's domain that match the filter. */
export async function countWhere(
  { call, alias }: ElasticsearchIndex,
  scope: SearchScope,
  filter: estypes.QueryDslQueryContainer[],
): Promise<number> {
  const { count, _shards } = await call(`count the documents of ${scope.domain}`, countWithinMs, (client, deadline) =>
    client.count({ index: alias, routing: routingOf(scope), query: { bool: { filter } } }, deadline),
  );
  if (!Number.isInteger(count) || !Number.isInteger(_shards?.failed)) throw unlikeElasticsearch();
  if (_shards.failed > 0) throw new SearchUnavailable('Not every shard answered when documents were counted.');
  return count;
}

/** Deletes documents of the scope's domain. Documents that are deleted already cause no error. */
export async function removeWhere(
  { call, alias }: ElasticsearchIndex,
  scope: SearchScope,
  filter: estypes.QueryDslQueryContainer[],
  mustNot: estypes.QueryDslQueryContainer[] = [],
): Promise<void> {
  const { organization, domain } = scope;
  const query = { bool: { filter: [{ term: { organization } }, { term: { domain } }, ...filter], must_not: mustNot } };
  const where = { index: alias, routing: routingOf(scope), conflicts: 'proceed' as const, refresh: true };
  await call(`remove documents of ${domain}`, deleteWithinMs, (client, deadline) =>
    client.deleteByQuery({ ...where, query }, deadline),
  );
}

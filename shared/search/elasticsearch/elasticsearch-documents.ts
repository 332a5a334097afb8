import type { Client, estypes } from '@elastic/elasticsearch';
import { retryUnavailable, type RetryPolicy } from '#shared/runtime/retry.ts';
import { type ElasticsearchWriter, isOurMistake } from './elasticsearch-connection.ts';
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

export const writeRetry = ({ writeWithinMs }: ElasticsearchWriter): RetryPolicy => ({
  firstPauseMs: 200,
  longestPauseMs: 5_000,
  giveUpAfterMs: writeWithinMs,
});

/**
 * Sends documents in batches. Documents that the cluster temporarily refuses, and those of a batch without an answer, are sent again.
 * `before` is awaited before each batch.
 */
export function bulkWriter(
  writer: ElasticsearchWriter,
  scope: SearchScope,
  signal: AbortSignal = never,
  before: () => Promise<void> = async () => {},
) {
  const { call, alias } = writer;
  const retry = writeRetry(writer);
  let waiting: BulkOperation[] = [];
  let characters = 0;

  async function flush(): Promise<void> {
    let left = waiting;
    [waiting, characters] = [[], 0];
    if (left.length === 0) return;
    await before();
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
  if (document.kind === 'pages') return 300 * document.pages.length;
  if (document.kind === 'page') return document.page.markdown.length + (document.page.peoplesMarkdown?.length ?? 0);
  return document.kind === 'passage' ? 2 * document.shown.text.length : 0;
}

const charactersOfNumber = 13;

const never = new AbortController().signal;

/** The reason why a document was refused; undefined when it was stored. A document that is missing in the answer was not stored. */
function errorOf(item: Partial<Record<string, estypes.BulkResponseItem>> | undefined) {
  const result = item?.index;
  if (result === undefined) return { status: 503, type: 'not_answered', reason: 'the answer lacks it' };
  return result.error === undefined ? undefined : { ...result.error, status: result.status };
}

/** Makes all documents written so far searchable. */
export async function refresh({ call, alias }: ElasticsearchWriter, signal?: AbortSignal): Promise<void> {
  await call(
    'refresh the index',
    refreshWithinMs,
    (client, deadline) => client.indices.refresh({ index: alias }, deadline),
    signal,
  );
}

/** Number of documents of the scope's domain that match the filter. */
export async function countWhere(
  { call, alias }: ElasticsearchWriter,
  scope: SearchScope,
  filter: estypes.QueryDslQueryContainer[],
  signal?: AbortSignal,
): Promise<number> {
  const { count, _shards } = await call(
    `count the documents of ${scope.domain}`,
    countWithinMs,
    (client, deadline) =>
      client.count({ index: alias, routing: routingOf(scope), query: { bool: { filter } } }, deadline),
    signal,
  );
  if (_shards.failed > 0) throw new SearchUnavailable('Not every shard answered when documents were counted.');
  return count;
}

/** Deletes documents of the scope's domain. Documents that are deleted already cause no error. */
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
    deleteWithinMs,
    (client, deadline) => client.deleteByQuery({ ...where, query }, deadline),
    signal,
  );
}

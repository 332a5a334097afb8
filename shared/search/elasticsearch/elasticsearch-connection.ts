import { Client, type ClientOptions, errors, Transport } from '@elastic/elasticsearch';
import { messageOf } from '#shared/runtime/failures.ts';
import { SearchUnavailable } from '#shared/search/search-index.ts';

export type ElasticsearchSettings = {
  product: 'elasticsearch' | 'opensearch';
  /** Addresses of the nodes. */
  nodes: readonly string[];
  auth?: { username: string; password: string } | { apiKey: string } | undefined;
  /** Certificates (PEM) of the authorities to trust instead of Node's. */
  authorities?: string | undefined;
  /** Prefix of the names of the index and its alias. */
  prefix: string;
  /** Number of shards of a new index. */
  shards: number;
  replicas: number;
  /** Timeout of a whole search, 5 seconds by default. */
  searchWithinMs?: number | undefined;
  /** Time for which refused or unanswered writes are retried, a minute by default. */
  writeWithinMs?: number | undefined;
};

/** Options that make a call of the client end in time. */
type Deadline = { signal: AbortSignal; requestTimeout: number; retryBackoff: () => number };

/** Makes every call end: with its answer, at its deadline, or with the reason of the caller's signal. */
export type ElasticsearchCall = <T>(
  what: string,
  withinMs: number,
  ask: (client: Client, deadline: Deadline) => Promise<T>,
) => Promise<T>;

/** The index of all passages, for one caller: the calls end when its signal aborts. */
export type ElasticsearchIndex = {
  call: ElasticsearchCall;
  alias: string;
  signal: AbortSignal | undefined;
  /** Time for which a batch that is temporarily refused is retried. */
  writeWithinMs: number;
  /** The same index for a caller with another signal; without one, only deadlines end its calls. */
  until(signal?: AbortSignal): ElasticsearchIndex;
};

export type ElasticsearchConnection = {
  callUntil: (signal?: AbortSignal) => ElasticsearchCall;
  close(): Promise<void>;
};

const writeWithinMs = 60_000;

/** The name that readers and writers use. */
export const aliasOf = ({ prefix }: Pick<ElasticsearchSettings, 'prefix'>): string => `${prefix}-passages`;

/** The index of an installation, for callers without a signal. */
export function indexOf({ callUntil }: ElasticsearchConnection, settings: ElasticsearchSettings): ElasticsearchIndex {
  const { writeWithinMs: within = writeWithinMs } = settings;
  const until = (signal?: AbortSignal): ElasticsearchIndex => ({
    ...{ call: callUntil(signal), alias: aliasOf(settings), signal, writeWithinMs: within, until },
  });
  return until();
}

/** Connects lazily: the first call contacts the cluster. */
export function connectElasticsearch(settings: ElasticsearchSettings): ElasticsearchConnection {
  const { nodes, auth, authorities, product } = settings;
  const options: ClientOptions = {
    nodes: [...nodes],
    ...(auth === undefined ? {} : { auth }),
    ...(authorities === undefined ? {} : { tls: { ca: authorities } }),
    ...(product === 'opensearch' ? { Transport: OpenSearchTransport } : {}),
    // Retries use another node, or a new connection to the same one after a restart, within the deadline of the call.
    maxRetries: Math.max(1, nodes.length - 1),
    maxResponseSize: mostAnswerBytes,
    // The client does not request compressed answers, and a megabyte of compressed data may fill the memory.
    maxCompressedResponseSize: 0,
    resurrectStrategy: 'optimistic',
  };
  const client = new Client(options);

  return {
    callUntil: (signal) => async (what, withinMs, ask) => {
      signal?.throwIfAborted();
      const late = AbortSignal.timeout(withinMs);
      const ended = signal === undefined ? late : AbortSignal.any([signal, late]);
      try {
        const answer = await ask(client, { signal: ended, requestTimeout: withinMs, retryBackoff: atOnce });
        if (!isAnswer(answer)) throw unlikeElasticsearch();
        return answer;
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        if (late.aborted) {
          throw new SearchUnavailable(`${nameOf(product)} did not ${what} within ${withinMs} ms.`, { cause: error });
        }
        throw failureOf(error, what, product);
      }
    },
    close: () => client.close(),
  };
}

/** Limit of an answer. The largest have a thousand passages, or vectors of two hundred. */
const mostAnswerBytes = 64_000_000;

/** Answers are objects, or lists from `_cat`; answers to existence checks are true or false. */
const isAnswer = (answer: unknown): boolean =>
  typeof answer === 'boolean' || (typeof answer === 'object' && answer !== null);

export const unlikeElasticsearch = (): SearchUnavailable =>
  new SearchUnavailable('The server at the address of Elasticsearch does not answer like Elasticsearch.');

/** The items of a list in an answer. @throws SearchUnavailable when it is no list of objects */
export function itemsOf<T>(list: readonly T[] | undefined): readonly T[] {
  const isList = Array.isArray(list) && list.every((item) => typeof item === 'object' && item !== null);
  if (!isList) throw unlikeElasticsearch();
  return list;
}

/** Pause before the client retries, in seconds. Callers with more time retry calls themselves. */
const atOnce = (): number => 0;

/** OpenSearch reports another product name and does not know Elastic's own media types. */
class OpenSearchTransport extends Transport {
  constructor({ vendoredHeaders, productCheck, ...options }: ConstructorParameters<typeof Transport>[0]) {
    super(options);
  }
}

const nameOf = (product: ElasticsearchSettings['product']): string =>
  product === 'opensearch' ? 'OpenSearch' : 'Elasticsearch';

/** HTTP status of the answer that refused a call; undefined when there was none. */
export function refusalStatus(error: unknown): number | undefined {
  if (error instanceof errors.ResponseError) return error.statusCode;
  return error instanceof Error && error.cause !== undefined ? refusalStatus(error.cause) : undefined;
}

export const isMissingIndex = ({ type }: { type?: string | undefined }): boolean =>
  type === 'index_not_found_exception';

/**
 * Checks that an answer really reports a missing index. A missing index is a valid answer, but a proxy in front of the cluster may also answer 404,
 * or answer without an error.
 * @throws SearchUnavailable when an answer without the requested content does not explain why
 */
export function requireMissingIndex(answer: unknown): void {
  const error = (answer as { error?: unknown } | null)?.error;
  if (typeof error === 'object' && error !== null && isMissingIndex(error)) return;
  throw unlikeElasticsearch();
}

/** The documents in an answer; none when there is no index. @throws SearchUnavailable as `requireMissingIndex` */
export function documentsIn<T>({ docs, ...answer }: { docs?: T[] }): readonly T[] {
  if (docs !== undefined) return itemsOf(docs);
  requireMissingIndex(answer);
  return [];
}

/** True for a refused request or document that is invalid, so that no retry can help. */
export const isOurMistake = (status: number | undefined): boolean => status === 400 || status === 413;

/** The error as the port specifies it: `SearchUnavailable` unless the request itself is wrong. The client's error is the `cause`. */
function failureOf(error: unknown, what: string, product: ElasticsearchSettings['product']): unknown {
  if (error instanceof SearchUnavailable || !(error instanceof Error)) return error;
  const name = nameOf(product);
  if (error instanceof errors.ProductNotSupportedError) {
    const advice = 'If it is OpenSearch, set BINDERY_SEARCH_ENGINE=opensearch.';
    return new SearchUnavailable(`The server does not say that it is Elasticsearch 8.14 or later. ${advice}`, {
      cause: error,
    });
  }
  const status = refusalStatus(error);
  if (isOurMistake(status)) return new Error(`${name} cannot ${what}: ${messageOf(error)}`, { cause: error });
  if (status === undefined && !(error instanceof errors.ElasticsearchClientError)) return error;
  const reason = status === undefined ? messageOf(error) || error.name : `${messageOf(error)} (status ${status})`;
  return new SearchUnavailable(`${name} cannot ${what} now: ${reason.slice(0, longestReason)}`, { cause: error });
}

const longestReason = 500;

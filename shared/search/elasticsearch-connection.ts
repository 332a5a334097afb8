import { Client, type ClientOptions, errors, Transport } from '@elastic/elasticsearch';
import { messageOf } from '#shared/runtime/failures.ts';
import { SearchUnavailable } from './search-index.ts';

export type ElasticsearchSettings = {
  product: 'elasticsearch' | 'opensearch';
  /** Addresses of the nodes to ask. */
  nodes: readonly string[];
  auth?: { username: string; password: string } | { apiKey: string } | undefined;
  /** Certificates (PEM) of the authorities to trust instead of those that Node knows. */
  authorities?: string | undefined;
  /** The index and its alias begin with it. */
  prefix: string;
  /** Of an index that is created. */
  shards: number;
  replicas: number;
  /** How long a search may take altogether, 5 seconds by default. */
  searchWithinMs?: number | undefined;
  /** How long writes are repeated that the cluster refuses or does not answer, a minute by default. */
  writeWithinMs?: number | undefined;
};

/** What a call of the client needs to end in time. */
type Deadline = { signal: AbortSignal; requestTimeout: number; retryBackoff: () => number };

/** Makes every call end: with its answer, at its deadline, or with the reason of the caller's signal. */
export type ElasticsearchCall = <T>(
  what: string,
  withinMs: number,
  ask: (client: Client, deadline: Deadline) => Promise<T>,
  signal?: AbortSignal,
) => Promise<T>;

/** What writing needs. A portion that is refused for now is sent again for so long. */
export type ElasticsearchWriter = { call: ElasticsearchCall; alias: string; writeWithinMs: number };

export type ElasticsearchConnection = { call: ElasticsearchCall; close(): Promise<void> };

/** Nothing is contacted before the first call. */
export function connectElasticsearch(settings: ElasticsearchSettings): ElasticsearchConnection {
  const { nodes, auth, authorities, product } = settings;
  const options: ClientOptions = {
    nodes: [...nodes],
    ...(auth === undefined ? {} : { auth }),
    ...(authorities === undefined ? {} : { tls: { ca: authorities } }),
    ...(product === 'opensearch' ? { Transport: OpenSearchTransport } : {}),
    // Another node, or a new connection to the same one after a restart. Within the deadline of the call.
    maxRetries: Math.max(1, nodes.length - 1),
    resurrectStrategy: 'optimistic',
  };
  const client = new Client(options);

  return {
    async call(what, withinMs, ask, signal) {
      signal?.throwIfAborted();
      const late = AbortSignal.timeout(withinMs);
      const ended = signal === undefined ? late : AbortSignal.any([signal, late]);
      try {
        return await ask(client, { signal: ended, requestTimeout: withinMs, retryBackoff: atOnce });
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

/** Pause before the client asks again, in seconds. Who has time to wait repeats calls itself. */
const atOnce = (): number => 0;

/** OpenSearch says another product and knows none of Elastic's own media types. */
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
 * That the cluster has no index is an answer; that there is nothing at this address is none. Something between us and the cluster says 404, too, or
 * answers without an error.
 * @throws SearchUnavailable where an answer that lacks what was asked for does not say why
 */
export function requireMissingIndex(answer: unknown): void {
  const error = (answer as { error?: unknown } | null)?.error;
  if (typeof error === 'object' && error !== null && isMissingIndex(error)) return;
  throw new SearchUnavailable('What answers at the address of Elasticsearch does not answer as it does.');
}

/** Of an answer to a request for documents; none where there is no index. @throws SearchUnavailable as `requireMissingIndex` */
export function documentsIn<T>(answer: { docs?: T[] }): T[] {
  const docs = (answer as { docs?: T[] } | null)?.docs;
  if (docs === undefined) requireMissingIndex(answer);
  return docs ?? [];
}

/** A refused request or document that is wrong will stay wrong: only then no later try helps. */
export const isOurMistake = (status: number | undefined): boolean => status === 400 || status === 413;

/** As the port promises it: `SearchUnavailable` unless the request itself is wrong. The client's error is the `cause`. */
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

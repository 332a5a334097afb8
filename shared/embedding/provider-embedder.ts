import { APICallError, type EmbeddingModel, embedMany } from 'ai';
import { type Embedder, EmbedderRefused, EmbedderUnavailable, TextsRefused, unitVector } from './embedder.ts';

export type ProviderEmbedderSettings = {
  model: Exclude<EmbeddingModel, string>;
  /** Name of the model. */
  name: string;
  /** Length of its vectors, if it is known before its first answer. */
  dimensions?: number | undefined;
  limits: Embedder['limits'];
  /** Limit of one text, in characters. A longer text is cut. */
  longestText: number;
  /** The settings to name in errors. */
  variables: { key: string; address: string };
};

/** Limit of the response with the vectors of so many texts: for 32 or fewer, vectors of 16,000 numbers; for more, of 4,096. */
export const mostVectorBytes = (texts: number): number => Math.max(16_000_000, texts * 125_000);
const longestRetryAfterMs = 3_600_000;
/** Vectors from a provider of the AI SDK. */
export function providerEmbedder(settings: ProviderEmbedderSettings): Embedder {
  const { model, name, limits, longestText, variables } = settings;
  let { dimensions } = settings;
  return {
    name,
    limits,
    get dimensions() {
      return dimensions;
    },
    async embed(texts, signal) {
      if (texts.length === 0) return [];
      const values = texts.map((text) => text.slice(0, longestText).toWellFormed());
      let embeddings: number[][];
      try {
        // Callers have their own retry policies.
        ({ embeddings } = await embedMany({ model, values, maxRetries: 0, abortSignal: signal }));
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        throw failureOf(error, name, variables);
      }
      const vectors = embeddings.map((numbers) => {
        const vector = unitVector(numbers);
        if (vector === undefined) throw new EmbedderUnavailable(`The embedder "${name}" sent an invalid vector.`);
        return vector;
      });
      // Only valid answers say the length: one invalid answer of a server that starts must not make all later ones wrong.
      const length = dimensions ?? vectors[0]?.length;
      const other = vectors.find((vector) => vector.length !== length);
      if (other !== undefined)
        throw new EmbedderRefused(
          `The embedder "${name}" sent a vector of ${other.length} numbers instead of ${length}. Set BINDERY_EMBEDDING_MODEL to the model that answers at ${variables.address}, and publish again: vectors of another model are then made again.`,
        );
      dimensions = length;
      return vectors;
    },
  };
}

/** Errors of the SDK contain the texts and the provider's message, which may repeat them. Only the status and the delay are passed on. */
function failureOf(error: unknown, name: string, { key, address }: ProviderEmbedderSettings['variables']): Error {
  const { statusCode: status, responseHeaders, responseBody = '' } = APICallError.isInstance(error) ? error : {};
  const isCut = APICallError.isInstance(error) && status === undefined;
  if (isCut) return new EmbedderUnavailable(`The embedder "${name}" cannot be reached.`);
  if (status === undefined || status < 400) {
    // The answer is not JSON, has other fields than vectors, or another number of vectors than texts, which the SDK detects.
    return new EmbedderUnavailable(`The embedder "${name}" sent an unreadable answer.`);
  }
  const said = `The embedder "${name}" answered ${status}`;
  if (status === 401 || status === 403) return new EmbedderRefused(`${said}: it refuses ${key}.`);
  if (status === 402) return new EmbedderRefused(`${said}: the account of ${key} has no budget left.`);
  // Mistral answers 400 for a model that it does not know.
  if (status === 404 || (status === 400 && /invalid[_ ]model/i.test(responseBody))) {
    return new EmbedderRefused(
      `${said}: there is no such model, or the server at ${address} has no embeddings. Set BINDERY_EMBEDDING_MODEL to one that it has, or to "none".`,
    );
  }
  if (status === 400 || status === 413 || status === 422) return new TextsRefused(`${said}: it refuses these texts.`);
  return new EmbedderUnavailable(`${said}.`, retryAfterMs(responseHeaders?.['retry-after']));
}

/** The delay of the header `retry-after`, which has seconds or a date. */
function retryAfterMs(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, longestRetryAfterMs) : undefined;
}

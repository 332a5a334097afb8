import { createMistral } from '@ai-sdk/mistral';
import { APICallError, embedMany } from 'ai';
import { boundedFetch } from '#shared/http/bounded-fetch.ts';
import { type Embedder, EmbedderRefused, EmbedderUnavailable, TextsRefused, unitVector } from './embedder.ts';

type MistralEmbedderSettings = { model: string; apiKey: string; baseUrl: string };

const knownDimensions: Readonly<Record<string, number>> = { 'mistral-embed': 1_024 };

/**
 * A call takes at most 32 texts, by the provider's SDK, and 16,384 tokens, by https://docs.mistral.ai/api/#tag/embeddings. A token has 1.5
 * characters or more, in Chinese too.
 */
const limits = { texts: 32, characters: 24_000 };
/** A text may have 8,192 tokens at most. */
const longestText = 12_000;
const longestRetryAfterMs = 3_600_000;
/** Enough for 32 vectors of 16,000 numbers. */
const mostAnswerBytes = 16_000_000;

/** Vectors from `POST /embeddings` of Mistral, or of a server with the same API. */
export function mistralEmbedder({ model: name, apiKey, baseUrl }: MistralEmbedderSettings): Embedder {
  const model = createMistral({ apiKey, baseURL: baseUrl, fetch: boundedFetch(mostAnswerBytes) }).embeddingModel(name);
  let dimensions = knownDimensions[name];
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
        throw failureOf(error, name);
      }
      return embeddings.map((numbers) => {
        dimensions ??= numbers.length;
        if (numbers.length !== dimensions) {
          throw new EmbedderRefused(
            `The embedder "${name}" sent a vector of ${numbers.length} numbers instead of ${dimensions}. Set BINDERY_EMBEDDING_MODEL to the model that answers at BINDERY_MISTRAL_BASE_URL.`,
          );
        }
        const vector = unitVector(numbers);
        if (vector === undefined) throw new EmbedderUnavailable(`The embedder "${name}" sent an invalid vector.`);
        return vector;
      });
    },
  };
}

/** Errors of the SDK contain the texts and the provider's message, which may repeat them. Only the status and the delay are passed on. */
function failureOf(error: unknown, name: string): Error {
  const { statusCode: status, responseHeaders, responseBody = '' } = APICallError.isInstance(error) ? error : {};
  const isCut = APICallError.isInstance(error) && status === undefined;
  if (isCut) return new EmbedderUnavailable(`The embedder "${name}" cannot be reached.`);
  if (status === undefined || status < 400) {
    // The answer is not JSON, has other fields than vectors, or another number of vectors than texts, which the SDK detects.
    return new EmbedderUnavailable(`The embedder "${name}" sent an unreadable answer.`);
  }
  const said = `The embedder "${name}" answered ${status}`;
  if (status === 401 || status === 403) return new EmbedderRefused(`${said}: it refuses BINDERY_MISTRAL_API_KEY.`);
  if (status === 402) return new EmbedderRefused(`${said}: the account of BINDERY_MISTRAL_API_KEY has no budget left.`);
  // Mistral answers 400 for a model that it does not know.
  if (status === 404 || (status === 400 && /invalid[_ ]model/i.test(responseBody))) {
    return new EmbedderRefused(
      `${said}: there is no such model, or the server at BINDERY_MISTRAL_BASE_URL has no embeddings. Set BINDERY_EMBEDDING_MODEL to one that it has, or to "none".`,
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

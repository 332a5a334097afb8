import { createMistral } from '@ai-sdk/mistral';
import { APICallError, embedMany } from 'ai';
import { fetchOfModel } from '#shared/http/fetch-of-model.ts';
import { type Embedder, EmbedderRefused, EmbedderUnavailable, TextsRefused, unitVector } from './embedder.ts';

type MistralEmbedderSettings = { model: string; apiKey: string; baseUrl: string };

const knownDimensions: Readonly<Record<string, number>> = { 'mistral-embed': 1_024 };

/**
 * At most 32 texts in a call, by the provider's SDK, and 16,384 tokens, by https://docs.mistral.ai/api/#tag/embeddings. A token has 1.5 characters or more,
 * in Chinese too.
 */
const limits = { texts: 32, characters: 24_000 };
/** 8,192 tokens are the most for one text. */
const longestText = 12_000;
const longestRetryAfterMs = 3_600_000;
/** Some 32 vectors of 16,000 numbers. */
const mostAnswerBytes = 16_000_000;

/** Vectors from `POST /embeddings` of Mistral, or of a server that speaks the same. */
export function mistralEmbedder({ model: name, apiKey, baseUrl }: MistralEmbedderSettings): Embedder {
  const model = createMistral({ apiKey, baseURL: baseUrl, fetch: fetchOfModel(mostAnswerBytes) }).embeddingModel(name);
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
        // Whoever calls has a retry policy of its own.
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
        if (vector === undefined) throw new EmbedderUnavailable(`The embedder "${name}" sent a vector that is none.`);
        return vector;
      });
    },
  };
}

/** Errors of the SDK carry the texts and what the provider said, which may repeat them. Only the status and the time to wait are passed on. */
function failureOf(error: unknown, name: string): Error {
  const { statusCode: status, responseHeaders, responseBody = '' } = APICallError.isInstance(error) ? error : {};
  const isCut = APICallError.isInstance(error) && status === undefined;
  if (isCut) return new EmbedderUnavailable(`The embedder "${name}" cannot be reached.`);
  if (status === undefined || status < 400) {
    // No JSON, other fields than vectors, or more or fewer of them than texts, which the SDK finds.
    return new EmbedderUnavailable(`The embedder "${name}" sent no answer that can be read.`);
  }
  const said = `The embedder "${name}" answered ${status}`;
  if (status === 401 || status === 403)
    return new EmbedderRefused(`${said}: it does not take BINDERY_MISTRAL_API_KEY.`);
  if (status === 402) return new EmbedderRefused(`${said}: the account of BINDERY_MISTRAL_API_KEY has no budget left.`);
  // For a model that it does not know Mistral answers 400.
  if (status === 404 || (status === 400 && /invalid[_ ]model/i.test(responseBody))) {
    return new EmbedderRefused(
      `${said}: there is no such model, or the server at BINDERY_MISTRAL_BASE_URL has no embeddings. Set BINDERY_EMBEDDING_MODEL to one that it has, or to "none".`,
    );
  }
  if (status === 400 || status === 413 || status === 422)
    return new TextsRefused(`${said}: it does not take these texts.`);
  return new EmbedderUnavailable(`${said}.`, retryAfterMs(responseHeaders?.['retry-after']));
}

/** Of the header `retry-after`: seconds, or a date. */
function retryAfterMs(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, longestRetryAfterMs) : undefined;
}

import { createMistral } from '@ai-sdk/mistral';
import { boundedFetch } from '#shared/http/bounded-fetch.ts';
import type { Embedder } from './embedder.ts';
import { mostVectorBytes, providerEmbedder } from './provider-embedder.ts';

type MistralEmbedderSettings = { model: string; apiKey: string; baseUrl: string };

const knownDimensions: Readonly<Record<string, number>> = { 'mistral-embed': 1_024 };

/**
 * A call takes at most 32 texts, by the provider's SDK, and 16,384 tokens, by https://docs.mistral.ai/api/#tag/embeddings. A token has 1.5
 * characters or more, in Chinese too.
 */
const limits = { texts: 32, characters: 24_000 };
/** A text may have 8,192 tokens at most. */
const longestText = 12_000;

/** Vectors from `POST /embeddings` of Mistral, or of a server with the same API. */
export const mistralEmbedder = ({ model: name, apiKey, baseUrl }: MistralEmbedderSettings): Embedder =>
  providerEmbedder({
    ...{ name, dimensions: knownDimensions[name], limits, longestText },
    model: createMistral({
      apiKey,
      baseURL: baseUrl,
      fetch: boundedFetch(mostVectorBytes(limits.texts)),
    }).embeddingModel(name),
    variables: { key: 'BINDERY_MISTRAL_API_KEY', address: 'BINDERY_MISTRAL_BASE_URL' },
  });

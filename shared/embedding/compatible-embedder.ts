import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { boundedFetch } from '#shared/http/bounded-fetch.ts';
import type { Embedder } from './embedder.ts';
import { mostVectorBytes, providerEmbedder } from './provider-embedder.ts';

type CompatibleEmbedderSettings = { model: string; apiKey: string | undefined; baseUrl: string; textsOfCall: number };

/** Characters of a text, on average more than 2,000 tokens. Small models read only the first part of it, and most servers cut the rest. */
const longestText = 8_000;
const charactersOfText = 2_000;

/** Vectors from `POST /embeddings` of a server with the API of OpenAI, such as vLLM, Ollama, llama.cpp or Text Embeddings Inference. */
export const compatibleEmbedder = ({
  model: name,
  apiKey,
  baseUrl,
  textsOfCall,
}: CompatibleEmbedderSettings): Embedder =>
  providerEmbedder({
    ...{ name, longestText },
    limits: { texts: textsOfCall, characters: textsOfCall * charactersOfText },
    model: createOpenAICompatible({
      ...{ name: 'openai-compatible', baseURL: baseUrl, fetch: boundedFetch(mostVectorBytes(textsOfCall)) },
      ...(apiKey === undefined ? {} : { apiKey }),
    }).embeddingModel(name),
    variables: { key: 'BINDERY_EMBEDDING_API_KEY', address: 'BINDERY_EMBEDDING_BASE_URL' },
  });

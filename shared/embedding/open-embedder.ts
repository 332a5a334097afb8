import { z } from 'zod';
import { mistralSettings } from '#shared/service/common-settings.ts';
import { ConfigError, type ConfigOf, secretSetting, setting, wholeNumber } from '#shared/runtime/config.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import { type Embedder, EmbedderRefused, EmbedderUnavailable, TextsRefused } from './embedder.ts';

/** Name of the model without a setting. Other servers do not have it. */
const mistralModel = 'mistral-embed';

/** Settings of the embedder. Without an address and a key of Mistral there is none. Indexer and assistant need the same values. */
export const embedderSettings = {
  ...mistralSettings,
  embeddingModel: setting(
    'BINDERY_EMBEDDING_MODEL',
    z.string().min(1).default(mistralModel),
    'model that makes vectors of passages and questions if BINDERY_EMBEDDING_BASE_URL or BINDERY_MISTRAL_API_KEY is set; none: search by words only, and nothing is sent; the same for indexer and assistant',
  ),
  embeddingBaseUrl: setting(
    'BINDERY_EMBEDDING_BASE_URL',
    z.url().optional(),
    'address of a server with the embeddings of the OpenAI API, with /v1: vLLM, Ollama and others; without it vectors are made by Mistral; the same for indexer and assistant',
  ),
  embeddingApiKey: secretSetting(
    'BINDERY_EMBEDDING_API_KEY',
    z.string().min(1).optional(),
    'API key for that server, if it asks for one',
  ),
  embeddingBatch: setting(
    'BINDERY_EMBEDDING_BATCH',
    wholeNumber(1, 512).default(32),
    'number of texts in one call to that server',
  ),
};

/** Value that turns the embedder off although a key is set. */
const off = 'none';

type EmbedderConfig = ConfigOf<typeof embedderSettings>;

/** True if the settings name an embedder. */
export const hasEmbedder = ({ mistralApiKey, embeddingBaseUrl, embeddingModel }: EmbedderConfig): boolean =>
  (mistralApiKey !== undefined || embeddingBaseUrl !== undefined) && embeddingModel !== off;

/**
 * The embedder that the settings name, with metrics of its calls; undefined if none is configured. Nothing is contacted. Rejects with `ConfigError`
 * if a required setting is missing.
 */
export async function openEmbedder(config: EmbedderConfig, metrics?: Metrics): Promise<Embedder | undefined> {
  if (!hasEmbedder(config)) return undefined;
  const embedder = await namedEmbedder(config);
  return metrics === undefined ? embedder : measured(embedder, metrics);
}

/** The SDKs are loaded on demand, so that they cost no memory without an embedder. */
async function namedEmbedder(config: EmbedderConfig): Promise<Embedder> {
  const { mistralApiKey, mistralBaseUrl, embeddingBaseUrl, embeddingApiKey, embeddingModel: model } = config;
  if (embeddingBaseUrl === undefined) {
    const { mistralEmbedder } = await import('./mistral-embedder.ts');
    return mistralEmbedder({ model, apiKey: mistralApiKey ?? '', baseUrl: mistralBaseUrl });
  }
  if (model === mistralModel) {
    throw new ConfigError(
      'BINDERY_EMBEDDING_BASE_URL is set, and BINDERY_EMBEDDING_MODEL is not. Set it to the name of a model that makes vectors at that address.',
    );
  }
  const { compatibleEmbedder } = await import('./compatible-embedder.ts');
  const textsOfCall = config.embeddingBatch;
  return compatibleEmbedder({ model, apiKey: embeddingApiKey, baseUrl: embeddingBaseUrl, textsOfCall });
}

const outcomes = ['done', 'unavailable', 'refused', 'texts_refused', 'cut'] as const;
/** Bucket limits in seconds. */
const callBuckets = [0.05, 0.1, 0.2, 0.3, 0.5, 1, 2.5, 5, 10, 30];

function measured(embedder: Embedder, metrics: Metrics): Embedder {
  const count = metrics.counter(
    'bindery_embedder_calls_total',
    'Calls to the model that makes vectors. outcome="cut": its deadline passed, or the service stopped.',
    'outcome',
    outcomes,
  );
  const countTexts = metrics.counter(
    'bindery_embedder_texts_total',
    'Texts that were sent to the model that makes vectors.',
    'of',
    ['all'],
  );
  const observe = metrics.histogram(
    'bindery_embedder_call_seconds',
    'Duration of calls to the model that makes vectors, failed ones included.',
    callBuckets,
  );
  return {
    name: embedder.name,
    limits: embedder.limits,
    get dimensions() {
      return embedder.dimensions;
    },
    async embed(texts, signal) {
      const started = performance.now();
      countTexts('all', texts.length);
      try {
        const vectors = await embedder.embed(texts, signal);
        count('done');
        return vectors;
      } catch (error) {
        count(outcomeOf(error));
        throw error;
      } finally {
        observe((performance.now() - started) / 1_000);
      }
    },
  };
}

function outcomeOf(error: unknown): (typeof outcomes)[number] {
  if (error instanceof EmbedderUnavailable) return 'unavailable';
  if (error instanceof EmbedderRefused) return 'refused';
  return error instanceof TextsRefused ? 'texts_refused' : 'cut';
}

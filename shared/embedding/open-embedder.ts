import { z } from 'zod';
import { mistralSettings } from '#shared/service/common-settings.ts';
import { type ConfigOf, setting } from '#shared/runtime/config.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import { type Embedder, EmbedderRefused, EmbedderUnavailable, TextsRefused } from './embedder.ts';

/** Settings of the embedder. Without a key of Mistral there is none. Indexer and assistant need the same values. */
export const embedderSettings = {
  ...mistralSettings,
  embeddingModel: setting(
    'BINDERY_EMBEDDING_MODEL',
    z.string().min(1).default('mistral-embed'),
    'model that makes vectors of passages and questions if BINDERY_MISTRAL_API_KEY is set; none: search by words only, and nothing is sent; the same for indexer and assistant',
  ),
};

/** Value that turns the embedder off although a key is set. */
const off = 'none';

type EmbedderConfig = ConfigOf<typeof embedderSettings>;

/** True if the settings name an embedder. */
export const hasEmbedder = ({ mistralApiKey, embeddingModel }: EmbedderConfig): boolean =>
  mistralApiKey !== undefined && embeddingModel !== off;

/** The embedder that the settings name, with metrics of its calls; undefined if none is configured. Nothing is contacted. */
export async function openEmbedder(config: EmbedderConfig, metrics?: Metrics): Promise<Embedder | undefined> {
  const { mistralApiKey: apiKey, mistralBaseUrl: baseUrl, embeddingModel: model } = config;
  if (apiKey === undefined || model === off) return undefined;
  // The SDK is loaded on demand, so that it costs no memory without a key.
  const { mistralEmbedder } = await import('./mistral-embedder.ts');
  const embedder = mistralEmbedder({ model, apiKey, baseUrl });
  return metrics === undefined ? embedder : measured(embedder, metrics);
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

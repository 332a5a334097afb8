import { z } from 'zod';
import { mistralSettings } from '#shared/runtime/common-settings.ts';
import { type ConfigOf, setting } from '#shared/runtime/config.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import { type Embedder, EmbedderRefused, EmbedderUnavailable, TextsRefused } from './embedder.ts';

/** The embedder: none without a key of Mistral. The same for indexer and assistant. */
export const embedderSettings = {
  ...mistralSettings,
  embeddingModel: setting(
    'BINDERY_EMBEDDING_MODEL',
    z.string().min(1).default('mistral-embed'),
    'model that makes vectors of passages and questions where BINDERY_MISTRAL_API_KEY is set; none: search by words alone, and nothing is sent; the same for indexer and assistant',
  ),
};

/** What turns the embedder off where a key is set. */
const off = 'none';

type EmbedderConfig = ConfigOf<typeof embedderSettings>;

/** Whether the settings name an embedder. */
export const hasEmbedder = ({ mistralApiKey, embeddingModel }: EmbedderConfig): boolean =>
  mistralApiKey !== undefined && embeddingModel !== off;

/** The embedder that the settings name, with its calls measured; undefined for none. Nothing is contacted. */
export async function openEmbedder(config: EmbedderConfig, metrics?: Metrics): Promise<Embedder | undefined> {
  const { mistralApiKey: apiKey, mistralBaseUrl: baseUrl, embeddingModel: model } = config;
  if (apiKey === undefined || model === off) return undefined;
  // Loaded when needed: without a key the SDK costs no memory.
  const { mistralEmbedder } = await import('./mistral-embedder.ts');
  const embedder = mistralEmbedder({ model, apiKey, baseUrl });
  return metrics === undefined ? embedder : measured(embedder, metrics);
}

const outcomes = ['done', 'unavailable', 'refused', 'texts_refused', 'cut'] as const;
/** In seconds. */
const callBuckets = [0.05, 0.1, 0.2, 0.3, 0.5, 1, 2.5, 5, 10, 30];

function measured(embedder: Embedder, metrics: Metrics): Embedder {
  const count = metrics.counter(
    'bindery_embedder_calls_total',
    'Calls to the model that makes vectors. outcome="cut": its deadline passed, or the service stopped.',
    'outcome',
    outcomes,
  );
  const countTexts = metrics.counter('bindery_embedder_texts_total', 'Texts that it was sent.', 'of', ['all']);
  const observe = metrics.histogram('bindery_embedder_call_seconds', 'Time of a call, failed ones too.', callBuckets);
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

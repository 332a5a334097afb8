import type { LanguageModelV4 } from '@ai-sdk/provider';
import { z } from 'zod';
import { boundedFetch } from '#shared/http/bounded-fetch.ts';
import { mistralSettings } from '#shared/service/common-settings.ts';
import { ConfigError, type ConfigOf, setting } from '#shared/runtime/config.ts';
import { extractiveModel } from './extractive-model.ts';

/** The language model that the settings name, behind the AI SDK's interface. Throws `ConfigError` when a required setting is missing. */
export async function openLanguageModel(config: ConfigOf<typeof languageModelSettings>): Promise<LanguageModelV4> {
  if (config.languageModel === 'extractive') return extractiveModel();
  if (config.mistralApiKey === undefined) {
    throw new ConfigError(
      'BINDERY_MISTRAL_API_KEY is not set, and BINDERY_LANGUAGE_MODEL is "mistral". Set it, or BINDERY_MISTRAL_API_KEY_FILE to the file that has the key.',
    );
  }
  const [{ createMistral }, { defaultSettingsMiddleware, wrapLanguageModel }] = await Promise.all([
    import('@ai-sdk/mistral'),
    import('ai'),
  ]);
  const provider = createMistral({
    apiKey: config.mistralApiKey,
    baseURL: config.mistralBaseUrl,
    fetch: boundedFetch(mostAnswerBytes),
  });
  const model = provider(config.mistralModel);
  const middleware = defaultSettingsMiddleware({ settings: { temperature: config.mistralTemperature } });
  return wrapLanguageModel({ model, middleware });
}

/** Limit of the response body: about 100,000 words with the JSON that Mistral sends around each. */
const mostAnswerBytes = 32_000_000;

const temperatureRange = 'must be a number from 0 to 1.5';

export const languageModelSettings = {
  languageModel: setting(
    'BINDERY_LANGUAGE_MODEL',
    z.enum(['extractive', 'mistral']).default('extractive'),
    'source of the answers: extractive (quotes the best passages, no network) or mistral',
  ),
  ...mistralSettings,
  mistralModel: setting(
    'BINDERY_MISTRAL_MODEL',
    z.string().min(1).default('mistral-small-latest'),
    'name of the language model at that address',
  ),
  mistralTemperature: setting(
    'BINDERY_MISTRAL_TEMPERATURE',
    z.coerce.number({ error: temperatureRange }).min(0, temperatureRange).max(1.5, temperatureRange).default(0.2),
    'temperature of the model "mistral": from 0 (the likeliest words) to 1.5 (the most varied)',
  ),
};

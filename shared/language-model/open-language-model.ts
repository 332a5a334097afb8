import type { LanguageModelV4 } from '@ai-sdk/provider';
import { ConfigError } from '#shared/config/load-config.ts';
import type { ConfigOf } from '#shared/config/setting.ts';
import { extractiveModel } from './extractive-model.ts';
import type { languageModelSettings } from './language-model-settings.ts';

/** The language model of the settings, behind the AI SDK's interface. Throws `ConfigError` when a setting that it needs is missing. */
export async function openLanguageModel(config: ConfigOf<typeof languageModelSettings>): Promise<LanguageModelV4> {
  if (config.languageModel === 'extractive') return extractiveModel();
  if (config.mistralApiKey === undefined) {
    throw new ConfigError('BINDERY_MISTRAL_API_KEY is not set, and BINDERY_LANGUAGE_MODEL is "mistral".');
  }
  const { createMistral } = await import('@ai-sdk/mistral');
  return createMistral({ apiKey: config.mistralApiKey, baseURL: config.mistralBaseUrl })(config.mistralModel);
}

import type { LanguageModelV4 } from '@ai-sdk/provider';
import { z } from 'zod';
import { boundedFetch } from '#shared/http/bounded-fetch.ts';
import { mistralSettings } from '#shared/service/common-settings.ts';
import { ConfigError, type ConfigOf, secretSetting, setting } from '#shared/runtime/config.ts';
import { extractiveModel } from './extractive-model.ts';

/** The language model that the settings name, behind the AI SDK's interface. Throws `ConfigError` when a required setting is missing. */
export async function openLanguageModel(config: ConfigOf<typeof languageModelSettings>): Promise<LanguageModelV4> {
  if (config.languageModel === 'extractive') return extractiveModel();
  if (config.languageModel === 'openai-compatible') return compatibleModel(config);
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

/** A model behind `POST /chat/completions`, as vLLM, Ollama, llama.cpp, LM Studio and many providers have it. */
async function compatibleModel(config: ConfigOf<typeof languageModelSettings>): Promise<LanguageModelV4> {
  const { openaiBaseUrl: baseURL, openaiModel: name, openaiApiKey: apiKey, openaiTemperature: temperature } = config;
  if (baseURL === undefined || name === undefined) {
    const missing = baseURL === undefined ? 'BINDERY_OPENAI_BASE_URL' : 'BINDERY_OPENAI_MODEL';
    throw new ConfigError(
      `${missing} is not set, and BINDERY_LANGUAGE_MODEL is "openai-compatible". Set it to the ${baseURL === undefined ? 'address of the server, such as http://127.0.0.1:11434/v1' : 'name of a model that the server has'}.`,
    );
  }
  const [{ createOpenAICompatible }, { defaultSettingsMiddleware, wrapLanguageModel }] = await Promise.all([
    import('@ai-sdk/openai-compatible'),
    import('ai'),
  ]);
  const provider = createOpenAICompatible({
    ...{ name: 'openai-compatible', baseURL, fetch: boundedFetch(mostAnswerBytes), includeUsage: true },
    ...(apiKey === undefined ? {} : { apiKey }),
  });
  const middleware = defaultSettingsMiddleware({ settings: { temperature } });
  return wrapLanguageModel({ model: provider(name), middleware });
}

/** Limit of the response body: about 100,000 words with the JSON that providers send around each. */
const mostAnswerBytes = 32_000_000;

const openaiTemperatureRange = 'must be a number from 0 to 2';
const temperatureRange = 'must be a number from 0 to 1.5';

export const languageModelSettings = {
  languageModel: setting(
    'BINDERY_LANGUAGE_MODEL',
    z.enum(['extractive', 'mistral', 'openai-compatible']).default('extractive'),
    'source of the answers: extractive (quotes the best passages, no network), mistral, or openai-compatible (vLLM, Ollama and other servers)',
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
  openaiBaseUrl: setting(
    'BINDERY_OPENAI_BASE_URL',
    z.url().optional(),
    'address of a server with the API of OpenAI for the model "openai-compatible", with /v1: http://127.0.0.1:11434/v1 for Ollama on this machine',
  ),
  openaiApiKey: secretSetting(
    'BINDERY_OPENAI_API_KEY',
    z.string().min(1).optional(),
    'API key for that server, if it asks for one',
  ),
  openaiModel: setting(
    'BINDERY_OPENAI_MODEL',
    z.string().min(1).optional(),
    'name of the language model at that server',
  ),
  openaiTemperature: setting(
    'BINDERY_OPENAI_TEMPERATURE',
    z.coerce
      .number({ error: openaiTemperatureRange })
      .min(0, openaiTemperatureRange)
      .max(2, openaiTemperatureRange)
      .default(0.2),
    'temperature of the model "openai-compatible": from 0 (the likeliest words) to 2 (the most varied)',
  ),
};

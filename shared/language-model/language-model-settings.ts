import { z } from 'zod';
import { secretSetting, setting } from '#shared/config/setting.ts';

export const languageModelSettings = {
  languageModel: setting(
    'BINDERY_LANGUAGE_MODEL',
    z.enum(['extractive', 'mistral']).default('extractive'),
    'who answers questions: extractive (quotes the best passages, no network) or mistral',
  ),
  mistralApiKey: secretSetting(
    'BINDERY_MISTRAL_API_KEY',
    z.string().min(1).optional(),
    'API key of the model "mistral"',
  ),
  mistralBaseUrl: setting(
    'BINDERY_MISTRAL_BASE_URL',
    z.url().default('https://api.mistral.ai/v1'),
    'address of the model "mistral", or of a server that speaks the same API',
  ),
  mistralModel: setting(
    'BINDERY_MISTRAL_MODEL',
    z.string().min(1).default('mistral-small-latest'),
    'name of the model to ask for at that address',
  ),
};

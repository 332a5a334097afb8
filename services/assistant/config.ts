import { embedderSettings } from '#shared/embedding/open-embedder.ts';
import { callTokenSetting, hashKeySettings, serviceSettings } from '#shared/runtime/common-settings.ts';
import { type ConfigOf, setting, wholeNumber } from '#shared/runtime/config.ts';
import { searchSettings } from '#shared/search/open-search-index.ts';
import { languageModelSettings } from './language-model.ts';

export const assistantSettings = {
  ...serviceSettings('assistant'),
  gatewayToken: callTokenSetting('gateway', 'assistant'),
  ...hashKeySettings,
  ...searchSettings,
  ...languageModelSettings,
  ...embedderSettings,
  embedQuestionMs: setting(
    'BINDERY_EMBEDDING_WITHIN_MS',
    wholeNumber(20, 10_000).default(300),
    'how long a search waits for the vector of its question, in milliseconds; then words alone decide',
  ),
  conversationMegabytes: setting(
    'BINDERY_CONVERSATION_MEGABYTES',
    wholeNumber(1, 1_000_000).default(500),
    'what the conversations of one organization may take, in megabytes; of more, its oldest days go first',
  ),
  answerTimeoutSeconds: setting(
    'BINDERY_ANSWER_TIMEOUT_SECONDS',
    wholeNumber(5, 600).default(120),
    'an answer that takes longer is cut, in seconds',
  ),
};

export type AssistantConfig = ConfigOf<typeof assistantSettings>;

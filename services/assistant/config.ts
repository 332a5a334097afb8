import { embedderSettings } from '#shared/embedding/open-embedder.ts';
import { callTokenSetting, hashKeySettings, serviceSettings } from '#shared/service/common-settings.ts';
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
    'time that a search waits for the vector of its question, in milliseconds; after it the search uses words alone',
  ),
  conversationMegabytes: setting(
    'BINDERY_CONVERSATION_MEGABYTES',
    wholeNumber(1, 1_000_000).default(500),
    'storage for the conversations of one organization, in megabytes; above it, its oldest days are purged',
  ),
  resumableMegabytes: setting(
    'BINDERY_RESUMABLE_MEGABYTES',
    wholeNumber(0, 100_000).default(16),
    'memory for the answers of one organization that its readers can resume, of ten minutes, in megabytes for each assistant; above it, answers are given but cannot be resumed',
  ),
  answerTimeoutSeconds: setting(
    'BINDERY_ANSWER_TIMEOUT_SECONDS',
    wholeNumber(5, 600).default(120),
    'time limit for an answer, in seconds; an answer that takes longer is aborted',
  ),
};

export type AssistantConfig = ConfigOf<typeof assistantSettings>;

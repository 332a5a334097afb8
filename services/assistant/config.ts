import { hashKeySettings, serviceSettings, serviceTokenSettings } from '#shared/runtime/common-settings.ts';
import { type ConfigOf, setting, wholeNumber } from '#shared/runtime/config.ts';
import { searchSettings } from '#shared/search/open-search-index.ts';
import { languageModelSettings } from './language-model.ts';

export const assistantSettings = {
  ...serviceSettings('assistant'),
  ...serviceTokenSettings,
  ...hashKeySettings,
  ...searchSettings,
  ...languageModelSettings,
  answerTimeoutSeconds: setting(
    'BINDERY_ANSWER_TIMEOUT_SECONDS',
    wholeNumber(5, 600).default(120),
    'an answer that takes longer is cut, in seconds',
  ),
};

export type AssistantConfig = ConfigOf<typeof assistantSettings>;

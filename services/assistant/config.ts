import {
  busSettings,
  hashKeySettings,
  internalServerSettings,
  objectStoreSettings,
  serviceTokenSettings,
} from '#shared/config/common-settings.ts';
import { type ConfigOf, setting, wholeNumber } from '#shared/config/setting.ts';
import { languageModelSettings } from '#shared/language-model/language-model-settings.ts';
import { searchSettings } from '#shared/search/search-settings.ts';

export const assistantSettings = {
  ...busSettings('assistant'),
  ...internalServerSettings('assistant'),
  ...serviceTokenSettings,
  ...hashKeySettings,
  ...objectStoreSettings,
  ...searchSettings,
  ...languageModelSettings,
  answerTimeoutSeconds: setting(
    'BINDERY_ANSWER_TIMEOUT_SECONDS',
    wholeNumber(5, 600).default(120),
    'an answer that takes longer is cut, in seconds',
  ),
};

export type AssistantConfig = ConfigOf<typeof assistantSettings>;

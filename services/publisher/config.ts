import { callTokenSetting, dataFolderSettings, serviceSettings } from '#shared/service/common-settings.ts';
import { type ConfigOf, setting, wholeNumber } from '#shared/runtime/config.ts';

export const publisherSettings = {
  ...serviceSettings('publisher'),
  ...dataFolderSettings,
  gatewayToken: callTokenSetting('gateway', 'publisher'),
  housekeeperToken: callTokenSetting('housekeeper', 'publisher'),
  slots: setting(
    'BINDERY_PUBLISHER_SLOTS',
    wholeNumber(1, 64).default(1),
    'docs projects that are read at the same time; each takes a process of up to 512 MB',
  ),
  uploads: setting(
    'BINDERY_PUBLISHER_UPLOADS',
    wholeNumber(1, 256).default(8),
    'limit of docs projects that are received concurrently, each with a process that unpacks it; further uploads are asked to retry, and one organization never gets all places',
  ),
};

export type PublisherConfig = ConfigOf<typeof publisherSettings>;

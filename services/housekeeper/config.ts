import { z } from 'zod';
import { callTokenSetting, optionalCallTokenSetting, serviceSettings } from '#shared/service/common-settings.ts';
import { objectStoreSettings } from '#shared/storage/open-object-store.ts';
import { type ConfigOf, setting, wholeNumber } from '#shared/runtime/config.ts';

/** Retention times and related settings. */
export const retentionSettings = {
  ...objectStoreSettings,
  keepObjectsDays: setting(
    'BINDERY_KEEP_OBJECTS_DAYS',
    wholeNumber(2, 36_500).default(90),
    'retention of plans, segments, bundles and contents, in days after the end of the last job that needs them',
  ),
};

export const housekeeperSettings = {
  ...serviceSettings('housekeeper'),
  publisherToken: callTokenSetting('housekeeper', 'publisher'),
  gatewayToken: optionalCallTokenSetting('gateway', 'housekeeper'),
  ...retentionSettings,
  publisherUrl: setting(
    'BINDERY_PUBLISHER_URL',
    z.url('must be the address of the publisher, such as http://127.0.0.1:9000'),
    'address of the publisher, which the housekeeper asks to end content versions that are not needed',
  ),
  sweepEveryHours: setting(
    'BINDERY_SWEEP_EVERY_HOURS',
    wholeNumber(1, 720).default(6),
    'interval at which the housekeeper runs, in hours; the first run begins soon after the start',
  ),
  archiveAfterDays: setting(
    'BINDERY_ARCHIVE_AFTER_DAYS',
    wholeNumber(1, 36_500).default(30),
    'days from the end of an export job until its history moves from the log to the object store',
  ),
};

export type HousekeeperConfig = ConfigOf<typeof housekeeperSettings>;

import { busSettings, internalServerSettings, objectStoreSettings } from '#shared/config/common-settings.ts';
import type { ConfigOf } from '#shared/config/setting.ts';

export const projectorSettings = {
  ...busSettings('projector'),
  ...internalServerSettings('projector'),
  ...objectStoreSettings,
};

export type ProjectorConfig = ConfigOf<typeof projectorSettings>;

import { busSettings, internalServerSettings, objectStoreSettings } from '#shared/runtime/common-settings.ts';
import type { ConfigOf } from '#shared/runtime/config.ts';

export const projectorSettings = {
  ...busSettings('projector'),
  ...internalServerSettings('projector'),
  ...objectStoreSettings,
};

export type ProjectorConfig = ConfigOf<typeof projectorSettings>;

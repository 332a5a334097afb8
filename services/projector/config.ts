import { serviceSettings } from '#shared/runtime/common-settings.ts';
import type { ConfigOf } from '#shared/runtime/config.ts';

export const projectorSettings = {
  ...serviceSettings('projector'),
};

export type ProjectorConfig = ConfigOf<typeof projectorSettings>;

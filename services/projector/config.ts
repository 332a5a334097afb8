import { auditKeySettings, optionalCallTokenSetting, serviceSettings } from '#shared/service/common-settings.ts';
import type { ConfigOf } from '#shared/runtime/config.ts';

export const projectorSettings = {
  ...serviceSettings('projector'),
  ...auditKeySettings,
  gatewayToken: optionalCallTokenSetting('gateway', 'projector'),
};

export type ProjectorConfig = ConfigOf<typeof projectorSettings>;

import { callTokenSetting, serviceSettings } from '#shared/service/common-settings.ts';
import { type ConfigOf, setting, wholeNumber } from '#shared/runtime/config.ts';
import { linkSigningSettings } from '#shared/storage/open-object-store.ts';

export const linkSignerSettings = {
  ...serviceSettings('link-signer'),
  ...linkSigningSettings,
  gatewayToken: callTokenSetting('gateway', 'link-signer'),
  linkLifetimeSeconds: setting(
    'BINDERY_LINK_LIFETIME_SECONDS',
    wholeNumber(60, 604_800).default(3_600),
    'lifetime of a bundle link, in seconds (at most 7 days, and at most that of the signing credentials)',
  ),
};

export type LinkSignerConfig = ConfigOf<typeof linkSignerSettings>;

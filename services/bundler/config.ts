import { serviceSettings } from '#shared/service/common-settings.ts';
import { type ConfigOf, setting, wholeNumber } from '#shared/runtime/config.ts';

export const bundlerSettings = {
  ...serviceSettings('bundler'),
  slots: setting(
    'BINDERY_BUNDLER_SLOTS',
    wholeNumber(1, 64).default(2),
    'bundles that a bundler joins at the same time; each takes at most some 40 MB of memory',
  ),
};

export type BundlerConfig = ConfigOf<typeof bundlerSettings>;

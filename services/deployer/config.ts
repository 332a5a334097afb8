import { serviceSettings } from '#shared/service/common-settings.ts';
import type { ConfigOf } from '#shared/runtime/config.ts';

export const deployerSettings = serviceSettings('deployer');

export type DeployerConfig = ConfigOf<typeof deployerSettings>;

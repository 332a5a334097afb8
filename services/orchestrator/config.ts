import { optionalCallTokenSetting, serviceSettings } from '#shared/service/common-settings.ts';
import { type ConfigOf, setting, wholeNumber } from '#shared/runtime/config.ts';

export const orchestratorSettings = {
  ...serviceSettings('orchestrator'),
  gatewayToken: optionalCallTokenSetting('gateway', 'orchestrator'),
  exportDeadlineMinutes: setting(
    'BINDERY_EXPORT_DEADLINE_MINUTES',
    wholeNumber(1, 1440).default(60),
    'deadline of an export, in minutes; an export that has not ended by then fails',
  ),
};

export type OrchestratorConfig = ConfigOf<typeof orchestratorSettings>;

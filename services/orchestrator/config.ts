import { optionalCallTokenSetting, serviceSettings } from '#shared/service/common-settings.ts';
import { type ConfigOf, setting, wholeNumber } from '#shared/runtime/config.ts';

export const orchestratorSettings = {
  ...serviceSettings('orchestrator'),
  gatewayToken: optionalCallTokenSetting('gateway', 'orchestrator'),
  taskLostAfterSeconds: setting(
    'BINDERY_TASK_LOST_AFTER_SECONDS',
    wholeNumber(1, 600).default(30),
    'time after which an unclaimed task is redispatched as a new attempt, in seconds, if a worker is idle',
  ),
  exportDeadlineMinutes: setting(
    'BINDERY_EXPORT_DEADLINE_MINUTES',
    wholeNumber(1, 1440).default(60),
    'deadline of an export, in minutes; an export that has not ended by then fails',
  ),
};

export type OrchestratorConfig = ConfigOf<typeof orchestratorSettings>;

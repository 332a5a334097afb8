import { serviceSettings } from '#shared/runtime/common-settings.ts';
import { type ConfigOf, setting, wholeNumber } from '#shared/runtime/config.ts';

export const orchestratorSettings = {
  ...serviceSettings('orchestrator'),
  taskLostAfterSeconds: setting(
    'BINDERY_TASK_LOST_AFTER_SECONDS',
    wholeNumber(1, 600).default(30),
    'a task that no worker has in hand for so long, while one of them is free, is given out again as a new attempt',
  ),
  exportDeadlineMinutes: setting(
    'BINDERY_EXPORT_DEADLINE_MINUTES',
    wholeNumber(1, 1440).default(60),
    'an export that has not ended by then fails',
  ),
};

export type OrchestratorConfig = ConfigOf<typeof orchestratorSettings>;

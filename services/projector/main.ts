import { type Running, startService } from '#shared/service/start-service.ts';
import type { ProjectorConfig } from './config.ts';
import { measureProjections } from './measure-projections.ts';
import { startProjections } from './start-projections.ts';

export { projectorSettings as settings } from './config.ts';

/** Folds the logs into read models. */
export function start(config: ProjectorConfig): Promise<Running> {
  return startService('projector', config, async (service) => {
    measureProjections(service.metrics, service.bus);
    const projections = startProjections(
      { ...service, archive: service.objectStore, auditKey: config.auditKey },
      service.stopping,
    );
    return { drain: () => projections };
  });
}

import { openLogAudit } from '#shared/messaging/nats/log-audit.ts';
import { type Running, startService } from '#shared/service/start-service.ts';
import type { ProjectorConfig } from './config.ts';
import { measureProjections } from './measure-projections.ts';
import { projectorApp } from './projector-app.ts';
import { startProjections } from './start-projections.ts';
import { verifications } from './verifications.ts';

export { projectorSettings as settings } from './config.ts';

/** Folds the logs into read models, and verifies logs with the key of its anchors. */
export function start(config: ProjectorConfig): Promise<Running> {
  return startService('projector', config, async (service) => {
    const { auditKey, natsUrl: url, natsPassword: password, gatewayToken } = config;
    measureProjections(service.metrics, service.bus);
    const projections = startProjections({ ...service, archive: service.objectStore, auditKey }, service.stopping);
    const openLogs = () => openLogAudit({ url, user: 'projector', password });
    const verifying = verifications({ ...service, openLogs, auditKey });
    return {
      app: (health) =>
        projectorApp(verifying, { ...health, callerTokens: { gateway: gatewayToken }, logger: service.logger }),
      drain: async () => {
        await Promise.all([projections, verifying.idle()]);
      },
    };
  });
}

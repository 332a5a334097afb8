import { logWithArchive } from '#shared/messaging/log/archived-jobs.ts';
import { type Running, startService } from '#shared/service/start-service.ts';
import type { LinkSignerConfig } from './config.ts';
import { linkSignerApp } from './link-signer-app.ts';

export { linkSignerSettings as settings } from './config.ts';

/** Signs time-limited links to bundles. */
export function start(config: LinkSignerConfig): Promise<Running> {
  return startService('link-signer', config, async (service) => {
    const { objectStore } = service;
    const { linkLifetimeSeconds, gatewayToken } = config;
    const bus = { ...service.bus, exports: logWithArchive(service.bus.exports, objectStore) };
    const callerTokens = { gateway: gatewayToken };
    return { app: linkSignerApp({ ...service, bus, linkLifetimeSeconds }, { ...service, callerTokens }) };
  });
}

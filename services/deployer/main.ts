import { leadByTurns } from '#shared/messaging/leases.ts';
import { type Running, startService } from '#shared/service/start-service.ts';
import type { DeployerConfig } from './config.ts';
import { deploy } from './deploy.ts';

export { deployerSettings as settings } from './config.ts';

/** Deploys published content to sites while it has the lease; until then it waits as a spare. */
export function start(config: DeployerConfig): Promise<Running> {
  return startService('deployer', config, async (service) => {
    const { bus, instance, logger, stopping } = service;
    const context = { ...service, publicUrl: config.publicUrl };
    const role = { leases: bus.leases, role: 'deployer', holder: instance, logger };
    const leading = leadByTurns(role, (signal) => deploy(context, signal), stopping);
    return { drain: () => leading };
  });
}

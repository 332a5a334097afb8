import { createPrivately } from '#infra/supervisor/private-files.ts';
import { isServiceName, type ServiceName, serviceNames } from '#infra/supervisor/services.ts';
import { loadConfig } from '#shared/runtime/config.ts';
import type { Running } from '#shared/runtime/start-service.ts';

/** No service has this name; the message lists the names. */
class UnknownService extends Error {
  override name = 'UnknownService';
}

/** The services that `bindery run` was asked for: `gateway,assistant`. */
export function parseServiceNames(list: string): ServiceName[] {
  return list.split(',').map((name) => {
    if (!isServiceName(name))
      throw new UnknownService(`There is no service "${name}". There are: ${serviceNames.join(', ')}.`);
    return name;
  });
}

/**
 * Runs services in this process until SIGTERM, Ctrl-C or, under a supervisor, the end of the channel to it. Under a supervisor Ctrl-C is
 * ignored here, because the supervisor knows the order of stopping.
 */
export async function runServices(names: ServiceName[]): Promise<void> {
  createPrivately();
  const running: Running[] = [];
  const stopAsked = new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve);
    if (process.send === undefined) {
      process.once('SIGINT', resolve);
    } else {
      process.on('SIGINT', () => {});
      process.once('disconnect', resolve);
    }
  });
  const start = async () => {
    // In this order, because a gateway is of use only when the services that it calls are there.
    for (const name of names) running.push(await serviceTable[name](process.env));
    process.send?.({ ready: running.map(({ name, url }) => ({ name, url })) });
    await stopAsked;
  };
  // A service that waits for its bus can be stopped, too.
  await Promise.race([start(), stopAsked]);
  await Promise.all(running.toReversed().map((service) => service.stop()));
  process.exit(0);
}

/**
 * The one place that knows all services: how each is configured from the environment and started. Loaded on demand, so that
 * a process holds only the code of what it runs.
 */
const serviceTable: Record<ServiceName, (env: NodeJS.ProcessEnv) => Promise<Running>> = {
  async projector(env) {
    const { projectorSettings } = await import('#services/projector/config.ts');
    const { start } = await import('#services/projector/main.ts');
    return start(loadConfig(projectorSettings, env));
  },
  async publisher(env) {
    const { publisherSettings } = await import('#services/publisher/config.ts');
    const { start } = await import('#services/publisher/main.ts');
    return start(loadConfig(publisherSettings, env));
  },
  async indexer(env) {
    const { indexerSettings } = await import('#services/indexer/config.ts');
    const { start } = await import('#services/indexer/main.ts');
    return start(loadConfig(indexerSettings, env));
  },
  async orchestrator(env) {
    const { orchestratorSettings } = await import('#services/orchestrator/config.ts');
    const { start } = await import('#services/orchestrator/main.ts');
    return start(loadConfig(orchestratorSettings, env));
  },
  async 'page-renderer'(env) {
    const { pageRendererSettings } = await import('#services/page-renderer/config.ts');
    const { start } = await import('#services/page-renderer/main.ts');
    return start(loadConfig(pageRendererSettings, env));
  },
  async bundler(env) {
    const { bundlerSettings } = await import('#services/bundler/config.ts');
    const { start } = await import('#services/bundler/main.ts');
    return start(loadConfig(bundlerSettings, env));
  },
  async 'link-signer'(env) {
    const { linkSignerSettings } = await import('#services/link-signer/config.ts');
    const { start } = await import('#services/link-signer/main.ts');
    return start(loadConfig(linkSignerSettings, env));
  },
  async assistant(env) {
    const { assistantSettings } = await import('#services/assistant/config.ts');
    const { start } = await import('#services/assistant/main.ts');
    return start(loadConfig(assistantSettings, env));
  },
  async housekeeper(env) {
    const { housekeeperSettings } = await import('#services/housekeeper/config.ts');
    const { start } = await import('#services/housekeeper/main.ts');
    return start(loadConfig(housekeeperSettings, env));
  },
  async gateway(env) {
    const { gatewaySettings } = await import('#services/gateway/config.ts');
    const { start } = await import('#services/gateway/main.ts');
    return start(loadConfig(gatewaySettings, env));
  },
};

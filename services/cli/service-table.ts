import type { ServiceName } from '#infra/supervisor/service-names.ts';
import { loadConfig } from '#shared/config/load-config.ts';
import type { Running } from '#shared/lifecycle/running.ts';

/**
 * The one place that knows all services: how each is configured from the environment and started. Loaded on demand, so that
 * a process holds only the code of what it runs.
 */
export const serviceTable: Record<ServiceName, (env: NodeJS.ProcessEnv) => Promise<Running>> = {
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

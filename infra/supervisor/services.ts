import { join } from 'node:path';
import { cacheFolder } from '#infra/setup/server-locations.mjs';
import { variableName } from '#shared/runtime/common-settings.ts';
import type { Secrets } from './data-folder.ts';

/** Every service of an installation, in starting order. */
export const serviceNames = [
  'projector',
  'publisher',
  'indexer',
  'orchestrator',
  'page-renderer',
  'bundler',
  'link-signer',
  'assistant',
  'housekeeper',
  'gateway',
] as const;

export type ServiceName = (typeof serviceNames)[number];

export function isServiceName(name: string): name is ServiceName {
  return serviceNames.some((known) => known === name);
}

type ServicePorts = Record<ServiceName, number>;

export type InstallationPlan = {
  dataFolder: string;
  publicUrl: string;
  host: string;
  gatewayPort: number;
  natsUrl: string;
  /** Internal ports of all services except the gateway. */
  ports: ServicePorts;
  secrets: Secrets;
  rendererSlots: number;
};

/** The part of our environment that services see: the user's settings, and what Node and the system need. */
const passedOn = /^(BINDERY_|OTEL_|CRASH_|NODE_|PATH$|HOME$|TMPDIR$|TZ$|LANG$|LC_|MISTRAL_)/;

/** The environment of one service of an embedded installation: only the secrets that it needs. */
export function serviceEnvironment(
  service: ServiceName,
  plan: InstallationPlan,
  environment: Record<string, string | undefined>,
): Record<string, string> {
  const inherited = Object.entries(environment).filter(
    ([name]) => passedOn.test(name) && !name.startsWith('BINDERY_NATS_PASSWORD'),
  );
  const internalUrl = (name: ServiceName) => `http://127.0.0.1:${plan.ports[name]}`;
  const own: Record<string, string> = {
    BINDERY_NATS_URL: plan.natsUrl,
    [`BINDERY_NATS_PASSWORD_${variableName(service)}`]: plan.secrets.natsPasswords[service] ?? '',
    BINDERY_DATA: plan.dataFolder,
    BINDERY_OBJECT_STORE: 'folder',
    BINDERY_OBJECT_FOLDER: join(plan.dataFolder, 'objects'),
    BINDERY_PUBLIC_URL: plan.publicUrl,
    BINDERY_LINK_SIGNING_KEY: plan.secrets.linkSigningKey,
    BINDERY_SERVICE_TOKEN: plan.secrets.serviceToken,
    BINDERY_HASH_KEY: plan.secrets.hashKey,
    BINDERY_PUBLISHER_URL: internalUrl('publisher'),
    BINDERY_LINK_SIGNER_URL: internalUrl('link-signer'),
    BINDERY_ASSISTANT_URL: internalUrl('assistant'),
    // Halves the processor time of a start: ten processes that load much the same modules.
    NODE_COMPILE_CACHE: join(cacheFolder(), 'compiled'),
    BINDERY_RENDERER_SLOTS: String(plan.rendererSlots),
  };
  for (const name of serviceNames) own[`BINDERY_${variableName(name)}_PORT`] = String(plan.ports[name]);
  if (service === 'projector') own.BINDERY_AUDIT_KEY = plan.secrets.auditKey;
  if (service === 'gateway') {
    own.BINDERY_HOST = plan.host;
    own.BINDERY_PORT = String(plan.gatewayPort);
    own.BINDERY_OPERATOR_TOKEN = plan.secrets.operatorToken;
  }
  // What the user set wins, except for what only the supervisor knows.
  const decided = new Set([
    'BINDERY_NATS_URL',
    'BINDERY_DATA',
    'BINDERY_HOST',
    'BINDERY_PORT',
    'BINDERY_OPERATOR_TOKEN',
    'BINDERY_AUDIT_KEY',
  ]);
  const chosen = inherited.filter(([name]) => !decided.has(name) && name !== 'BINDERY_OPERATOR_TOKEN');
  return { ...own, ...Object.fromEntries(chosen.map(([name, value]) => [name, value ?? ''])) };
}

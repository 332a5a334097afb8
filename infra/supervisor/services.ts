import { join } from 'node:path';
import { callPairs, callTokenVariable } from '#shared/interfaces/internal/internal-calls.ts';
import { variableName } from '#shared/service/common-settings.ts';
import { secretFileVariable } from '#shared/runtime/config.ts';
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
  'deployer',
  'gateway',
] as const;

export type ServiceName = (typeof serviceNames)[number];

/** Programs that have no access to the bus: they call the public interface. */
const outerNames = ['docs-host', 'console'] as const;

export type OuterName = (typeof outerNames)[number];

/** Every program of an installation, in starting order. */
export const programNames: readonly (ServiceName | OuterName)[] = [...serviceNames, ...outerNames];

export type ProgramName = (typeof programNames)[number];

/**
 * Services that share a process on a laptop, in starting order: most of a process's memory and start-up time is for code that they have in common.
 * The groups are separate because workers block their event loop with large objects, while leaders and the gateway must answer in time, and because
 * no writer of logs may have the projector's audit key.
 */
const sharedProcesses: readonly (readonly ServiceName[])[] = [
  ['projector'],
  ['publisher', 'indexer', 'page-renderer', 'bundler'],
  ['orchestrator', 'housekeeper', 'deployer', 'link-signer', 'assistant', 'gateway'],
];

/** One process of an installation. `copy` numbers the processes that run the same services. */
export type ProcessPlan = { services: readonly ServiceName[]; copy: number };

/** The processes of an installation, in starting order. `copies` has the services that do not run exactly once; each further copy has its own process. */
export function processesOf(
  layout: 'shared' | 'separate',
  copies: Partial<Record<ServiceName, number>> = {},
): ProcessPlan[] {
  const groups = layout === 'shared' ? sharedProcesses : serviceNames.map((name) => [name]);
  return groups.flatMap((group): ProcessPlan[] => {
    const services = group.filter((name) => copies[name] !== 0);
    const further = services.flatMap((name) =>
      Array.from({ length: (copies[name] ?? 1) - 1 }, (_, index) => ({ services: [name], copy: index + 1 })),
    );
    return services.length === 0 ? [] : [{ services, copy: 0 }, ...further];
  });
}

export function isProgramName(name: string): name is ProgramName {
  return programNames.some((known) => known === name);
}

type ServicePorts = Record<ServiceName, number>;

export type InstallationPlan = {
  dataFolder: string;
  publicUrl: string;
  host: string;
  gatewayPort: number;
  natsUrl: string;
  /** Internal ports: health, metrics and calls from other services. */
  ports: ServicePorts;
  secrets: Secrets;
  rendererSlots: number;
  /** Port of the sites on this machine; undefined without a host of sites. */
  sitesPort?: number | undefined;
  /** Port for the health of the host of sites in place of a free one, for which the user asks with 0. */
  freeSitesHealthPort?: number | undefined;
  /** Port of the console on this machine; undefined without one. */
  consolePort?: number | undefined;
};

/** Variables of our environment that services see: the user's settings, and those of Node and the system. */
const passedOn = /^(BINDERY_|OTEL_|CRASH_|NODE_|PATH$|HOME$|TMPDIR$|TZ$|LANG$|LC_|MISTRAL_)/;

/** The environment of a process of an embedded installation: only the secrets that its services need. */
export function processEnvironment(
  { services, copy }: ProcessPlan,
  plan: InstallationPlan,
  environment: Record<string, string | undefined>,
): Record<string, string> {
  const merged = Object.assign({}, ...services.map((name) => serviceEnvironment(name, plan, environment))) as Record<
    string,
    string
  >;
  // The first copy has the planned port, which other services call; further copies take any free port.
  if (copy > 0) for (const name of services) merged[`BINDERY_${variableName(name)}_PORT`] = '0';
  return merged;
}

/**
 * Makes glibc return freed memory. By default each thread of Node gets an arena, which keeps freed memory, and the first large buffer that is freed
 * raises the size from which buffers are returned at once, to 32 MB at most.
 */
const allocatorSettings = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '1048576',
  MALLOC_TRIM_THRESHOLD_: '1048576',
};

function serviceEnvironment(
  service: ServiceName,
  plan: InstallationPlan,
  environment: Record<string, string | undefined>,
): Record<string, string> {
  const internalUrl = (name: ServiceName) => `http://127.0.0.1:${plan.ports[name]}`;
  const own: Record<string, string> = {
    BINDERY_NATS_URL: plan.natsUrl,
    BINDERY_DATA: plan.dataFolder,
    BINDERY_OBJECT_STORE: 'folder',
    BINDERY_OBJECT_FOLDER: join(plan.dataFolder, 'objects'),
    BINDERY_PUBLIC_URL: plan.publicUrl,
    BINDERY_PUBLISHER_URL: internalUrl('publisher'),
    BINDERY_LINK_SIGNER_URL: internalUrl('link-signer'),
    BINDERY_ASSISTANT_URL: internalUrl('assistant'),
    BINDERY_PROJECTOR_URL: internalUrl('projector'),
    BINDERY_ORCHESTRATOR_URL: internalUrl('orchestrator'),
    BINDERY_HOUSEKEEPER_URL: internalUrl('housekeeper'),
    ...allocatorSettings,
    BINDERY_RENDERER_SLOTS: String(plan.rendererSlots),
  };
  for (const name of serviceNames) own[`BINDERY_${variableName(name)}_PORT`] = String(plan.ports[name]);
  if (service === 'gateway') {
    own.BINDERY_HOST = plan.host;
    own.BINDERY_PORT = String(plan.gatewayPort);
    if (plan.sitesPort !== undefined) {
      own.BINDERY_SITES_BASE = `localhost:${plan.sitesPort}`;
      // Readers of the demo, which documents this interface, can try it from its pages.
      own.BINDERY_PLAYGROUND_ORIGINS = `http://demo.localhost:${plan.sitesPort}`;
    }
    if (plan.consolePort !== undefined) own[consoleUrlVariable] = consoleAddress(plan);
  }
  // The user's settings win, except for those that only the supervisor can know.
  const decided = new Set(['BINDERY_NATS_URL', 'BINDERY_DATA', 'BINDERY_HOST', 'BINDERY_PORT']);
  const secrets = secretsOf(service, plan.secrets);
  const chosen = Object.entries(environment).flatMap(([name, value]): [string, string][] => {
    if (!passedOn.test(name) || decided.has(name) || value === undefined) return [];
    return !isSecret(name) || chosenSecrets[name]?.includes(service) ? [[name, value]] : [];
  });
  const environmentOfService = { ...own, ...secrets, ...Object.fromEntries(chosen) };
  // If the user keeps a secret in a file, ours is removed, because it would take precedence.
  for (const [name, services] of Object.entries(chosenSecrets)) {
    const isInFile = services.includes(service) && Boolean(environment[secretFileVariable(name)]) && !environment[name];
    if (isInFile) delete environmentOfService[name];
  }
  return environmentOfService;
}

/** Secrets that a user may set for the logins of sites. */
const secretsOfSiteHost: ReadonlySet<string> = new Set([
  'BINDERY_OIDC_CLIENT_SECRET',
  'BINDERY_LOGIN_SESSION_SECRET',
  'BINDERY_REDIS_PASSWORD',
]);

/** The environment of the host of sites, which is no service of the bus: it follows the gateway with a key. */
export function siteHostEnvironment(
  { dataFolder, publicUrl, host, secrets, sitesPort, freeSitesHealthPort }: InstallationPlan,
  environment: Record<string, string | undefined>,
): Record<string, string> {
  const chosen = Object.entries(environment).flatMap(([name, value]): [string, string][] =>
    passedOn.test(name) && value !== undefined && (!isSecret(name) || secretsOfSiteHost.has(name))
      ? [[name, value]]
      : [],
  );
  return {
    ...allocatorSettings,
    BINDERY_SITES_BASE: `localhost:${sitesPort}`,
    ...Object.fromEntries(chosen),
    BINDERY_DATA: dataFolder,
    BINDERY_SITES: 'platform',
    BINDERY_SITES_KEY: secrets.siteKey,
    BINDERY_PLATFORM_URL: publicUrl,
    BINDERY_HOST: host,
    BINDERY_DOCS_HOST_PORT: String(sitesPort),
    // The supervisor asks for the health, so it has to know the port.
    ...(Number(environment[healthPortVariable] || undefined) === 0 && {
      [healthPortVariable]: String(freeSitesHealthPort),
    }),
  };
}

const healthPortVariable = 'BINDERY_DOCS_HOST_HEALTH_PORT';

/** The port on which the host of sites answers `/readyz`: that of the sites, unless its environment names another one. Pure. */
export const siteHostHealthPort = (environment: Readonly<Record<string, string>>): string | undefined =>
  environment[healthPortVariable] || environment['BINDERY_DOCS_HOST_PORT'];

/** Address of the console for browsers on this machine. */
export const consoleAddress = ({ host, consolePort }: Pick<InstallationPlan, 'host' | 'consolePort'>): string =>
  `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${consolePort}`;

const consoleUrlVariable = 'BINDERY_CONSOLE_URL';

/** Secrets that a user may set for the console. */
const secretsOfConsole: ReadonlySet<string> = new Set([
  'BINDERY_CONSOLE_SECRET',
  'BINDERY_PERSON_TOKEN_KEY',
  'BINDERY_OIDC_CLIENT_SECRET',
  'BINDERY_REDIS_PASSWORD',
]);

/** The environment of the console, which is no service of the bus: it asks the gateway with the rights of the people who look. */
export function consoleEnvironment(
  plan: InstallationPlan,
  environment: Record<string, string | undefined>,
): Record<string, string> {
  const { dataFolder, host, gatewayPort, secrets, consolePort } = plan;
  // Without grants no account may use the console, and the settings of a provider are those for logins of sites.
  const hasAccounts = Boolean(environment.BINDERY_CONSOLE_GRANTS);
  const chosen = Object.entries(environment).flatMap(([name, value]): [string, string][] => {
    if (!passedOn.test(name) || value === undefined || (!hasAccounts && name.startsWith('BINDERY_OIDC_'))) return [];
    return !isSecret(name) || secretsOfConsole.has(name) ? [[name, value]] : [];
  });
  const own = { BINDERY_CONSOLE_SECRET: secrets.consoleSecret, BINDERY_PERSON_TOKEN_KEY: secrets.personTokenKey };
  return {
    ...allocatorSettings,
    [consoleUrlVariable]: consoleAddress(plan),
    // A secret that the user keeps in a file would lose against ours.
    ...Object.fromEntries(Object.entries(own).filter(([name]) => !environment[secretFileVariable(name)])),
    ...Object.fromEntries(chosen),
    BINDERY_DATA: dataFolder,
    BINDERY_PLATFORM_URL: `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${gatewayPort}`,
    BINDERY_HOST: host,
    BINDERY_CONSOLE_PORT: String(consolePort),
    // The supervisor asks for the health, so it has to know the port.
    ...(Number(environment.BINDERY_CONSOLE_HEALTH_PORT || undefined) === 0 && { BINDERY_CONSOLE_HEALTH_PORT: '' }),
  };
}

/** The port on which the console answers `/readyz`. Pure. */
export const consoleHealthPort = (environment: Readonly<Record<string, string>>): string | undefined =>
  environment.BINDERY_CONSOLE_HEALTH_PORT || environment.BINDERY_CONSOLE_PORT;

/** Exactly the secrets of an installation that a service needs, by their variables. */
export function secretsOf(service: ServiceName, secrets: Secrets): Record<string, string> {
  const { hashKey, linkSigningKey, operatorToken, auditKey, siteKey, personTokenKey } = secrets;
  const variables = callPairs
    .filter((pair) => pair.caller === service || pair.service === service)
    .map((pair) => callTokenVariable(pair.caller, pair.service));
  const needed: Partial<Record<ServiceName, Record<string, string>>> = {
    gateway: {
      BINDERY_HASH_KEY: hashKey,
      BINDERY_LINK_SIGNING_KEY: linkSigningKey,
      BINDERY_OPERATOR_TOKEN: operatorToken,
      BINDERY_SITES_KEYS: siteKey,
      BINDERY_PERSON_TOKEN_KEY: personTokenKey,
    },
    assistant: { BINDERY_HASH_KEY: hashKey },
    'link-signer': { BINDERY_LINK_SIGNING_KEY: linkSigningKey },
    projector: { BINDERY_AUDIT_KEY: auditKey },
  };
  return {
    [`BINDERY_NATS_PASSWORD_${variableName(service)}`]: secrets.natsPasswords[service] ?? '',
    ...Object.fromEntries(variables.map((variable) => [variable, secrets.callTokens[variable] ?? ''])),
    ...needed[service],
  };
}

/** Secrets that a user may set, with the services that need them. The supervisor sets all others. */
const chosenSecrets: Readonly<Record<string, readonly ServiceName[]>> = {
  BINDERY_HASH_KEY: ['gateway', 'assistant'],
  BINDERY_LINK_SIGNING_KEY: ['gateway', 'link-signer'],
  BINDERY_SITES_KEYS: ['gateway'],
  BINDERY_PERSON_TOKEN_KEY: ['gateway'],
  BINDERY_MISTRAL_API_KEY: ['indexer', 'assistant'],
  BINDERY_OPENAI_API_KEY: ['assistant'],
  BINDERY_EMBEDDING_API_KEY: ['indexer', 'assistant'],
  MISTRAL_API_KEY: ['assistant'],
  BINDERY_S3_SECRET_ACCESS_KEY: serviceNames,
  BINDERY_REDIS_PASSWORD: ['gateway'],
  BINDERY_ELASTICSEARCH_PASSWORD: ['indexer', 'assistant'],
  BINDERY_ELASTICSEARCH_API_KEY: ['indexer', 'assistant'],
};

/** True for secrets, also for `BINDERY_KEY`, the API key of the command line, which no service gets. */
const isSecret = (variable: string): boolean =>
  Object.hasOwn(chosenSecrets, variable) || /_(KEY|TOKEN|SECRET)$|^BINDERY_(NATS_PASSWORD|TOKEN)_/.test(variable);

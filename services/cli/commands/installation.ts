import { chmod, chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { openSecrets, type Secrets } from '#infra/supervisor/data-folder.ts';
import { secretsOf, type ServiceName, serviceNames } from '#infra/supervisor/services.ts';
import { natsConfig, supervisorUser } from '#shared/messaging/subjects/permissions.ts';
import { busSettings, dataFolderSettings, variableName } from '#shared/service/common-settings.ts';
import { loadConfig, secretSetting, setting } from '#shared/runtime/config.ts';
import { everySecond, retryUnavailable } from '#shared/runtime/retry.ts';
import { objectStoreFromConfig, objectStoreSettings } from '#shared/storage/open-object-store.ts';
import { localEnvironment } from '../bus-connection.ts';
import { wholeNumber } from '../command-options.ts';
import { type DataFolderOptions, dataFolderOf } from '../connection.ts';

/*
 * One-time setup of an installation with several machines or containers: its secrets, then its streams and bucket, then its first organization.
 * `bindery start` does all of it. Each command loads the code that only it needs.
 */

const healthPort = 8222;
const routePort = 6222;
/** The servers of a new installation may start at the same time as the commands that set them up. */
const startingMs = 60_000;

export function secretsCommand(program: Command): void {
  program
    .command('secrets')
    .description(
      'make the secrets of an installation, with a folder for each service, and the configuration of its bus',
    )
    .argument('<folder>', 'folder for the secrets; existing ones are kept')
    .option('--group <id>', 'numeric id of a group that may also read them', wholeNumber(0, 2 ** 31))
    .option('--nats <hosts...>', 'host names of the servers of a NATS cluster: each gets its own configuration')
    .action(async (folder: string, { group, nats = [] }: { group?: number; nats?: string[] }) => {
      await writeSecrets(folder, secretFiles(await openSecrets(folder), nats), group);
      process.stdout.write(`The secrets of the ${serviceNames.length} services are in ${folder}.\n`);
    });
}

type SecretFiles = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Files by folder and name: one file for each secret of a service, named after its variable. `BINDERY_SECRETS` of the service names the folder. */
function secretFiles(secrets: Secrets, natsHosts: readonly string[]): SecretFiles {
  const { natsPasswords, operatorToken, auditKey, siteKey, consoleSecret, personTokenKey } = secrets;
  const { s3SecretAccessKey, redisPassword, elasticsearchPassword } = secrets;
  const passwordOf = (user: string) => ({ [`BINDERY_NATS_PASSWORD_${variableName(user)}`]: natsPasswords[user] ?? '' });
  const s3 = { BINDERY_S3_SECRET_ACCESS_KEY: s3SecretAccessKey };
  const elasticsearch = { BINDERY_ELASTICSEARCH_PASSWORD: elasticsearchPassword };
  const more: Partial<Record<ServiceName, Record<string, string>>> = {
    gateway: { BINDERY_REDIS_PASSWORD: redisPassword },
    indexer: elasticsearch,
    assistant: elasticsearch,
  };
  return {
    ...Object.fromEntries(serviceNames.map((name) => [name, { ...secretsOf(name, secrets), ...s3, ...more[name] }])),
    // The host of sites is no service of the bus: it follows the gateway with this key.
    sites: { BINDERY_SITES_KEY: siteKey },
    // The console asks the gateway, and signs the requests of people with a key that both know.
    console: {
      BINDERY_CONSOLE_SECRET: consoleSecret,
      BINDERY_PERSON_TOKEN_KEY: personTokenKey,
      BINDERY_REDIS_PASSWORD: redisPassword,
    },
    provisioner: { ...passwordOf('provisioner'), ...s3 },
    operator: {
      ...passwordOf('operator'),
      ...passwordOf('auditor'),
      BINDERY_OPERATOR_TOKEN: operatorToken,
      BINDERY_AUDIT_KEY: auditKey,
      ...s3,
    },
    doctor: {
      ...passwordOf('provisioner'),
      ...passwordOf('auditor'),
      ...passwordOf(supervisorUser),
      ...s3,
      ...elasticsearch,
      BINDERY_REDIS_PASSWORD: redisPassword,
    },
    nats: natsFiles(secrets, natsHosts),
    // A crash may lose at most one minute of request counts.
    redis: { 'redis.conf': `requirepass ${redisPassword}\nsave 60 1\nstop-writes-on-bgsave-error no\ndir /data\n` },
    elasticsearch,
    s3,
  };
}

/** `nats.conf` of a single server, or `<host>.conf` of each server of a cluster. */
function natsFiles({ natsPasswords, natsRoutePassword }: Secrets, hosts: readonly string[]): Record<string, string> {
  const common = { host: '0.0.0.0', monitorPort: healthPort, passwords: natsPasswords };
  if (hosts.length === 0) return { 'nats.conf': natsConfig(common) };
  const routes = hosts.map((host) => `${host}:${routePort}`);
  const ofAll = { name: 'bindery', host: '0.0.0.0', port: routePort, routes, password: natsRoutePassword };
  return Object.fromEntries(
    hosts.map((host) => [`${host}.conf`, natsConfig({ ...common, cluster: { ...ofAll, serverName: host } })]),
  );
}

async function writeSecrets(folder: string, files: SecretFiles, group: number | undefined): Promise<void> {
  const share = async (path: string, alone: number, shared: number): Promise<void> => {
    if (group !== undefined) await chown(path, process.getuid?.() ?? 0, group);
    await chmod(path, group === undefined ? alone : shared);
  };
  for (const [name, ofOne] of Object.entries(files)) {
    const own = join(folder, name);
    await mkdir(own, { recursive: true });
    await share(own, 0o700, 0o750);
    for (const [file, text] of Object.entries(ofOne)) {
      const path = join(own, file);
      // The file is removed first, because an overwritten file would keep its mode.
      await rm(path, { force: true });
      await writeFile(path, `${text.trimEnd()}\n`, { mode: 0o600, flush: true });
      await share(path, 0o600, 0o640);
    }
  }
}

export const provisionSettings = {
  ...busSettings('provisioner'),
  ...objectStoreSettings,
  replicas: setting(
    'BINDERY_NATS_REPLICAS',
    z.enum(['1', '3', '5'], 'must be 1, 3 or 5').default('1').transform(Number),
    'number of replicas of each stream and bucket in a NATS cluster: 1, 3 or 5',
  ),
};

export function provisionCommand(program: Command): void {
  program
    .command('provision')
    .description(
      'make the streams, buckets and consumers of the bus and the bucket of the object store, or bring them up to date',
    )
    .option('--resume', 'also resume consumers that were paused by hand', false)
    .option('--data <folder>', 'data folder of a local installation (BINDERY_DATA, .bindery)')
    .action(async ({ resume, ...options }: DataFolderOptions & { resume: boolean }) => {
      const config = loadConfig(provisionSettings, { ...localEnvironment(dataFolderOf(options)), ...process.env });
      const { provision } = await import('#shared/messaging/nats/provision.ts');
      const { rendererVersion } = await import('#shared/docs/render/renderer-version.ts');
      const { natsUrl: url, natsPassword: password, replicas } = config;
      const warn = (line: string) => void process.stderr.write(`${line}\n`);
      const log = { warn, info: warn, error: (_: object, line: string) => warn(line) };
      await provision({ url, password, replicas, rendererVersions: [await rendererVersion()], resume, log });
      process.stdout.write(`The bus at ${url} has its streams, buckets and consumers.\n`);
      const store = objectStoreFromConfig(config);
      if (store.kind === 'folder') return;
      const { createS3Bucket } = await import('#shared/storage/s3-client.ts');
      const whileStarting = { ...everySecond, giveUpAfterMs: startingMs };
      await retryUnavailable(whileStarting, undefined, () => createS3Bucket(store));
      process.stdout.write(`The object store has the bucket "${store.bucket}".\n`);
    });
}

export const demoSettings = {
  ...dataFolderSettings,
  url: setting('BINDERY_URL', z.url(), 'address of the server that commands call'),
  publicUrl: objectStoreSettings.publicUrl,
  operatorToken: secretSetting('BINDERY_OPERATOR_TOKEN', z.string().min(16), "the operator's token"),
  consoleUrl: setting('BINDERY_CONSOLE_URL', z.url().optional(), 'address under which people reach the console'),
};

export function demoCommand(program: Command): void {
  program
    .command('demo')
    .description(
      'make the first organization of an installation, publish and export the documentation of Bindery as its demo, and ask it a question',
    )
    .action(async () => {
      const { url, publicUrl, dataFolder, operatorToken, consoleUrl } = loadConfig(demoSettings, process.env);
      const { firstInstallation, sayWelcome, showDemo } = await import('../demo.ts');
      const say = (line = '') => process.stdout.write(`${line}\n`);
      const local = await firstInstallation(url, operatorToken, dataFolder);
      await showDemo(local, dataFolder, say);
      sayWelcome({ ...local, baseUrl: publicUrl }, 'bindery', say);
      if (consoleUrl !== undefined) say(`The console is at ${consoleUrl}. Sign in with the admin key.\n`);
    });
}

export function prepareCommand(program: Command): void {
  program
    .command('prepare')
    .description('compile the code of all services, and make the snapshots from which child processes start')
    .action(async () => {
      const { prepareServices } = await import('../run-services.ts');
      await prepareServices((line) => process.stdout.write(`${line}\n`));
    });
}

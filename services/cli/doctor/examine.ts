import { join } from 'node:path';
import { oldestNatsServer } from '#infra/setup/server-locations.mjs';
import { languageModelSettings } from '#services/assistant/language-model.ts';
import { embedderSettings } from '#shared/embedding/open-embedder.ts';
import { redisAddressOf, redisSettings } from '#shared/http/redis-settings.ts';
import { busUsers } from '#shared/messaging/subjects/subject-table.ts';
import { loadConfig, secretIn, type Settings, type ConfigOf } from '#shared/runtime/config.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { fault, type Finding, findingsOf, good, warning } from '#shared/runtime/finding.ts';
import { elasticsearchSettings, searchSettings } from '#shared/search/open-search-index.ts';
import {
  linkSigningSettings,
  objectStoreFromConfig,
  objectStoreSettings,
  openObjectStore,
} from '#shared/storage/open-object-store.ts';
import { localEnvironment, passwordVariable } from '../bus-connection.ts';
import type { programSettings } from '../known-settings.ts';

/** The findings about one part of the installation: `bus`, `object store` … */
export type Examination = { about: string; findings: Finding[] };

export type ExaminationOptions = {
  environment: Readonly<Record<string, string | undefined>>;
  /** Data folder of an installation on this machine. Its addresses and secrets complete the environment. */
  dataFolder: string;
  /** Services whose settings must be in this environment. */
  services: readonly (keyof typeof programSettings)[];
  /** Address of the gateway, if it is known. */
  gateway: string | undefined;
  natsMonitors: readonly string[];
};

/** Examines all dependencies of an installation concurrently. A dependency that cannot be examined counts as a fault. */
export async function examine(options: ExaminationOptions): Promise<Examination[]> {
  const environment = { ...localEnvironment(options.dataFolder), ...options.environment };
  /** Wrong settings become findings too. */
  const withSettings = <S extends Settings>(settings: S, inspect: (config: ConfigOf<S>) => Promise<Finding[]>) =>
    findingsOf(async () => inspect(loadConfig(settings, environment)), 'Correct the setting that the message names.');
  const parts: Record<string, Promise<Finding[]>> = {
    machine: findingsOf(async () => {
      const { inspectMachine } = await import('./inspect-environment.ts');
      const isFolder = (environment.BINDERY_OBJECT_STORE ?? 'folder') === 'folder';
      const objects = isFolder ? [environment.BINDERY_OBJECT_FOLDER ?? join(options.dataFolder, 'objects')] : [];
      return inspectMachine([options.dataFolder, ...objects]);
    }, 'Check that the data folder can be read.'),
    settings: findingsOf(async () => {
      const { inspectSettings } = await import('./inspect-environment.ts');
      const findings = inspectSettings(options.environment, options.services);
      return findings.length === 0 ? [good('All variables BINDERY_… are known.')] : findings;
    }, 'Correct the setting that the message names.'),
    bus: findingsOf(() => examineBus(environment, options.natsMonitors), 'Look at the log of nats-server.'),
    'object store': withSettings({ ...objectStoreSettings, ...linkSigningSettings }, async (config) => {
      const settings = objectStoreFromConfig(config);
      const store = await openObjectStore(config);
      const isS3 = settings.kind === 's3';
      try {
        await store.check();
        const { inspectObjectStore } = await import('#shared/storage/inspect-object-store.ts');
        const where = isS3 ? `${settings.endpoint ?? 'AWS'} (bucket ${settings.bucket})` : settings.folder;
        return await inspectObjectStore(store, { where, followLinks: isS3 });
      } catch (error) {
        if (isS3) {
          const { s3Advice } = await import('#shared/storage/s3-client.ts');
          return [fault(`${messageOf(error)}.`, s3Advice(error))];
        }
        const { folderAdvice } = await import('#shared/storage/folder-object-store.ts');
        return [fault(`The object store does not work: ${messageOf(error)}.`, folderAdvice(error))];
      } finally {
        await store.close();
      }
    }),
    limits: withSettings(redisSettings, async (config) => {
      const address = redisAddressOf(config);
      if (address === undefined) {
        return [
          good('Each gateway counts requests in its memory (BINDERY_REDIS_URL is not set): right for one gateway.'),
        ];
      }
      const { inspectRedis } = await import('#shared/http/rate-limit-redis-inspection.ts');
      return inspectRedis(address);
    }),
    search: withSettings(searchSettings, async (config) => {
      if (config.searchEngine === 'sqlite') {
        return [good('Passages are searched in SQLite files of the data folder: right for one machine.')];
      }
      const { inspectElasticsearch } = await import('#shared/search/elasticsearch/elasticsearch-inspection.ts');
      return inspectElasticsearch(await elasticsearchSettings(config));
    }),
    model: withSettings(languageModelSettings, async (config) => {
      const { inspectLanguageModel } = await import('./inspect-platform.ts');
      return inspectLanguageModel(config);
    }),
    embedder: withSettings({ ...searchSettings, ...embedderSettings }, async (config) => {
      const { inspectEmbedder } = await import('./inspect-platform.ts');
      return inspectEmbedder(config);
    }),
    traces: findingsOf(async () => {
      const { inspectCollector } = await import('./inspect-platform.ts');
      return inspectCollector(environment);
    }, 'Correct the settings whose names begin with OTEL_.'),
    gateway: findingsOf(async () => {
      if (options.gateway === undefined) {
        return [good('Its address is not known, so it was not examined: give it with --url or BINDERY_URL.')];
      }
      const { inspectGateway } = await import('./inspect-platform.ts');
      return inspectGateway(options.gateway);
    }, 'Look at the log of the gateway.'),
  };
  return Promise.all(Object.entries(parts).map(async ([about, findings]) => ({ about, findings: await findings })));
}

/** The provisioner sees all streams. Without its password, the other users see less. */
async function examineBus(environment: Readonly<Record<string, string | undefined>>, monitors: readonly string[]) {
  const users = ['provisioner', ...busUsers];
  const user = users.find((each) => secretIn(environment, passwordVariable(each)) !== undefined);
  if (user === undefined) {
    return [
      fault(
        'No password for the bus is known here.',
        'Set BINDERY_SECRETS to the folder "doctor" that "bindery secrets" makes, or give --data with the data folder of an installation on this machine.',
      ),
    ];
  }
  const { inspectBus } = await import('#shared/messaging/nats/inspect-bus.ts');
  const { rendererVersion } = await import('#shared/docs/render/renderer-version.ts');
  const as = (each: string) => ({
    url: environment.BINDERY_NATS_URL ?? 'nats://127.0.0.1:4222',
    user: each,
    password: secretIn(environment, passwordVariable(each)) ?? '',
  });
  const findings = await inspectBus({
    address: as(user),
    oldestServer: oldestNatsServer,
    rendererVersions: [await rendererVersion()],
    withServices: true,
    monitors,
    supervisorPassword: secretIn(environment, passwordVariable('supervisor')),
  });
  const reader = letterReaders.find((each) => secretIn(environment, passwordVariable(each)) !== undefined);
  if (reader === undefined) {
    const advice = 'Give BINDERY_NATS_PASSWORD_AUDITOR: "bindery secrets" writes it to the folder "doctor".';
    return [...findings, warning('The dead letters were not examined.', advice)];
  }
  const { inspectDeadLetters } = await import('#shared/messaging/nats/inspect-dead-letters.ts');
  return [...findings, ...(await inspectDeadLetters(as(reader)))];
}

/** The users that read all dead letters. */
const letterReaders = ['auditor', 'operator'];

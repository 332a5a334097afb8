import type { ProgramName, ServiceName } from '#infra/supervisor/services.ts';
import { assistantSettings } from '#services/assistant/config.ts';
import { bundlerSettings } from '#services/bundler/config.ts';
import { consoleSettings } from '#services/console/config.ts';
import { deployerSettings } from '#services/deployer/config.ts';
import { docsHostSettings } from '#services/docs-host/config.ts';
import { gatewaySettings } from '#services/gateway/config.ts';
import { housekeeperSettings } from '#services/housekeeper/config.ts';
import { indexerSettings } from '#services/indexer/config.ts';
import { linkSignerSettings } from '#services/link-signer/config.ts';
import { orchestratorSettings } from '#services/orchestrator/config.ts';
import { pageRendererSettings } from '#services/page-renderer/config.ts';
import { projectorSettings } from '#services/projector/config.ts';
import { publisherSettings } from '#services/publisher/config.ts';
import type { Settings } from '#shared/runtime/config.ts';

/** The settings that each service reads from the environment. */
export const serviceSettings: Record<ServiceName, Settings> = {
  gateway: gatewaySettings,
  publisher: publisherSettings,
  indexer: indexerSettings,
  assistant: assistantSettings,
  orchestrator: orchestratorSettings,
  'page-renderer': pageRendererSettings,
  bundler: bundlerSettings,
  'link-signer': linkSignerSettings,
  projector: projectorSettings,
  housekeeper: housekeeperSettings,
  deployer: deployerSettings,
};

/** The settings that each program of `bindery run` reads. */
export const programSettings: Record<ProgramName, Settings> = {
  ...serviceSettings,
  console: consoleSettings,
  'docs-host': docsHostSettings,
};

/** Settings that no `config.ts` declares, because they are read before a service starts, or by the command line. */
export const otherVariables = [
  [
    'BINDERY_LOG_LEVEL',
    'info',
    'all services',
    'lowest level of log lines: debug, info, warn or error; services of "bindery start" have warn by default',
  ],
  ['BINDERY_CACHE', '~/.cache/bindery', 'set-up', 'cache folder of downloaded servers and programs'],
  ['BINDERY_REQUIRE_SERVERS', '0', 'set-up, tests', '1: test suites whose server is missing fail; 0: they are skipped'],
  [
    'BINDERY_SECRETS',
    'none',
    'all services, command line',
    'folder with a file for each secret, named like its variable; variables in the environment take precedence',
  ],
  [
    'BINDERY_FONTS_URL',
    'https://fonts.googleapis.com',
    'command line',
    'address of a service with the interface of Google Fonts, from which publish, check and dev fetch fonts',
  ],
  ['BINDERY_URL', 'none', 'command line', 'address of the server that commands call'],
  ['BINDERY_KEY', 'none', 'command line', 'API key of commands'],
  [
    'BINDERY_SITE_PASSWORD',
    'none',
    'command line',
    'password of the reader in "bindery site open --login password --user"',
  ],
] as const;

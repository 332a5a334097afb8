import { join } from 'node:path';
import { z } from 'zod';
import { type Installation, runInstallation } from '#infra/supervisor/run-installation.ts';
import { type ProgramName, programNames, serviceNames } from '#infra/supervisor/services.ts';
import { findServer } from '#infra/setup/find-server.ts';
import { type CodeWatch, watchCode } from '#infra/supervisor/watch-code.ts';
import { binderyCommand } from '#shared/runtime/command-words.ts';
import { ConfigError, loadConfig, onOff, portNumber, setting } from '#shared/runtime/config.ts';
import { isPackaged } from '#shared/runtime/installed-packages.ts';
import { logLevel } from '#shared/runtime/telemetry.ts';
import { newConsoleLink } from './console-link.ts';
import { firstInstallation, sayWelcome, showDemo } from './demo.ts';

export const startSettings = {
  host: setting('BINDERY_HOST', z.string().default('127.0.0.1'), 'address that the gateway listens on'),
  port: setting('BINDERY_PORT', portNumber.default(8080), 'port that the gateway listens on'),
  sitesPort: setting(
    'BINDERY_DOCS_HOST_PORT',
    portNumber.default(8090),
    'port that sites are served on; 0: a free one',
  ),
  consolePort: setting('BINDERY_CONSOLE_PORT', portNumber.default(8070), 'port of the console; 0: a free one'),
  console: setting('BINDERY_CONSOLE', onOff.default(true), '0: do not run the console'),
  data: setting('BINDERY_DATA', z.string().default('.bindery'), 'data folder'),
  processes: setting(
    'BINDERY_PROCESSES',
    z.enum(['shared', 'separate']).default('shared'),
    'shared: services share a few processes, which takes less memory and starts faster; separate: each has its own, as in a cluster',
  ),
  demo: setting('BINDERY_DEMO', onOff.default(true), '0: do not publish and export the demo'),
};

/** A second Ctrl-C within this time is the same one: the terminal also sends it to npm, which passes it on. */
const sameInterruptMs = 1_000;

/** `bindery start`: runs everything on this machine until Ctrl-C. `isWatching`: services restart when their code changes. */
export async function startInstallation(environment: NodeJS.ProcessEnv, isWatching: boolean): Promise<void> {
  if (isWatching && isPackaged) throw new ConfigError('--watch is for work on Bindery itself, in a clone of it.');
  const config = loadConfig(startSettings, environment);
  logLevel(environment);
  let isTerminalGone = false;
  const say = (line = ''): void => {
    if (!isTerminalGone) process.stdout.write(`${line}\n`);
  };
  const startedAt = performance.now();
  let interruptedAt: number | undefined;
  const stop = new AbortController();
  const stopAsked = new Promise<void>((resolve) => {
    const onSignal = () => {
      if (interruptedAt !== undefined && performance.now() - interruptedAt > sameInterruptMs) process.exit(130);
      interruptedAt ??= performance.now();
      stop.abort();
      resolve();
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
    // A closed terminal stops the installation like Ctrl-C, and no output can be written.
    process.on('SIGHUP', () => {
      isTerminalGone = true;
      onSignal();
    });
  });

  // In a clone, `npm start` has fetched nats-server.
  if (isPackaged && findServer('nats-server') === undefined)
    await (await import('#infra/setup/fetch-nats-server.mjs')).fetchNatsServer();
  say(`Starting Bindery: ${serviceNames.length} services and a nats-server, data in ${config.data}`);
  const installation = await runInstallation({
    dataFolder: config.data,
    host: config.host,
    port: config.port,
    sitesPort: config.sitesPort,
    ...(config.console && { consolePort: config.consolePort }),
    processes: config.processes,
    // People read this output, so log lines about normal work are left out.
    environment: { BINDERY_LOG_LEVEL: 'warn', ...environment },
    onNews: (news) => say(`· ${news}`),
    signal: stop.signal,
  }).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
    say('\nStopped before all services were ready.');
    process.exit(0);
  });
  let watching: CodeWatch | undefined;
  try {
    say(`· all services are ready after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    await nameUnread(environment, say);
    const { baseUrl, secrets, dataFolder, consoleUrl } = installation;
    const local = await firstInstallation(baseUrl, secrets.operatorToken, dataFolder, consoleUrl);
    let site: string | undefined;
    const demo = async () => {
      site = await showDemo(local, dataFolder, say, { withSite: true });
    };
    if (config.demo) await Promise.race([demo(), stopAsked]);
    if (interruptedAt === undefined) {
      sayWelcome(local, binderyCommand, say, site);
      if (consoleUrl !== undefined) say(consoleSentence(await newConsoleLink(dataFolder, consoleUrl, new Date())));
      if (isWatching) watching = restartOnChange(installation, say);
      say('Ctrl-C stops it.');
    }
    await stopAsked;
    say('\nStopping: services first, the bus last.');
  } finally {
    watching?.close();
    await installation.stop();
  }
  say('Stopped. The data is kept; start again to continue.');
  process.exit(0);
}

const consoleSentence = (link: string): string =>
  `The console shows sites, exports, keys and questions. This link signs in once, on this machine, within a minute:\n  ${link}\n"${binderyCommand} console" prints a new one.\n`;

/** Warns about variables that no program reads, such as settings of an earlier version. */
async function nameUnread(environment: NodeJS.ProcessEnv, say: (line: string) => void): Promise<void> {
  const own = new Set(Object.values(startSettings).map(({ env }) => env));
  if (!Object.keys(environment).some((name) => name.startsWith('BINDERY_') && !own.has(name))) return;
  // The settings of all programs are loaded on demand, because they take a second and 14 MB.
  const { unreadVariables } = await import('./doctor/inspect-environment.ts');
  for (const sentence of unreadVariables(environment)) say(`· ${sentence}`);
}

/** Restarts services whose code changed, one restart after the other. A service that cannot start is tried again by its supervisor. */
function restartOnChange(installation: Installation, say: (line: string) => void): CodeWatch {
  let restarts = Promise.resolve();
  say('Watching services/ and shared/: a service restarts when its code changes.');
  const restart = async (before: Promise<void>, services: readonly ProgramName[], file: string): Promise<void> => {
    await before;
    const names = services.length === programNames.length ? 'all services' : services.join(', ');
    const startedAt = performance.now();
    try {
      await installation.restart(services, `${file} changed; restarting ${names}`);
      say(`· ready again after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    } catch (error) {
      say(`· ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  return watchCode(repository, (services, file) => {
    restarts = restart(restarts, services, file);
  });
}

const repository = join(import.meta.dirname, '../..');

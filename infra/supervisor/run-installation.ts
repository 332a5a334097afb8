import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { execPath } from 'node:process';
import { findServer } from '#infra/setup/find-server.ts';
import { currentRendererVersion } from '#shared/docs/render/renderer-version.ts';
import { provision } from '#shared/messaging/nats/provision.ts';
import { natsConfig, supervisorUser } from '#shared/messaging/subjects/permissions.ts';
import { startCommand } from '#shared/runtime/command-words.ts';
import { ConfigError } from '#shared/runtime/config.ts';
import { errorCode } from '#shared/runtime/failures.ts';
import { lockFolder } from '#shared/storage/lock-folder.ts';
import { openSecrets, type Secrets, writePrivateJson } from './data-folder.ts';
import { freePorts, isFree } from './free-ports.ts';
import { keepRunning, type KeptProcess } from './keep-running.ts';
import { runNatsServer } from './nats-server.ts';
import { closeFolder, createPrivately } from './private-files.ts';
import {
  consoleAddress,
  consoleEnvironment,
  consoleHealthPort,
  type InstallationPlan,
  type OuterName,
  processEnvironment,
  processesOf,
  type ProcessPlan,
  type ProgramName,
  type ServiceName,
  serviceNames,
  siteHostEnvironment,
  siteHostHealthPort,
} from './services.ts';

/** The installation cannot start; the message names the setting or file that prevents it. */
class CannotStart extends Error {
  override name = 'CannotStart';
}

export type InstallationOptions = {
  dataFolder: string;
  host: string;
  port: number;
  environment: Record<string, string | undefined>;
  /** `shared`: services share a few processes. `separate`: each has its own, as in a cluster. */
  processes: 'shared' | 'separate';
  /** Number of copies of a service. The default is 1; 0 leaves the service out. */
  copies?: Partial<Record<ServiceName, number>>;
  /** Port of a host that serves all sites; 0: a free one. Without it there is no such host. */
  sitesPort?: number;
  /** Port of the console; 0: a free one. Without it there is none. */
  consolePort?: number;
  /** Run time after which a process counts as healthy, which resets the backoff of its restarts. Tests that kill processes shorten it. */
  healthyAfterMs?: number;
  /** Starts the bus. The default is one nats-server on the data folder. */
  startBus?: StartBus;
  /** Gets one line for each event, such as a restart. */
  onNews: (news: string) => void;
  /** Aborts a start in progress. Once all services are ready, use `stop`. */
  signal?: AbortSignal;
};

/** A bus that `runInstallation` sets up and stops. */
type RunningBus = {
  /** Addresses of all its servers, separated by commas. */
  url: string;
  /** Number of servers that keep each stream. */
  replicas: number;
  pids(): number[];
  stop(): Promise<void>;
};

type StartBus = (natsPasswords: Readonly<Record<string, string>>) => Promise<RunningBus>;

export type Installation = {
  baseUrl: string;
  dataFolder: string;
  secrets: Secrets;
  natsUrl: string;
  /** Port of the sites, if a host serves them. */
  sitesPort?: number | undefined;
  /** Address of the console, if there is one. */
  consoleUrl?: string | undefined;
  /** Ids of the processes that currently run a service. */
  pids(service: ServiceName | 'nats-server'): number[];
  /** Ends the processes that run these programs and starts them from the current code; `why` is the reason for the log. Resolves when they are ready. */
  restart(programs: readonly ProgramName[], why: string): Promise<void>;
  stop(): Promise<void>;
};

const stopGraceMs = 8_000;
const readyDeadlineMs = 60_000;

/**
 * Runs all services on this machine, with a bus of their own. Resolves when every one is ready. When it rejects, also because `signal` aborted, every
 * process has been stopped.
 */
export async function runInstallation(options: InstallationOptions): Promise<Installation> {
  const { onNews, signal = new AbortController().signal } = options;
  const dataFolder = resolve(options.dataFolder);
  createPrivately();
  const { foreign } = await closeFolder(dataFolder);
  if (foreign > 0) onNews(`${foreign} files or folders in ${dataFolder} belong to another user and keep their modes`);
  const lock = await lockFolder(dataFolder);
  const undo: (() => Promise<void>)[] = [() => lock.release()];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    if (options.port !== 0 && !(await isFree(options.host, options.port))) {
      throw new CannotStart(
        `Port ${options.port} is taken by another program. Choose a free one with BINDERY_PORT, for example BINDERY_PORT=${options.port + 1} ${startCommand}.`,
      );
    }
    const secrets = await openSecrets(dataFolder);
    if (options.sitesPort !== undefined && options.sitesPort !== 0 && !(await isFree(options.host, options.sitesPort)))
      throw new CannotStart(
        `Port ${options.sitesPort} is taken by another program. The sites need one: choose a free one with BINDERY_DOCS_HOST_PORT, for example BINDERY_DOCS_HOST_PORT=${options.sitesPort + 1} ${startCommand}.`,
      );
    if (
      options.consolePort !== undefined &&
      options.consolePort !== 0 &&
      !(await isFree(options.host, options.consolePort))
    )
      throw new CannotStart(
        `Port ${options.consolePort} is taken by another program. The console needs one: choose a free one with BINDERY_CONSOLE_PORT, for example BINDERY_CONSOLE_PORT=${options.consolePort + 1} ${startCommand}.`,
      );
    const [
      natsPort = 0,
      freeGatewayPort = 0,
      freeSitesPort = 0,
      freeSitesHealthPort = 0,
      freeConsolePort = 0,
      ...servicePorts
    ] = await freePorts(serviceNames.length + 5);
    const consolePort = options.consolePort === 0 ? freeConsolePort : options.consolePort;
    const sitesPort = options.sitesPort === 0 ? freeSitesPort : options.sitesPort;
    const gatewayPort = options.port === 0 ? freeGatewayPort : options.port;
    const baseUrl = `http://${options.host === '0.0.0.0' ? '127.0.0.1' : options.host}:${gatewayPort}`;

    const startBus = options.startBus ?? ((passwords) => embeddedBus(dataFolder, natsPort, passwords, options));
    const nats = await startBus(secrets.natsPasswords);
    undo.push(() => nats.stop());
    signal.throwIfAborted();
    onNews(`nats-server is up (${nats.url})`);
    const provisionBus = async () =>
      provision({
        url: nats.url,
        password: secrets.natsPasswords.provisioner ?? '',
        replicas: nats.replicas,
        rendererVersions: [await currentRendererVersion()],
        log: { info: onNews, warn: onNews, error: (_, line) => onNews(line) },
      });
    await provisionBus();
    signal.throwIfAborted();

    const plan: InstallationPlan = {
      dataFolder,
      publicUrl: options.environment.BINDERY_PUBLIC_URL ?? baseUrl,
      host: options.host,
      gatewayPort,
      natsUrl: nats.url,
      ports: Object.fromEntries(
        serviceNames.map((name, index) => [name, servicePorts[index] ?? 0]),
      ) as InstallationPlan['ports'],
      secrets,
      rendererSlots: availableParallelism(),
      sitesPort,
      freeSitesHealthPort,
      consolePort,
    };
    const ports = { nats: natsPort, ...plan.ports, gateway: gatewayPort, 'gateway-inside': plan.ports.gateway };
    await writePrivateJson(join(dataFolder, 'ports.json'), ports);

    let isStarting = true;
    const processes = processesOf(options.processes, options.copies).map((process) => ({
      ...process,
      kept: startProcess(process, plan, options, () => isStarting),
    }));
    undo.push(async () => {
      await Promise.all(processes.map(({ kept }) => kept.stop(stopGraceMs)));
    });
    const whenAllReady = async (started: typeof processes) => {
      await Promise.all(
        started
          .filter(({ copy }) => copy === 0)
          .flatMap(({ services, kept }) =>
            services.map((name) =>
              whenReady(name, name === 'gateway' ? baseUrl : `http://127.0.0.1:${plan.ports[name]}`, kept, signal),
            ),
          ),
      );
    };
    await whenAllReady(processes);
    const address = options.host === '0.0.0.0' ? '127.0.0.1' : options.host;
    const startOuter = (name: OuterName, environment: Record<string, string>, healthPort: string | undefined) => {
      const kept = startOuterProcess(name, environment, options);
      undo.push(() => kept.stop(stopGraceMs));
      return { name, kept, ready: () => whenReady(name, `http://${address}:${healthPort}`, kept, signal) };
    };
    const outer: ReturnType<typeof startOuter>[] = [];
    if (sitesPort !== undefined) {
      const environment = siteHostEnvironment(plan, options.environment);
      outer.push(startOuter('docs-host', environment, siteHostHealthPort(environment)));
    }
    if (consolePort !== undefined) {
      const environment = consoleEnvironment(plan, options.environment);
      outer.push(startOuter('console', environment, consoleHealthPort(environment)));
    }
    await Promise.all(outer.map(({ ready }) => ready()));
    isStarting = false;
    return {
      sitesPort,
      consoleUrl: consolePort === undefined ? undefined : consoleAddress(plan),
      baseUrl,
      dataFolder,
      secrets,
      natsUrl: nats.url,
      pids: (service) =>
        service === 'nats-server'
          ? nats.pids()
          : processes.flatMap(({ services, kept }) => (services.includes(service) ? (kept.pid() ?? []) : [])),
      async restart(names, why) {
        const concerned = processes.filter(({ services }) => services.some((name) => names.includes(name)));
        // A renderer of another version has a consumer of its own.
        await provisionBus();
        const concernedOuter = outer.filter(({ name }) => names.includes(name));
        await Promise.all([...concerned, ...concernedOuter].map(({ kept }) => kept.restart(stopGraceMs, why)));
        await Promise.all([whenAllReady(concerned), ...concernedOuter.map(({ ready }) => ready())]);
      },
      stop,
    };
  } catch (error) {
    await stop();
    if (errorCode(error) !== 'ENOSPC') throw error;
    throw new CannotStart(
      `The disk of the data folder ${dataFolder} is full. Make room there, then start again. Nothing that is stored is lost.`,
      { cause: error },
    );
  }
}

/** Starts a nats-server for this installation alone. */
async function embeddedBus(
  dataFolder: string,
  port: number,
  passwords: Readonly<Record<string, string>>,
  { onNews, healthyAfterMs }: InstallationOptions,
): Promise<RunningBus> {
  const binary = findServer('nats-server');
  if (binary === undefined) {
    throw new CannotStart(
      `There is no nats-server of version 2.12 or later. "${startCommand}" obtains one. You can also install it and put it on the PATH.`,
    );
  }
  const folder = join(dataFolder, 'nats');
  const server = await runNatsServer({
    binary,
    folder,
    port,
    configText: natsConfig({ port, storeDir: join(folder, 'store'), passwords }),
    onExit: onNews,
    healthyAfterMs,
    supervisorPassword: passwords[supervisorUser],
  });
  const pids = () => [server.pid()].filter((pid) => pid !== undefined);
  return { url: server.url, replicas: 1, pids, stop: () => server.stop() };
}

/** Limits V8's young generation. By default it keeps tens of megabytes in each process, also in an idle one. */
const serviceFlags = ['--max-semi-space-size=4'];

function startProcess(
  process: ProcessPlan,
  plan: InstallationPlan,
  options: InstallationOptions,
  isStarting: () => boolean,
): KeptProcess {
  const main = join(import.meta.dirname, '../../services/cli/bindery.mjs');
  const names = process.services.join(',');
  const kept = keepRunning(
    {
      name: names,
      command: execPath,
      args: [...serviceFlags, main, 'run', names],
      options: {
        env: processEnvironment(process, plan, options.environment),
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      },
    },
    (news) => {
      // Wrong settings end the start with their own sentence.
      if (kept.wrongSettings() === undefined || !isStarting()) options.onNews(news);
    },
    options.healthyAfterMs,
  );
  return kept;
}

/** Starts the host of all sites or the console, in a process of its own. */
function startOuterProcess(
  name: OuterName,
  env: Record<string, string>,
  { onNews, healthyAfterMs }: InstallationOptions,
): KeptProcess {
  const main = join(import.meta.dirname, '../../services/cli/bindery.mjs');
  return keepRunning(
    {
      name,
      command: execPath,
      args: [...serviceFlags, main, 'run', name],
      options: { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
    },
    onNews,
    healthyAfterMs,
  );
}

/** Resolves once `<url>/readyz` answers 200. Rejects with `ConfigError` for wrong settings, with the last answer after the deadline, or with the reason of `signal`. */
async function whenReady(service: string, url: string, process: KeptProcess, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + readyDeadlineMs;
  let missing = 'it does not listen';
  while (performance.now() < deadline) {
    try {
      const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(3_000) });
      if (response.ok) return;
      missing = await response.text();
    } catch {
      missing = 'it does not listen';
    }
    signal.throwIfAborted();
    const wrongSettings = process.wrongSettings();
    if (wrongSettings !== undefined) throw new ConfigError(wrongSettings);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  const why = [missing, process.lastEnd()].filter((reason) => reason !== undefined).join('; ');
  throw new Error(`The ${service} was not ready within ${readyDeadlineMs / 1000} s: ${why}`);
}

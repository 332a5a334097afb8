import { setTimeout as delay } from 'node:timers/promises';
import { createPrivately } from '#infra/supervisor/private-files.ts';
import { type ProgramName, programNames } from '#infra/supervisor/services.ts';
import { replaceFetchOnUse } from '#shared/http/replace-fetch.ts';
import { ConfigError, type ConfigOf, loadConfig, type Settings } from '#shared/runtime/config.ts';
import { missingPackage } from '#shared/runtime/installed-packages.ts';
import { createLogger } from '#shared/runtime/telemetry.ts';
import { collectTraces } from '#shared/runtime/tracing.ts';
import type { Running } from '#shared/service/start-service.ts';

/** Thrown for an unknown service name; the message lists the names. */
class UnknownService extends Error {
  override name = 'UnknownService';
}

/** The names in a list such as `gateway,assistant`. Throws `UnknownService`. */
export function parseServiceNames(list: string): ProgramName[] {
  return list.split(',').map((name) => {
    const known = programNames.find((each) => each === name);
    if (known !== undefined) return known;
    throw new UnknownService(`There is no service "${name}". There are: ${programNames.join(', ')}.`);
  });
}

/**
 * Runs services in this process until SIGTERM, Ctrl-C, the end of its terminal or, under a supervisor, the end of the channel to it. Under a
 * supervisor, Ctrl-C and the end of the terminal are ignored here, because the supervisor stops the services in order.
 */
export async function runServices(names: ProgramName[]): Promise<void> {
  try {
    await runUntilStopped(names);
  } catch (thrown) {
    const missing = missingPackage(thrown);
    const error = missing === undefined ? thrown : new ConfigError(missing);
    if (error instanceof ConfigError && process.send !== undefined) {
      process.send({ wrongSettings: error.message } satisfies ToSupervisor);
      // The supervisor of "bindery start" ends this process, and reports the settings once for all processes. Other supervisors do not.
      await delay(supervisorMs);
    }
    throw error;
  }
}

/** Messages of a process to its supervisor: the settings are wrong, and how; or its services are ready. */
type ToSupervisor = { wrongSettings: string } | { ready: { name: string; url: string }[] };

const supervisorMs = 1_000;

async function runUntilStopped(names: ProgramName[]): Promise<void> {
  createPrivately();
  const running: Running[] = [];
  const stopAsked = new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve);
    // SIGINT is Ctrl-C, and SIGHUP a closed terminal.
    for (const signal of ['SIGINT', 'SIGHUP'] as const)
      if (process.send === undefined) process.once(signal, resolve);
      else process.on(signal, () => {});
    if (process.send !== undefined) process.once('disconnect', resolve);
  });
  replaceFetchOnUse();
  const sendTraces = await collectTraces(names, process.env, createLogger('traces', names.join(',')));
  const start = async () => {
    // They start in order, because a gateway needs the services that it calls.
    for (const name of names) running.push(await serviceTable[name].start(process.env));
    process.send?.({ ready: running.map(({ name, url }) => ({ name, url })) } satisfies ToSupervisor);
    await stopAsked;
  };
  // A service that waits for its bus can be stopped too.
  await Promise.race([start(), stopAsked]);
  await Promise.all(running.toReversed().map((service) => service.stop()));
  await sendTraces();
  process.exit(0);
}

/**
 * Prepares files that cannot be written later, as in an image: compiles the code of all services, and makes the snapshots for their child processes.
 * Otherwise services do this at their first start. Rejects when a snapshot cannot be made.
 */
export async function prepareServices(say: (line: string) => void): Promise<void> {
  const { renderChild } = await import('#services/page-renderer/render-pages.ts');
  const { pageReader } = await import('#services/indexer/cut-pages.ts');
  const { archiveReader } = await import('#services/publisher/project-files.ts');
  const { projectReader } = await import('#shared/docs/project/analyze-project.ts');
  const { withSnapshot } = await import('#shared/docs/sandbox/child-snapshot.ts');
  const services = Object.values(serviceTable);
  for (const service of services) await service.load();
  say(`The code of ${services.length} services is compiled.`);
  for (const program of [renderChild, pageReader, archiveReader, projectReader]) {
    await withSnapshot(program, {
      info: say,
      warn: (line) => {
        throw new Error(line);
      },
    });
  }
}

type Service = {
  /** Loads the code of the service. */
  load(): Promise<unknown>;
  /** Reads its settings from the environment and starts it. */
  start(env: NodeJS.ProcessEnv): Promise<Running>;
};

const service = <S extends Settings>(
  load: () => Promise<{ settings: S; start: (config: ConfigOf<S>) => Promise<Running> }>,
): Service => ({
  load,
  async start(env) {
    const { settings, start } = await load();
    return start(loadConfig(settings, env));
  },
});

/** The one place that knows all services. They are loaded on demand, so that a process holds only the code of the services that it runs. */
const serviceTable: Record<ProgramName, Service> = {
  projector: service(() => import('#services/projector/main.ts')),
  publisher: service(() => import('#services/publisher/main.ts')),
  indexer: service(() => import('#services/indexer/main.ts')),
  orchestrator: service(() => import('#services/orchestrator/main.ts')),
  'page-renderer': service(() => import('#services/page-renderer/main.ts')),
  bundler: service(() => import('#services/bundler/main.ts')),
  'link-signer': service(() => import('#services/link-signer/main.ts')),
  assistant: service(() => import('#services/assistant/main.ts')),
  housekeeper: service(() => import('#services/housekeeper/main.ts')),
  deployer: service(() => import('#services/deployer/main.ts')),
  gateway: service(() => import('#services/gateway/main.ts')),
  'docs-host': service(() => import('#services/docs-host/main.ts')),
  console: service(() => import('#services/console/main.ts')),
};

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import type { Installation } from '#infra/supervisor/run-installation.ts';
import { processEnvironment, type ServiceName, serviceNames } from '#infra/supervisor/services.ts';
import { callTokenVariable } from '#shared/interfaces/internal/internal-calls.ts';
import { provision } from '#shared/messaging/nats/provision.ts';
import { withDeadline } from '#shared/runtime/with-deadline.ts';
import { folderOfVersion, git } from './version-folder.ts';

/** A file that every version has, and whose changes two versions must tolerate. */
const events = 'shared/aggregates/export-job/export-job.ts';
/** Pattern of a line that declares an event. Other changes of the file do not count as a difference of the versions. */
const declaration = "event\\('";
/** The first version that reads every event that this one writes: a new event is declared one version before it is written. */
const firstReader = 'e683fe02';

export type OlderService = { url: string; pid: number; stop(): Promise<void> };

/**
 * An older program with its own code, run from a separate folder: the one before the last change of an export's events, or if later, the first one
 * that reads all current events.
 */
export type OlderVersion = {
  commit: string;
  rendererVersion: string;
  /** Starts one of its services beside those of an installation, with the same secrets and settings. */
  start(service: ServiceName, installation: Installation): Promise<OlderService>;
  remove(): Promise<void>;
};

/** The commit of the older version; undefined without the history, as in a package or a shallow clone. */
export function olderCommit(): string | undefined {
  try {
    const changed = git('log', '-1', '--format=%H', `-G${declaration}`, '--', events);
    const before = git('rev-parse', '--verify', `${changed}^{commit}~1`);
    const reader = git('rev-parse', '--verify', `${firstReader}^{commit}`);
    return git('merge-base', before, reader) === before ? reader : before;
  } catch {
    return undefined;
  }
}

/** Extracts the older version from the history, with its own packages. */
export async function checkOutOlder(commit: string): Promise<OlderVersion> {
  const folder = await folderOfVersion(commit);
  const versionFile = join(folder, 'shared/docs/render/renderer-version.ts');
  const print = `console.log(await (await import(${JSON.stringify(versionFile)})).rendererVersion())`;
  const rendererVersion = execFileSync(process.execPath, ['--input-type=module', '-e', print], {
    cwd: folder,
    encoding: 'utf8',
  }).trim();
  return {
    commit,
    rendererVersion,
    async start(service, { natsUrl, secrets, dataFolder, baseUrl }) {
      if (service === 'page-renderer') {
        const password = secrets.natsPasswords.provisioner ?? '';
        await provision({ url: natsUrl, password, rendererVersions: [rendererVersion] });
      }
      const [port = 0, gatewayPort = 0] = await freePorts(2);
      const ports = JSON.parse(await readFile(join(dataFolder, 'ports.json'), 'utf8'));
      const plan = { dataFolder, publicUrl: baseUrl, host: '127.0.0.1', gatewayPort, natsUrl, secrets };
      const env = processEnvironment(
        { services: [service], copy: 0 },
        { ...plan, ports: { ...pick(ports), [service]: port }, rendererSlots: 2 },
        { ...process.env, BINDERY_LOG_LEVEL: 'error', BINDERY_LIMIT_STARTS_PER_HOUR: '100000' },
      );
      const child = spawn(process.execPath, [join(folder, 'services/cli/main.ts'), 'run', service], {
        // Earlier versions had one token for all services. Here it is the token of the gateway's calls to the link-signer.
        env: { ...env, BINDERY_SERVICE_TOKEN: env[callTokenVariable('gateway', 'link-signer')] ?? 'none'.repeat(8) },
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      });
      const ended = once(child, 'exit');
      const ready = Promise.race([
        once(child, 'message'),
        ended.then(([code]) => Promise.reject(new Error(`The older ${service} ended with ${String(code)}.`))),
      ]);
      await withDeadline(ready, 60_000, () => new Error(`The older ${service} did not start within a minute.`));
      return {
        url: `http://127.0.0.1:${service === 'gateway' ? gatewayPort : port}`,
        pid: child.pid ?? 0,
        async stop() {
          child.kill('SIGTERM');
          await ended;
        },
      };
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

const pick = (ports: Record<string, number>): Record<ServiceName, number> =>
  Object.fromEntries(serviceNames.map((name) => [name, ports[name] ?? 0])) as Record<ServiceName, number>;

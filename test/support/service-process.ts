import { join } from 'node:path';
import { execPath } from 'node:process';
import type { ServiceName } from '#infra/supervisor/services.ts';
import { callPairs, callTokenVariable } from '#shared/interfaces/internal/internal-calls.ts';
import { variableName } from '#shared/service/common-settings.ts';
import { operatorToken } from './gateway-harness.ts';
import { startServerProcess } from './server-process.ts';
import type { TestBus } from './start-bus.ts';

export type ServiceProcess = {
  pid: number;
  url: string;
  /** Address of its health and metrics. */
  insideUrl: string;
  /** Sends a signal, by default SIGTERM. */
  stop(signal?: NodeJS.Signals): Promise<void>;
};

/** Environment of every service on this bus, with its data in `folder`. The operator token is that of the gateway harness. */
export function environmentOn(bus: TestBus, folder: string): Record<string, string> {
  return {
    BINDERY_NATS_URL: bus.server.url,
    ...Object.fromEntries(
      Object.entries(bus.passwords).map(([service, password]) => [
        `BINDERY_NATS_PASSWORD_${variableName(service)}`,
        password,
      ]),
    ),
    ...Object.fromEntries(
      callPairs.map(({ caller, service }) => [
        callTokenVariable(caller, service),
        `token of the ${caller} for the ${service}`,
      ]),
    ),
    BINDERY_HASH_KEY: 'the-hash-key-of-tests',
    BINDERY_AUDIT_KEY: 'the-audit-key-of-tests',
    BINDERY_OPERATOR_TOKEN: operatorToken,
    BINDERY_LINK_SIGNING_KEY: 'the-link-signing-key-of-tests',
    BINDERY_DATA: folder,
    BINDERY_OBJECT_FOLDER: join(folder, 'objects'),
    BINDERY_PORT: '0',
    BINDERY_PUBLISHER_URL: 'http://127.0.0.1:1',
    BINDERY_LINK_SIGNER_URL: 'http://127.0.0.1:1',
    BINDERY_ASSISTANT_URL: 'http://127.0.0.1:1',
    BINDERY_PROJECTOR_URL: 'http://127.0.0.1:1',
  };
}

const main = join(import.meta.dirname, '../../services/cli/bindery.mjs');

/** `bindery run <service>` on free ports, listening. */
export async function startServiceProcess(
  service: ServiceName,
  environment: Record<string, string>,
): Promise<ServiceProcess> {
  const command = {
    program: execPath,
    args: [main, 'run', service],
    env: { ...process.env, BINDERY_LOG_LEVEL: 'info', BINDERY_LINGER_SECONDS: '0', ...environment },
  };
  const listens = 'listening at (http:[^"\\s]+)';
  // A gateway opens the port for clients first, and then the internal one.
  const ready = new RegExp(service === 'gateway' ? `${listens}[^]*${listens}` : listens);
  const running = await startServerProcess(command, ready);
  const [, url = '', insideUrl = url] = running.greeting;
  return { pid: running.pid, url, insideUrl, stop: (signal = 'SIGTERM') => running.kill(signal) };
}

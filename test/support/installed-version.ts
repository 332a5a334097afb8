import { join } from 'node:path';
import { execPath } from 'node:process';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import { type ApiClient, apiClient } from '#services/cli/api-client.ts';
import { readLocalInstallation } from '#services/cli/connection.ts';
import { startServerProcess } from './server-process.ts';

/** An installation of some version on a data folder, as "npm start" runs it. */
export type InstalledVersion = {
  domain: string;
  admin: ApiClient;
  reader: ApiClient;
  /** Output of the installation so far. */
  said(): string;
  /** Stops it as Ctrl-C does. */
  stop(): Promise<void>;
  /** Kills it as a loss of power would: nats-server and services get no signal to stop. */
  kill(): Promise<void>;
};

const withinMs = 240_000;

/** Starts the program of a folder, of any version, on a data folder. Rejects with its output when it does not start. */
export async function startVersion(folder: string, data: string): Promise<InstalledVersion> {
  const [port = 0] = await freePorts(1);
  const { PATH, HOME, TMPDIR, BINDERY_CACHE, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, HOME, TMPDIR, BINDERY_CACHE, NODE_COMPILE_CACHE };
  let said = '';
  const server = await startServerProcess(
    {
      program: execPath,
      args: [join(folder, 'services/cli/bindery.mjs'), 'start'],
      cwd: folder,
      env: {
        ...Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined)),
        BINDERY_DATA: data,
        BINDERY_PORT: String(port),
        BINDERY_DOCS_HOST_PORT: '0',
        BINDERY_CONSOLE_PORT: '0',
        BINDERY_DEMO: '0',
        BINDERY_LOG_LEVEL: 'error',
      },
      onOutput: (text) => {
        said += text;
      },
    },
    /Ctrl-C stops it/,
    withinMs,
  );
  const local = readLocalInstallation(data);
  if (local === undefined) throw new Error(`There is no local.json in ${data}.`);
  return {
    domain: local.domain,
    admin: apiClient(local.baseUrl, local.adminKey),
    reader: apiClient(local.baseUrl, local.assistantKey),
    said: () => said,
    stop: () => server.kill('SIGINT'),
    kill: () => server.kill('SIGKILL'),
  };
}

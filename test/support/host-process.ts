import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { type ServerProcess, startServerProcess } from './server-process.ts';

const main = join(import.meta.dirname, '../../services/cli/bindery.mjs');

/** A documentation host in a process with a folder of its own. */
export type HostProcess = {
  readonly url: string;
  readonly pid: number;
  /** Kills it (SIGKILL), and starts it again on the same folder and port. */
  restart(): Promise<void>;
  /** Kills the process and removes its folder. */
  end(): Promise<void>;
};

/** Starts `bindery run docs-host` with these settings on a free port. Resolves when it listens. */
export async function startHostProcess(settings: Record<string, string>): Promise<HostProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'bindery-host-process-'));
  const start = (port: string): Promise<ServerProcess> =>
    startServerProcess(
      {
        program: execPath,
        args: [main, 'run', 'docs-host'],
        env: {
          PATH: process.env.PATH,
          NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
          BINDERY_DATA: folder,
          BINDERY_HOST: '127.0.0.1',
          BINDERY_DOCS_HOST_PORT: port,
          BINDERY_LOG_LEVEL: 'info',
          ...settings,
        },
      },
      /listening at (http:[^"\s]+)/,
    );
  let running = await start('0');
  const url = running.greeting[1] ?? '';
  return {
    url,
    get pid() {
      return running.pid;
    },
    async restart() {
      await running.kill();
      running = await start(new URL(url).port);
    },
    async end() {
      await running.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

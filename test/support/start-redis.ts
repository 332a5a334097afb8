import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireServer } from '#infra/setup/find-server.ts';
import { freePort, startServerProcess } from './server-process.ts';

export type RedisServer = {
  url: string;
  port: number;
  readonly pid: number;
  /** SIGKILL unless said otherwise. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Connections stay open and nothing is answered until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** The same port, with nothing in it; ends what still runs. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

/** A real Redis on loopback that keeps nothing on disk, ready for connections. @throws ServerMissing */
export async function startRedis(): Promise<RedisServer> {
  const program = requireServer('redis-server');
  const folder = await mkdtemp(join(tmpdir(), 'bindery-redis-'));
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'];
  const start = () => startServerProcess({ program, args }, /Ready to accept connections/);
  let server = await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get pid() {
      return server.pid;
    },
    kill: (signal) => server.kill(signal),
    pause: () => server.kill('SIGSTOP'),
    resume: () => server.kill('SIGCONT'),
    async restart() {
      await server.kill();
      server = await start();
    },
    async stop() {
      await server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireServer } from '#infra/setup/find-server.ts';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import { type RestartableServer, restartableServer, startServerProcess } from './server-process.ts';

export type RedisServer = RestartableServer & { url: string; port: number };

/**
 * A real Redis on loopback that keeps nothing on disk, ready for connections. `settings` are further arguments of `redis-server`.
 * @throws ServerMissing
 */
export async function startRedis(settings: readonly string[] = []): Promise<RedisServer> {
  const program = requireServer('redis-server');
  const folder = await mkdtemp(join(tmpdir(), 'bindery-redis-'));
  const [port = 0] = await freePorts(1);
  const args = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    folder,
    '--save',
    '',
    '--appendonly',
    'no',
    ...settings,
  ];
  const start = () => startServerProcess({ program, args }, /Ready to accept connections/);
  return Object.assign(await restartableServer(folder, start), { url: `redis://127.0.0.1:${port}`, port });
}

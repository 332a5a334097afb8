import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireServer } from '#infra/setup/find-server.ts';
import { acceptsConnections, freePort, startServerProcess } from './server-process.ts';

export type VersityGateway = {
  endpoint: string;
  accessKeyId: string;
  secretAccessKey: string;
  region: string;
  readonly pid: number;
  /** SIGKILL unless said otherwise; what is stored stays for `restart`. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Connections stay open and nothing is answered until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** The same port and objects; ends what still runs. */
  restart(): Promise<void>;
  /** Ends it and removes what it stored. */
  stop(): Promise<void>;
};

const accessKeyId = 'test';
const secretAccessKey = 'test-secret';

/** A real S3 server (Versity S3 Gateway over a temporary folder) on loopback, without buckets. @throws ServerMissing */
export async function startVersityGateway(): Promise<VersityGateway> {
  const program = requireServer('versitygw');
  const folder = await mkdtemp(join(tmpdir(), 'bindery-s3-'));
  const [data, sidecar] = [join(folder, 'data'), join(folder, 'meta')];
  await Promise.all([mkdir(data), mkdir(sidecar)]);
  const port = await freePort();
  const command = {
    program,
    args: ['--quiet', '--port', `127.0.0.1:${port}`, 'posix', '--sidecar', sidecar, data],
    env: { ROOT_ACCESS_KEY: accessKeyId, ROOT_SECRET_KEY: secretAccessKey },
  };
  const start = async () => {
    const started = await startServerProcess(command, /single account mode/);
    // What it prints says what it will do, not that it listens.
    await acceptsConnections(port);
    return started;
  };
  let server = await start();
  return {
    endpoint: `http://127.0.0.1:${port}`,
    accessKeyId,
    secretAccessKey,
    region: 'us-east-1',
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

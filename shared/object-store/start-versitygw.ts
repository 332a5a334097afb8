import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';

const cache = process.env['BINDERY_CACHE'] ?? join(homedir(), '.cache', 'bindery');
const binary = join(cache, 'versitygw-1.8.0', 'versitygw');

/** A Versity S3 Gateway of its own, over a new folder; for tests. */
export type VersityGateway = {
  endpoint: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  pause(): void;
  resume(): void;
  /** Kills it and removes its folder. */
  stop(): Promise<void>;
};

/** Why tests cannot start a gateway; undefined when they can. Where servers are required, a missing one is an error instead. */
export function versityGatewayMissing(): string | undefined {
  if (existsSync(binary)) return undefined;
  const reason = `the Versity S3 Gateway is not at ${binary}: get it with "npm run servers"`;
  if (process.env['BINDERY_REQUIRE_SERVERS'] === '1') throw new Error(reason);
  return reason;
}

export async function startVersityGateway(): Promise<VersityGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'bindery-versitygw-'));
  const [data, meta] = [join(folder, 'data'), join(folder, 'meta')];
  await Promise.all([mkdir(data), mkdir(meta)]);
  const address = `127.0.0.1:${await freePort()}`;
  const [accessKeyId, secretAccessKey] = ['test-access', 'test-secret'];
  const child = spawn(binary, ['--quiet', '--port', address, 'posix', '--sidecar', meta, data], {
    env: { ROOT_ACCESS_KEY: accessKeyId, ROOT_SECRET_KEY: secretAccessKey },
    stdio: 'ignore',
  });
  const gone = once(child, 'exit');
  const endpoint = `http://${address}`;
  await vi.waitFor(() => fetch(endpoint), { timeout: 20_000, interval: 20 });

  async function kill(): Promise<void> {
    child.kill('SIGKILL');
    await gone;
  }

  return {
    endpoint,
    region: 'us-east-1',
    accessKeyId,
    secretAccessKey,
    kill,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async stop() {
      await kill();
      await rm(folder, { recursive: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { z } from 'zod';
import { jobId } from '#shared/contracts/identifiers.ts';
import type { TestBus } from '../../support/start-bus.ts';

export const statusPath = '/bench/:jobId';
export const jobParams = z.object({ jobId: jobId.meta({ title: 'export job' }) });

export type ServeOptions = {
  role: 'gateway' | 'bare';
  natsUrl: string;
  natsPassword: string;
  organization: string;
  /** Settings of the gateway. */
  environment: Record<string, string>;
};

export type Served = { port: number } | Usage;
type Usage = { cpuSeconds: number; residentBytes: number };

export type BenchServer = {
  port: number;
  process: ChildProcess;
  /** Time from the start of the process until it listens, in seconds. */
  startSeconds: number;
  usage: () => Promise<Usage>;
  stop: () => Promise<void>;
};

/** A server of the benchmark, listening. */
export async function serve(
  bus: TestBus,
  role: ServeOptions['role'],
  organization: string,
  { folder, redisUrl, profileFolder }: { folder: string; redisUrl?: string; profileFolder?: string | undefined },
): Promise<BenchServer> {
  const secret = 'a-secret-of-the-benchmark';
  const elsewhere = 'http://127.0.0.1:1';
  const options: ServeOptions = {
    role,
    natsUrl: bus.server.url,
    natsPassword: bus.passwords['gateway'] ?? '',
    organization,
    environment: {
      BINDERY_NATS_URL: bus.server.url,
      BINDERY_NATS_PASSWORD_GATEWAY: bus.passwords['gateway'] ?? '',
      BINDERY_OBJECT_FOLDER: folder,
      BINDERY_DATA: folder,
      BINDERY_PORT: '0',
      BINDERY_HASH_KEY: secret,
      BINDERY_OPERATOR_TOKEN: secret,
      BINDERY_LINK_SIGNING_KEY: secret,
      BINDERY_TOKEN_GATEWAY_TO_PUBLISHER: secret,
      BINDERY_TOKEN_GATEWAY_TO_LINK_SIGNER: secret,
      BINDERY_TOKEN_GATEWAY_TO_ASSISTANT: secret,
      BINDERY_PUBLISHER_URL: elsewhere,
      BINDERY_LINK_SIGNER_URL: elsewhere,
      BINDERY_ASSISTANT_URL: elsewhere,
      ...(redisUrl === undefined ? {} : { BINDERY_REDIS_URL: redisUrl }),
    },
  };
  const startedAt = performance.now();
  const child = fork(join(import.meta.dirname, 'serve.ts'), {
    env: { ...process.env, SERVE: JSON.stringify(options), BINDERY_LOG_LEVEL: 'warn' },
    execArgv: [
      '--expose-gc',
      ...(profileFolder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`]),
    ],
  });
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`The ${role} server ended with ${code}.`);
  });
  const [served] = (await Promise.race([once(child, 'message'), failed])) as [{ port: number }];
  const startSeconds = (performance.now() - startedAt) / 1_000;
  failed.catch(() => {});
  return {
    port: served.port,
    process: child,
    startSeconds,
    async usage() {
      const answer = once(child, 'message');
      child.send('usage');
      const [usage] = (await answer) as [Usage];
      return usage;
    },
    async stop() {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

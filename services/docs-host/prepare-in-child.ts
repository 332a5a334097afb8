import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { getHeapStatistics } from 'node:v8';
import { z } from 'zod';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import { BundleRefused } from './bundle-refused.ts';
import type { VersionRequest } from './prepare-version.ts';

const outcomeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('prepared') }),
  z.object({ kind: z.literal('refused'), message: z.string() }),
  z.object({ kind: z.literal('failed'), message: z.string(), code: z.string().optional() }),
]);

export type PrepareOutcome = z.infer<typeof outcomeSchema>;

const entry = fileURLToPath(new URL('./prepare-child.ts', import.meta.url));

/** Three quarters of the memory of this process, which serves readers meanwhile and needs the rest of a container. */
const memoryMegabytes = Math.max(64, Math.floor((getHeapStatistics().heap_size_limit * 0.75) / 1024 / 1024));

/**
 * Runs `prepareVersion` in a child process. A bundle may have pages and lists that take long to read, or more memory than there is; in a process of its
 * own neither keeps readers waiting, nor ends the host. Rejects with `BundleRefused` for a bundle that must not be served or is too large for the
 * memory, with the reason of `signal`, and with the error of the child otherwise.
 */
export async function prepareInChild(
  request: VersionRequest,
  signal?: AbortSignal,
  mostMegabytes: number = memoryMegabytes,
): Promise<void> {
  signal?.throwIfAborted();
  // The environment of the host has its secrets, so the child gets only the place of compiled code, with which it starts in half of the time.
  const { NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [`--max-old-space-size=${mostMegabytes}`, '--no-warnings', entry], {
    env: { ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const kill = () => void child.kill('SIGKILL');
  signal?.addEventListener('abort', kill, { once: true });
  try {
    const outcome = await outcomeOf(child, request, mostMegabytes);
    if (outcome.kind === 'refused') throw new BundleRefused(outcome.message);
    if (outcome.kind === 'failed') throw Object.assign(new Error(outcome.message), { code: outcome.code });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', kill);
    kill();
  }
}

async function outcomeOf(
  child: ChildProcessByStdio<Writable, Readable, Readable>,
  request: VersionRequest,
  mostMegabytes: number,
): Promise<PrepareOutcome> {
  // A child that ended cannot read its request; its exit is reported below.
  child.stdin.on('error', () => {});
  child.stdin.write(`${JSON.stringify(request)}\n`);
  const [said, errors, [code, endedBy]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>,
  ]);
  const outcome = outcomeSchema.safeParse(jsonIn(said));
  if (outcome.success) return outcome.data;
  if (/out of memory|allocation failed|bad_alloc/i.test(errors))
    throw new BundleRefused(
      `preparing the bundle takes more than ${mostMegabytes} MB of memory, three quarters of what this process may have`,
    );
  throw new Error(
    `the process that prepares the bundle ended with ${endedBy ?? `exit code ${code}`}: ${errors.slice(-300)}`,
  );
}

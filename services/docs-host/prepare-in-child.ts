import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { getHeapStatistics } from 'node:v8';
import { z } from 'zod';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import { BundleRefused } from './bundle-refused.ts';
import type { VersionRequest } from './prepare-version.ts';
import type { SweepRequest } from './sweep-content.ts';

const outcomeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('prepared') }),
  z.object({ kind: z.literal('refused'), message: z.string() }),
  z.object({ kind: z.literal('failed'), message: z.string(), code: z.string().optional() }),
]);

/** A request to a child, as JSON. */
export type ChildRequest = ({ kind: 'prepare' } & VersionRequest) | ({ kind: 'sweep' } & SweepRequest);

export type PrepareOutcome = z.infer<typeof outcomeSchema>;

const entry = fileURLToPath(new URL('./prepare-child.ts', import.meta.url));

/** Three quarters of the memory of this process, which serves readers meanwhile and needs the rest of a container. */
export const memoryMegabytes = Math.max(64, Math.floor((getHeapStatistics().heap_size_limit * 0.75) / 1024 / 1024));

/** Time after which a child without a request ends. Versions that follow each other quickly need no new process, which takes half a second to start. */
const idleMs = 2_000;
/** Idle time of a child that was started before its request. */
const awaitedMs = 30_000;
const keptErrorCharacters = 100_000;

/**
 * Runs `prepareVersion` in a child process. A bundle may have pages and lists that take long to read, or more memory than there is; in a process of its
 * own neither keeps readers waiting, nor ends the host. Rejects with `BundleRefused` for a bundle that must not be served or is too large for the
 * memory, with the reason of `signal`, and with the error of the child otherwise.
 */
export const prepareInChild = (
  request: VersionRequest,
  signal?: AbortSignal,
  mostMegabytes: number = memoryMegabytes,
): Promise<void> => askChild({ kind: 'prepare', ...request }, signal, mostMegabytes);

/** Runs `sweepContent` in a child process, because lists of large sites take long to read. Rejects with the error of the child. */
export const sweepInChild = (request: SweepRequest, mostMegabytes: number = memoryMegabytes): Promise<void> =>
  askChild({ kind: 'sweep', ...request }, undefined, mostMegabytes);

async function askChild(request: ChildRequest, signal: AbortSignal | undefined, mostMegabytes: number): Promise<void> {
  signal?.throwIfAborted();
  const kind = { mostMegabytes, addsCopies: request.kind === 'prepare' && request.place.kind === 'without copies' };
  const worker = idleWorker(kind) ?? startWorker(kind);
  const isNew = !worker.hasServed;
  const kill = (): void => worker.kill();
  signal?.addEventListener('abort', kill, { once: true });
  let outcome: PrepareOutcome | undefined;
  try {
    outcome = await worker.ask(request);
  } finally {
    signal?.removeEventListener('abort', kill);
  }
  signal?.throwIfAborted();
  if (outcome === undefined) {
    worker.kill();
    if (isNew) throw await worker.whyEnded();
    // Bundles that it prepared before may have left too little memory, so a new child tries once more.
    return askChild(request, signal, mostMegabytes);
  }
  worker.hasServed = true;
  keepIdle(worker, idleMs);
  if (outcome.kind === 'refused') throw new BundleRefused(outcome.message);
  if (outcome.kind === 'failed') throw Object.assign(new Error(outcome.message), { code: outcome.code });
}

/**
 * Gives a process a low priority. Copies of a large site take minutes of processor time, and the export of its next version may run on the same
 * machine. With the lowest priority they would never be made on a busy machine, which compresses each answer until then. The threads that the
 * process starts later have the same priority.
 */
function yieldToOthers(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The process has ended already, or the system does not allow it.
  }
}

/** `addsCopies`: a child for copies alone. A deployment kills that of its site, and needs another one that has started. */
type WorkerKind = { mostMegabytes: number; addsCopies: boolean };

type Worker = {
  kind: WorkerKind;
  hasServed: boolean;
  /** The outcome of a request; undefined if the child has ended. */
  ask(request: ChildRequest): Promise<PrepareOutcome | undefined>;
  /** The error for a child that ended in the middle of a request. */
  whyEnded(): Promise<Error>;
  kill(): void;
};

/** The idle child of each kind. */
const idle = new Map<string, { worker: Worker; timer: NodeJS.Timeout }>();

const nameOf = ({ mostMegabytes, addsCopies }: WorkerKind): string => `${mostMegabytes} ${addsCopies}`;

function idleWorker(kind: WorkerKind): Worker | undefined {
  const found = idle.get(nameOf(kind));
  if (found === undefined) return undefined;
  clearTimeout(found.timer);
  idle.delete(nameOf(kind));
  return found.worker;
}

function keepIdle(worker: Worker, forMs: number): void {
  const { kind } = worker;
  idleWorker(kind)?.kill();
  const timer = setTimeout(() => idleWorker(kind)?.kill(), forMs);
  idle.set(nameOf(kind), { worker, timer });
}

/** Starts a child for a request that follows soon, so that it starts while the bundle is downloaded. */
export function prepareSoon(mostMegabytes: number): void {
  const kind = { mostMegabytes, addsCopies: false };
  if (!idle.has(nameOf(kind))) keepIdle(startWorker(kind), awaitedMs);
}

function startWorker(kind: WorkerKind): Worker {
  const { mostMegabytes } = kind;
  // The environment of the host has its secrets, so the child gets only the place of compiled code, with which it starts in half of the time.
  const { NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [`--max-old-space-size=${mostMegabytes}`, '--no-warnings', entry], {
    env: { ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  if (kind.addsCopies && child.pid !== undefined) yieldToOthers(child.pid);
  const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  // `whyEnded` throws the same error.
  ended.catch(() => {});
  // A child that ended cannot read its request; the end of its output shows that.
  child.stdin.on('error', () => {});
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (said: string) => {
    errors = (errors + said).slice(-keptErrorCharacters);
  });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    kind,
    hasServed: false,
    async ask(request) {
      child.stdin.write(`${JSON.stringify(request)}\n`);
      const { value, done } = await answers.next();
      return done === true ? undefined : outcomeSchema.safeParse(jsonIn(value)).data;
    },
    async whyEnded() {
      const [code, endedBy] = await ended;
      if (/out of memory|allocation failed|bad_alloc/i.test(errors))
        return new BundleRefused(
          `preparing the bundle takes more than ${mostMegabytes} MB of memory, three quarters of what this process may have`,
        );
      return new Error(
        `the process that prepares the bundle ended with ${endedBy ?? `exit code ${code}`}: ${errors.slice(-300)}`,
      );
    },
    kill: () => void child.kill('SIGKILL'),
  };
}

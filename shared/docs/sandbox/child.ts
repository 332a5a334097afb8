import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { constants } from 'node:os';
import type { Socket } from 'node:net';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorCode, messageOf } from '#shared/runtime/failures.ts';
import { channelDescriptor, type FromChild, fromChild, fromChildLimits, type ToChild } from './child-messages.ts';
import { type Confinement, kernelConfinement } from './confinement.ts';
import { type FrameLimits, frameOf, frameReader } from './frames.ts';

/** What children run. */
export type ChildProgram = {
  /** A module that calls `serveChild`. */
  entry: URL;
  /** Its modules load native code while it starts; later it can load none. Default: it can load none at all. */
  addons?: boolean | undefined;
  /** How large its messages may be. Default: `fromChildLimits`. */
  limits?: FrameLimits | undefined;
  /** A file that `withSnapshot` made of it. Children start from it, unless it is gone. */
  snapshot?: string | undefined;
};

export type StartOptions = ChildProgram & {
  memoryLimitMb: number;
  /** How the kernel confines it. Default: as well as this machine can. */
  confinement?: Confinement | undefined;
};

/** One child process. */
export type Child = {
  /** Resolves when the system has taken the message, or the child has ended. Throws for what no frame can have. */
  send(message: ToChild): Promise<void>;
  /** SIGKILL. `ended` follows. */
  kill(): void;
  /** The same, because it did what no honest child does. Nothing that it says is heard any more. `why`: a sentence without its end, with "it". */
  refuse(why: string): void;
  isRefused(): boolean;
  /** Resolves with how it ended, once, whatever the cause: with `ChildMisbehaved` when it was refused. */
  ended: Promise<ChildDied>;
  /** The number that its process has here; undefined before it is ready. What the child says about itself does not count. */
  pid(): number | undefined;
};

/** Of glibc: by default each thread of Node gets a part of memory of its own, and keeps what it has freed. */
const childEnvironment = { TZ: 'UTC', MALLOC_ARENA_MAX: '2' };

const shell = '/bin/sh';
/** Node 24 alone maps 575 MB of writable memory, most of which it never touches. The rest is room for other builds. */
const nodeOverheadMb = 768;

/**
 * A guard shell stays beside the child and waits for its own standard input to end. The kernel ends it when we die, however we die. Then the
 * guard kills the child, even one that is stuck in a loop and would never see the channel close. `ulimit -d` bounds native memory, which
 * `--max-old-space-size` does not. The guard tells the number of what it started. Descriptor 3 is the channel, which only the child may hold
 * open. The second argument is what the child's wrapper reads, in the form of `printf`.
 */
const guardScript = `ulimit -d "$1" 2>/dev/null; input="$2"; shift 2
if [ -n "$input" ]; then printf "$input" | "$@" >/dev/null & else "$@" </dev/null >/dev/null & fi
child=$!
echo "$child"
exec 3>&- >&-
read -r _
kill -9 $child 2>/dev/null
wait $child
exit $?`;

/**
 * Starts a child. Its environment tells it nothing. It may not write files, read files other
 * than the program's own, start programs, or load native code; the kernel confines it as far as it can. It has a process group of its own, so
 * that no signal to a group crosses between it and us. `onMessage` gets all its messages.
 */
export function startChild(options: StartOptions, onMessage: (message: FromChild) => void): Child {
  const { entry, memoryLimitMb, confinement = kernelConfinement(), limits = fromChildLimits } = options;
  const guarded = existsSync(shell);
  const readable = readablePaths(entry);
  const command = confinement.wrap([process.execPath, ...nodeArguments(options, readable)], readable);
  const dataLimitKb = String((memoryLimitMb + nodeOverheadMb) * 1024);
  const guard = [shell, '-c', guardScript, 'guard', dataLimitKb, confinement.input];
  const [program, ...args] = guarded ? [...guard, ...command] : command;
  // No channel of Node's: that would act on some of what a child says, take handles from it, and read it by `v8.deserialize`.
  const child = spawn(program as string, args, {
    env: childEnvironment,
    stdio: ['pipe', guarded ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    detached: true,
  });
  // Without any where the system could not start it.
  const channel = child.stdio?.[channelDescriptor] as Socket | undefined;
  const kill = (): void => {
    if (guarded) child.stdin?.destroy();
    else child.kill('SIGKILL');
  };
  let misfit: string | undefined;
  const refuse = (why: string): void => {
    misfit ??= why;
    channel?.destroy();
    kill();
  };
  const read = frameReader(limits, (message) => onMessage(fromChild(message)));
  const listen = (): void => {
    channel?.on('data', (piece: Buffer) => {
      if (misfit !== undefined) return;
      try {
        read(piece);
      } catch (error) {
        refuse(messageOf(error));
      }
    });
  };
  // Its end is told by the process, and tells the guard, which waits for its input, that there is nothing left to guard.
  channel?.on('error', () => undefined).on('close', kill);
  child.stdin?.on('error', () => undefined);
  let startedPid = guarded ? undefined : child.pid;
  // Nothing is heard of a child before its number is known.
  if (guarded) {
    child.stdout?.setEncoding('utf8').once('data', (text: string) => {
      startedPid = Number.parseInt(text, 10);
      listen();
    });
  } else listen();
  // What the guard leaves: all, if it was killed itself; or a child whose wrapper was killed before it had tied the two together.
  child.once('exit', () => killGroup(child.pid));
  let runningPid: number | undefined;
  return {
    send: (message) => write(channel, frameOf(message)),
    kill,
    refuse,
    isRefused: () => misfit !== undefined,
    ended: endOf(child, refuse, () => misfit),
    pid: () => {
      runningPid ??= confinement.forks && startedPid !== undefined ? onlyChildOf(startedPid) : startedPid;
      return runningPid;
    },
  };
}

/** Resolves when all is written, or never will be. */
function write(channel: Socket | undefined, pieces: readonly Uint8Array[]): Promise<void> {
  return new Promise((resolve) => {
    if (channel?.writable !== true) return resolve();
    channel.cork();
    for (const [at, piece] of pieces.entries())
      channel.write(piece, at < pieces.length - 1 ? undefined : () => resolve());
    channel.uncork();
  });
}

/** Undefined when the process has ended, or has not started its child yet. */
function onlyChildOf(pid: number): number | undefined {
  try {
    return Number.parseInt(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'), 10) || undefined;
  } catch {
    return undefined;
  }
}

/** Its members may have ended by themselves. */
function killGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}

/** The program's own files, as they are called and as they are. Folders end with a slash. */
function readablePaths(entry: URL): string[] {
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  const folders = [`${root}shared/`, `${root}node_modules/`, `${dirname(fileURLToPath(entry))}/`];
  const paths = [`${root}package.json`, ...folders].filter((path) => existsSync(path));
  return [...new Set(paths.flatMap((path) => [path, realPath(path)]))];
}

/**
 * `node:sqlite` and SIGUSR1, which opens the inspector, do not ask the permission model.
 * Code from strings would be the shortest way from a fault in the interpreter of pages to a program of a tenant.
 */
const closedFeatures = ['--no-experimental-sqlite', '--disable-sigusr1', '--disallow-code-generation-from-strings'];

function nodeArguments({ memoryLimitMb, ...program }: StartOptions, readable: readonly string[]): string[] {
  const { entry, addons = false, snapshot } = program;
  return [
    '--permission',
    ...readable.map((path) => `--allow-fs-read=${path.endsWith('/') ? `${path}*` : path}`),
    ...(addons ? ['--allow-addons'] : []),
    ...featureArguments(program),
    ...heapArguments(memoryLimitMb),
    ...(snapshot !== undefined && existsSync(snapshot) ? ['--snapshot-blob', snapshot] : []),
    // Also with a snapshot, which does not run it: Node lets a process without an entry read its working folder.
    fileURLToPath(entry),
  ];
}

/** Megabytes. Pages leave much garbage behind: with this room a page takes a third less processor time than where V8 keeps far from a small limit. */
const room = { old: 128, young: 32 };

function heapArguments(memoryLimitMb: number): string[] {
  const old = Math.min(room.old, Math.floor(memoryLimitMb / 2));
  const young = Math.min(room.young, Math.ceil(memoryLimitMb / 16));
  return [
    `--max-old-space-size=${memoryLimitMb}`,
    `--initial-old-space-size=${old}`,
    `--min-semi-space-size=${young}`,
    `--max-semi-space-size=${young}`,
  ];
}

/** Arguments that close features of Node. A snapshot must be built with the same: what was there then is there again. */
export function featureArguments({ addons = false }: Pick<ChildProgram, 'addons'>): string[] {
  return [...(addons ? [] : ['--no-addons']), ...closedFeatures.filter(isKnownToNode), '--no-warnings'];
}

/** Node does not start with an option that it does not know; V8's are not in the list. */
function isKnownToNode(option: string): boolean {
  const known = process.allowedNodeEnvironmentFlags;
  return option.startsWith('--disallow-') || known.has(option) || known.has(option.replace('--no-', '--'));
}

/** Folders may be links to elsewhere; they keep the slash that makes them folders. */
const realPath = (path: string): string => realpathSync(path) + (path.endsWith('/') ? '/' : '');

/** Honest children say nothing there but why they end. */
const mostErrorBytes = 1024 * 1024;

function endOf(
  child: ChildProcess,
  refuse: (why: string) => void,
  misfit: () => string | undefined,
): Promise<ChildDied> {
  const mostKept = 4_000;
  let errors = '';
  let length = 0;
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-mostKept);
    length += text.length;
    if (length <= mostErrorBytes) return;
    child.stderr?.destroy();
    refuse('it wrote more than a megabyte of errors');
  });
  return new Promise((resolve) => {
    child.on('error', (error) => resolve(new ChildDied(undefined, undefined, error.message)));
    child.on('close', (code, signal) => {
      const why = misfit();
      if (why !== undefined) return resolve(new ChildMisbehaved(why));
      const signalNumber = code !== null && code > 128 ? code - 128 : undefined;
      const name = Object.entries(constants.signals).find(([, number]) => number === signalNumber)?.[0];
      const ended = signal ?? name;
      resolve(new ChildDied(ended ? undefined : (code ?? undefined), ended, causeIn(errors)));
    });
  });
}

const outOfMemory = 'out of memory';

/** What in the last output explains the end of the process. */
function causeIn(errors: string): string {
  if (/out of memory|allocation failed|bad_alloc|Array buffer allocation/i.test(errors)) return outOfMemory;
  const line = errors
    .split('\n')
    .find((text) => /^(?:\w*Error\b|Error \[|FATAL ERROR|thread '.*' panicked at)/.test(text.trim()));
  return (line ?? '').trim().slice(0, 300);
}

/** The child did not answer within its deadline and was killed. */
export class ChildTimedOut extends Error {
  override name = 'ChildTimedOut';
  readonly deadlineMs: number;

  constructor(deadlineMs: number) {
    super(`not finished within ${deadlineMs} ms, so its process was killed`);
    this.deadlineMs = deadlineMs;
  }
}

/** The child's process ended before it answered: memory, a native crash, an exit. */
export class ChildDied extends Error {
  override name = 'ChildDied';
  /** Exit code, or undefined when a signal ended it. */
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  readonly isOutOfMemory: boolean;

  constructor(exitCode: number | undefined, signal: string | undefined, detail = '') {
    const how = signal ? `signal ${signal}` : `exit code ${exitCode ?? 'unknown'}`;
    super(`its process ended with ${how}${detail && `: ${detail}`}`);
    this.exitCode = exitCode;
    this.signal = signal;
    this.isOutOfMemory = detail === outOfMemory;
  }
}

/** The child said something that does not fit, so it was killed, and nothing that it said about this request is used. */
export class ChildMisbehaved extends ChildDied {
  override name = 'ChildMisbehaved';

  constructor(why: string) {
    super(undefined, 'SIGKILL');
    this.message = `its process was ended because ${why}`;
  }
}

/** The child is well, but what it was asked to do threw. The message is that of the error there, `originalName` its name. */
export class ChildRequestFailed extends Error {
  override name = 'ChildRequestFailed';
  readonly originalName: string;

  constructor(originalName: string, message: string) {
    super(message);
    this.originalName = originalName;
  }
}

/** In the kernel's interface to programs: always 100 on Linux. */
const ticksPerSecond = 100;

/** Processor time of a process in milliseconds; undefined when there is none (any more), and on systems other than Linux. */
export function processorTimeMs(pid: number | undefined): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses and may hold anything; user and system time are fields 14 and 15 (proc(5)).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return ((Number(fields[11]) + Number(fields[12])) * 1_000) / ticksPerSecond;
  } catch {
    return undefined;
  }
}

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { constants } from 'node:os';
import type { Socket } from 'node:net';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorCode, messageOf } from '#shared/runtime/failures.ts';
import { copiedPackages, packageFolders } from '#shared/runtime/installed-packages.ts';
import { channelDescriptor, type FromChild, fromChild, fromChildLimits, type ToChild } from './child-messages.ts';
import { type Confinement, kernelConfinement } from './confinement.ts';
import { type FrameLimits, frameOf, frameReader } from './frames.ts';

/** The program that children run. */
export type ChildProgram = {
  /** A module that calls `serveChild`. */
  entry: URL;
  /** True if its modules load native code while it starts; later it can load none. Default: false, native code is refused. */
  addons?: boolean | undefined;
  /** Limits of its messages. Default: `fromChildLimits`. */
  limits?: FrameLimits | undefined;
  /** A file that `withSnapshot` built of the program. Children start from it if it exists. */
  snapshot?: string | undefined;
};

export type StartOptions = ChildProgram & {
  memoryLimitMb: number;
  /** The confinement of the child; by default the strongest that this machine offers. */
  confinement?: Confinement | undefined;
};

/** One child process. */
export type Child = {
  /** Resolves when the system has taken the message, or the child has ended. Throws for a message that cannot be written as a frame. */
  send(message: ToChild): Promise<void>;
  /** Sends SIGKILL. `ended` follows. */
  kill(): void;
  /** Kills the child because of an invalid message, and ignores its further messages. `why` completes a sentence and starts with "it". */
  refuse(why: string): void;
  isRefused(): boolean;
  /**
   * Time that this process has spent on reading the child's messages, in milliseconds. A child may send valid messages that cost us more than the
   * child.
   */
  heardMs(): number;
  /** Stops the process, so that it uses no processor time while it has no request, even if a page has taken it over. */
  pause(): void;
  /** Continues the process before its next message. */
  resume(): void;
  /** Resolves once when the child has ended, whatever the cause: with `ChildMisbehaved` if it was refused. */
  ended: Promise<ChildDied>;
  /** Process id as this process sees it; undefined before the child is ready. The child's own claims about it are not used. */
  pid(): number | undefined;
};

/** Setting of glibc. By default each thread of Node gets a memory arena of its own and keeps memory that it has freed. */
const childEnvironment = { TZ: 'UTC', MALLOC_ARENA_MAX: '2' };

const shell = '/bin/sh';
/**
 * Writable memory that Node maps in addition to the heap. Node 24 maps 575 MB and never touches most of it; the rest is a reserve for other builds.
 */
const nodeOverheadMb = 768;

/**
 * A guard shell runs beside the child and waits for the end of its own standard input, which the kernel closes when our process ends for any reason.
 * Then the guard kills the child, even one that is stuck in a loop and would never notice a closed channel. `ulimit -d` bounds native memory, which
 * `--max-old-space-size` does not. The guard prints the process id of the program that it started. Descriptor 3 is the channel, and only the child
 * may hold it open. The second argument is the input of the child's wrapper, in the form of `printf`.
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
 * Starts a child with an environment that has no secrets. It may not write files, read files other than the program's own, start programs, or load
 * native code; the kernel confines it further if it can. It has a process group of its own, so that a signal to a group does not reach both it and
 * its parent. `onMessage` gets all its messages.
 */
export function startChild(options: StartOptions, onMessage: (message: FromChild) => void): Child {
  const { entry, memoryLimitMb, confinement = kernelConfinement(), limits = fromChildLimits } = options;
  const guarded = existsSync(shell);
  const readable = readablePaths(entry);
  const command = confinement.wrap([process.execPath, ...nodeArguments(options, readable)], readable);
  const dataLimitKb = String((memoryLimitMb + nodeOverheadMb) * 1024);
  const guard = [shell, '-c', guardScript, 'guard', dataLimitKb, confinement.input];
  const [program, ...args] = guarded ? [...guard, ...command] : command;
  // Node's own IPC channel is not used: it would act on some messages of the child, take handles from it, and read them with `v8.deserialize`.
  const child = spawn(program as string, args, {
    env: childEnvironment,
    stdio: ['pipe', guarded ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    detached: true,
  });
  // Undefined if the system could not start the child.
  const channel = child.stdio?.[channelDescriptor] as Socket | undefined;
  let isEnding = false;
  const kill = (): void => {
    isEnding = true;
    if (guarded) child.stdin?.destroy();
    else child.kill('SIGKILL');
  };
  let heardMs = 0;
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
      const begunAt = performance.now();
      try {
        read(piece);
      } catch (error) {
        refuse(messageOf(error));
      }
      heardMs += performance.now() - begunAt;
    });
  };
  // Closing the channel ends the guard, and the `exit` event reports the end of the child.
  channel?.on('error', () => undefined).on('close', kill);
  child.stdin?.on('error', () => undefined);
  let startedPid = guarded ? undefined : child.pid;
  // Messages are read only after the child's process id is known.
  if (guarded) {
    child.stdout?.setEncoding('utf8').once('data', (text: string) => {
      startedPid = Number.parseInt(text, 10);
      listen();
    });
  } else listen();
  child.once('exit', () => {
    isEnding = true;
    // Kills everything that the guard leaves behind: the child, if the guard was killed; or a child whose wrapper was killed before it had tied the
    // two together.
    killGroup(child.pid);
    // A process that left the group may still hold the pipes open, and `close` would then never be emitted.
    const letGo = setTimeout(() => {
      for (const pipe of child.stdio) pipe?.destroy();
    }, lastWordsMs);
    child.once('close', () => clearTimeout(letGo));
  });
  const findPid = (): number | undefined =>
    confinement.forks && startedPid !== undefined ? onlyChildOf(startedPid) : startedPid;
  let runningPid: number | undefined;
  let isPaused = false;
  const signal = (name: 'SIGSTOP' | 'SIGCONT'): void => {
    // Until it is killed, the process or its wrapper is kept by its guard, so that no other process can have got its id.
    const pid = isEnding ? undefined : findPid();
    if (pid !== undefined) trySignal(pid, name);
  };
  return {
    send: (message) => write(channel, frameOf(message)),
    kill,
    refuse,
    isRefused: () => misfit !== undefined,
    heardMs: () => heardMs,
    ended: endOf(child, refuse, () => misfit),
    pause: () => {
      isPaused = true;
      signal('SIGSTOP');
    },
    resume: () => {
      if (isPaused) signal('SIGCONT');
      isPaused = false;
    },
    pid: () => {
      runningPid ??= findPid();
      return runningPid;
    },
  };
}

/** Resolves when everything is written, or can no longer be written. */
function write(channel: Socket | undefined, pieces: readonly Uint8Array[]): Promise<void> {
  return new Promise((resolve) => {
    if (channel?.writable !== true) return resolve();
    channel.cork();
    for (const [at, piece] of pieces.entries())
      channel.write(piece, at < pieces.length - 1 ? undefined : () => resolve());
    channel.uncork();
  });
}

/** The id of the process that another one has started; undefined when that one has ended, or has not started its child yet. */
function onlyChildOf(pid: number): number | undefined {
  try {
    return Number.parseInt(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'), 10) || undefined;
  } catch {
    return undefined;
  }
}

/** The members of the group may have ended already. */
function killGroup(leader: number | undefined): void {
  if (leader !== undefined) trySignal(-leader, 'SIGKILL');
}

/** Does nothing if the process no longer exists. */
function trySignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}

/** The program's own files, by their given and their real paths. Folders end with a slash. */
function readablePaths(entry: URL): string[] {
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  const packages = packageFolders.map((folder) => `${folder}/`);
  const folders = [`${root}shared/`, `${root}${copiedPackages}/`, ...packages, `${dirname(fileURLToPath(entry))}/`];
  const paths = [`${root}package.json`, ...folders].filter((path) => existsSync(path));
  return [...new Set(paths.flatMap((path) => [path, realPath(path)]))];
}

/**
 * `node:sqlite` and SIGUSR1, which opens the inspector, bypass the permission model. Evaluating strings as code would be the shortest way from a
 * fault in the interpreter of pages to running a tenant's program.
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
    // The entry is also passed with a snapshot, which does not run it: Node lets a process without an entry read its working folder.
    fileURLToPath(entry),
  ];
}

/**
 * Initial heap sizes in megabytes. Pages produce much garbage: with this room a page takes a third less processor time than with V8's defaults for a
 * small limit.
 */
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

/**
 * Arguments that close features of Node. A snapshot must be built with the same arguments, because it restores every feature that was open at that
 * time.
 */
export function featureArguments({ addons = false }: Pick<ChildProgram, 'addons'>): string[] {
  return [...(addons ? [] : ['--no-addons']), ...closedFeatures.filter(isKnownToNode), '--no-warnings'];
}

/** Node does not start with an unknown option. Options of V8, such as `--disallow-…`, are not in its list. */
function isKnownToNode(option: string): boolean {
  const known = process.allowedNodeEnvironmentFlags;
  return option.startsWith('--disallow-') || known.has(option) || known.has(option.replace('--no-', '--'));
}

/** Folders may be symbolic links. The result keeps the slash at the end of a folder. */
const realPath = (path: string): string => realpathSync(path) + (path.endsWith('/') ? '/' : '');

/** Grace period for reading the output of an ended child, which is already in the pipes. */
const lastWordsMs = 1_000;

/** Honest children write to standard error only to explain why they end. */
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

/** The line of the last output that explains the end of the process. */
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

/** The child's process ended before it answered, because of memory, a native crash, or an exit. */
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

/** The child sent an invalid message, so it was killed, and its messages about this request are discarded. */
export class ChildMisbehaved extends ChildDied {
  override name = 'ChildMisbehaved';

  constructor(why: string) {
    super(undefined, 'SIGKILL');
    this.message = `its process was ended because ${why}`;
  }
}

/** The child is healthy, but its handler threw. The message is that of the original error, and `originalName` its name. */
export class ChildRequestFailed extends Error {
  override name = 'ChildRequestFailed';
  readonly originalName: string;

  constructor(originalName: string, message: string) {
    super(message);
    this.originalName = originalName;
  }
}

/** Clock ticks per second in `/proc`. Linux always reports 100 to programs. */
const ticksPerSecond = 100;

/** Processor time of a process in milliseconds; undefined if the process does not, or no longer, exist, and on systems other than Linux. */
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

/**
 * True if all threads of a process sleep, so that it uses no processor time; undefined like `processorTimeMs`. A thread that waits for a processor,
 * or for a disk, does not sleep.
 */
export function isAsleep(pid: number | undefined): boolean | undefined {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.every((thread) => {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
      return !['R', 'D'].includes(stat.charAt(stat.lastIndexOf(')') + 2));
    });
  } catch {
    return undefined;
  }
}

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorCode } from '#shared/runtime/failures.ts';
import { type Confinement, kernelConfinement } from './confinement.ts';

/** What children run. */
export type ChildProgram = {
  /** A module that calls `serveChild`. */
  entry: URL;
  /** Its modules load native code while it starts; later it can load none. Default: it can load none at all. */
  addons?: boolean | undefined;
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
  send(message: ToChild): void;
  /** SIGKILL. `ended` follows. */
  kill(): void;
  /** Resolves with how it ended, once, whatever the cause. */
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
  const { entry, memoryLimitMb, confinement = kernelConfinement() } = options;
  const guarded = existsSync(shell);
  const readable = readablePaths(entry);
  const command = confinement.wrap([process.execPath, ...nodeArguments(options, readable)], readable);
  const dataLimitKb = String((memoryLimitMb + nodeOverheadMb) * 1024);
  const guard = [shell, '-c', guardScript, 'guard', dataLimitKb, confinement.input];
  const [program, ...args] = guarded ? [...guard, ...command] : command;
  const child = spawn(program as string, args, {
    env: childEnvironment,
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    serialization: 'advanced',
    detached: true,
  });
  const kill = (): void => {
    if (guarded) child.stdin?.destroy();
    else child.kill('SIGKILL');
  };
  child.stdin?.on('error', () => undefined);
  let startedPid = guarded ? undefined : child.pid;
  const waitingForPid: FromChild[] = [];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    if (!guarded || startedPid !== undefined) return;
    startedPid = Number.parseInt(text, 10);
    for (const message of waitingForPid.splice(0)) onMessage(message);
  });
  child.on('message', (message: FromChild) => {
    if (startedPid === undefined) waitingForPid.push(message);
    else onMessage(message);
  });
  // What the guard leaves: all, if it was killed itself; or a child whose wrapper was killed before it had tied the two together.
  child.once('exit', () => killGroup(child.pid));
  let runningPid: number | undefined;
  return {
    send: (message) => {
      if (child.connected) child.send(message, () => undefined);
    },
    kill,
    ended: endOf(child, kill),
    pid: () => {
      runningPid ??= confinement.forks && startedPid !== undefined ? onlyChildOf(startedPid) : startedPid;
      return runningPid;
    },
  };
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

function endOf(child: ChildProcess, kill: () => void): Promise<ChildDied> {
  const mostKept = 4_000;
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-mostKept);
  });
  // Tell the guard, which waits for its input, that there is nothing left to guard.
  child.on('disconnect', kill);
  return new Promise((resolve) => {
    child.on('error', (error) => resolve(new ChildDied(undefined, undefined, error.message)));
    child.on('close', (code, signal) => {
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

/** Messages between parent and child. The channel uses structured clone: bytes stay bytes. */
export type ToChild =
  | { kind: 'request'; id: number; request: unknown }
  | { kind: 'answer'; question: number; answer: unknown }
  | { kind: 'no-answer'; question: number; message: string };

export type FromChild =
  | { kind: 'ready' }
  | { kind: 'question'; id: number; question: number; content: unknown }
  | { kind: 'response'; id: number; response: unknown }
  | { kind: 'failure'; id: number; name: string; message: string };

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

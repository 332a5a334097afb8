import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorCode } from '#shared/runtime/failures.ts';

export type StartOptions = { entry: URL; memoryLimitMb: number };

/** One child process. */
export type Child = {
  send(message: ToChild): void;
  /** SIGKILL. `ended` follows. */
  kill(): void;
  /** Resolves with how it ended, once, whatever the cause. */
  ended: Promise<ChildDied>;
  pid: number | undefined;
};

const shell = '/bin/sh';
/** Node 24 alone maps 575 MB of writable memory, most of which it never touches. The rest is room for other builds. */
const nodeOverheadMb = 768;

/**
 * A guard shell stays beside the child and waits for its own standard input to end. The kernel ends it when we die, however we die. Then the
 * guard kills the child, even one that is stuck in a loop and would never see the channel close. `ulimit -d` bounds native memory, which
 * `--max-old-space-size` does not. Descriptor 3 is the channel, which only the child may hold open.
 */
const guardScript = `ulimit -d "$1" 2>/dev/null; shift
trap '' INT
"$@" </dev/null &
child=$!
exec 3>&-
read -r _
kill -9 $child 2>/dev/null
wait $child
exit $?`;

/**
 * Starts a child that runs `entry`, which calls `serveChild`. The child has an empty environment. It may not write files, read files other
 * than the program's own, or start programs. `onMessage` gets all its messages.
 */
export function startChild({ entry, memoryLimitMb }: StartOptions, onMessage: (message: FromChild) => void): Child {
  const guarded = existsSync(shell);
  const command = [process.execPath, ...nodeArguments(entry, memoryLimitMb)];
  const dataLimitKb = String((memoryLimitMb + nodeOverheadMb) * 1024);
  const [program, ...args] = guarded ? [shell, '-c', guardScript, 'guard', dataLimitKb, ...command] : command;
  const child = spawn(program as string, args, {
    env: { TZ: 'UTC' },
    stdio: ['pipe', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
  });
  const kill = (): void => {
    if (guarded) child.stdin?.destroy();
    else child.kill('SIGKILL');
  };
  child.stdin?.on('error', () => undefined);
  let guardedPid: number | undefined;
  let guardKilled = false;
  child.on('message', (message: FromChild) => {
    if (message.kind === 'ready') guardedPid = message.pid;
    if (guardKilled) killProcess(guardedPid);
    onMessage(message);
  });
  // When the guard is killed, nothing ends the child any more, so it is killed here. It may not have told its number yet.
  child.once('exit', (_code, signal) => {
    guardKilled = guarded && signal !== null;
    if (guardKilled) killProcess(guardedPid);
  });
  return {
    send: (message) => {
      if (child.connected) child.send(message, () => undefined);
    },
    kill,
    ended: endOf(child, kill),
    pid: child.pid,
  };
}

/** It may have ended by itself. */
function killProcess(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}

function nodeArguments(entry: URL, memoryLimitMb: number): string[] {
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  const readable = [
    `${root}package.json`,
    `${root}shared/`,
    `${root}node_modules/`,
    `${dirname(fileURLToPath(entry))}/`,
  ].flatMap((path) => (existsSync(path) ? [path, realPath(path)] : []));
  return [
    '--permission',
    '--allow-addons',
    ...[...new Set(readable)].map((path) => `--allow-fs-read=${path.endsWith('/') ? `${path}*` : path}`),
    `--max-old-space-size=${memoryLimitMb}`,
    '--no-warnings',
    fileURLToPath(entry),
  ];
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

/** What in the last output explains the end of the process. */
function causeIn(errors: string): string {
  if (/out of memory|allocation failed|bad_alloc|Array buffer allocation/i.test(errors)) return 'out of memory';
  const line = errors.split('\n').find((text) => /^(?:\w*Error\b|Error \[|FATAL ERROR)/.test(text.trim()));
  return (line ?? '').trim().slice(0, 300);
}

/** Messages between parent and child. The channel uses structured clone: bytes stay bytes. */
export type ToChild =
  | { kind: 'request'; id: number; request: unknown }
  | { kind: 'answer'; question: number; answer: unknown }
  | { kind: 'no-answer'; question: number; message: string };

export type FromChild =
  /** `pid`: its own; the parent started a shell that guards it. */
  | { kind: 'ready'; pid: number }
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

  constructor(exitCode: number | undefined, signal: string | undefined, detail = '') {
    const how = signal ? `signal ${signal}` : `exit code ${exitCode ?? 'unknown'}`;
    super(`its process ended with ${how}${detail && `: ${detail}`}`);
    this.exitCode = exitCode;
    this.signal = signal;
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

/** Processor time of a process in milliseconds; undefined when it is gone, and on systems other than Linux. */
export function processorTimeMs(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses and may hold anything; user and system time are fields 14 and 15 (proc(5)).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return ((Number(fields[11]) + Number(fields[12])) * 1_000) / ticksPerSecond;
  } catch {
    return undefined;
  }
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { onPath } from '#infra/setup/server-locations.mjs';

export type ServerCommand = {
  program: string;
  args: readonly string[];
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** User and group of the process; only root may set them. */
  userId?: number;
  /** Receives the standard output and standard error of the process. */
  onOutput?: (text: string) => void;
};

export type ServerProcess = {
  readonly pid: number;
  /** The match of `ready` in the server's output. */
  readonly greeting: RegExpExecArray;
  /** Sends a signal and, if it ends the process, waits until it is gone. Default SIGKILL. */
  kill(signal?: NodeJS.Signals): Promise<void>;
};

const minuteMs = 60_000;
const stopDeadlineMs = 10_000;
const keptOutputCharacters = 8_000;

/**
 * Starts a server and resolves when its output matches `ready`. The server dies with this process, however that ends.
 * @throws when it exits or is not ready in time; the message ends with its output.
 */
export async function startServerProcess(
  command: ServerCommand,
  ready: RegExp,
  readyWithinMs = minuteMs,
): Promise<ServerProcess> {
  const child = spawnBound(command);
  const killNow = (): void => void child.kill('SIGKILL');
  process.once('exit', killNow);
  child.once('exit', () => process.off('exit', killNow));
  const greeting = await greetingOf(child, command, ready, readyWithinMs);
  return {
    pid: child.pid ?? 0,
    greeting,
    kill: (signal = 'SIGKILL') => end(child, signal),
  };
}

/** Lets the kernel end the server with this process on Linux, because `exit` handlers do not run when this process is killed. */
function spawnBound({ program, args, env, cwd, userId }: ServerCommand): ChildProcess {
  const bind = process.platform === 'linux' ? onPath('setpriv')[0] : undefined;
  const asUser = userId === undefined ? {} : { uid: userId, gid: userId };
  const options = { ...(env && { env }), ...(cwd && { cwd }), ...asUser, stdio: ['ignore', 'pipe', 'pipe'] as const };
  return bind === undefined
    ? spawn(program, args, { ...options, stdio: [...options.stdio] })
    : spawn(bind, ['--pdeathsig', 'KILL', '--', program, ...args], { ...options, stdio: [...options.stdio] });
}

function greetingOf(
  child: ChildProcess,
  { program, onOutput }: ServerCommand,
  ready: RegExp,
  readyWithinMs: number,
): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    let output = '';
    let settled = false;
    const fail = (what: string): void => {
      child.kill('SIGKILL');
      clearTimeout(deadline);
      reject(new Error(`${program} ${what}; it said:\n${output.slice(-keptOutputCharacters)}`));
    };
    const deadline = setTimeout(() => fail(`was not ready within ${readyWithinMs / 1000} s`), readyWithinMs);
    const read = (text: string): void => {
      onOutput?.(text);
      if (settled) return;
      output += text;
      const match = ready.exec(output);
      if (match === null) return;
      settled = true;
      output = '';
      clearTimeout(deadline);
      resolve(match);
    };
    child.stdout?.setEncoding('utf8').on('data', read);
    child.stderr?.setEncoding('utf8').on('data', read);
    child.once('error', (error) => fail(`could not be started (${error.message})`));
    child.once('exit', (code, signal) => fail(`ended with ${signal ?? `code ${code}`} before it was ready`));
  });
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  if (signal === 'SIGSTOP' || signal === 'SIGCONT') {
    child.kill(signal);
    return;
  }
  const gone = once(child, 'exit');
  child.kill(signal);
  // A paused process reacts only to SIGCONT and SIGKILL.
  child.kill('SIGCONT');
  const late = setTimeout(() => child.kill('SIGKILL'), stopDeadlineMs);
  await gone;
  clearTimeout(late);
}

const retryMs = 10;

/** Resolves when something accepts TCP connections on this loopback port. @throws when nothing does within the deadline. */
export async function acceptsConnections(port: number, deadlineMs = 10_000): Promise<void> {
  const end = performance.now() + deadlineMs;
  while (!(await canConnect(port))) {
    if (performance.now() > end) throw new Error(`nothing accepts connections on port ${port} after ${deadlineMs} ms`);
    await delay(retryMs);
  }
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port });
    const finish = (connected: boolean): void => {
      socket.destroy();
      resolve(connected);
    };
    socket.once('connect', () => finish(true)).once('error', () => finish(false));
  });
}

export type RestartableServer = {
  readonly pid: number;
  /** Sends a signal, by default SIGKILL. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Pauses the server: connections stay open, and nothing is answered until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Starts it again on the same port, after stopping a running one. */
  restart(): Promise<void>;
  /** Stops it and removes its folder. */
  stop(): Promise<void>;
};

/** A server that `start` can start repeatedly, with all its data in `folder`. */
export async function restartableServer(
  folder: string,
  start: () => Promise<ServerProcess>,
): Promise<RestartableServer> {
  let server = await start();
  return {
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

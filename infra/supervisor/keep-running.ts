import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';

export type ProcessSpec = {
  name: string;
  command: string;
  args: string[];
  options: SpawnOptions;
};

export type KeptProcess = {
  pid(): number | undefined;
  /** The line about the last unexpected end. */
  lastEnd(): string | undefined;
  /** The sentence about wrong settings, if the process reported one since it was last ready. */
  wrongSettings(): string | undefined;
  /** Stops the process (SIGKILL after `graceMs`) and starts it again at once; `why` is passed to `onExit`. Does nothing while it does not run. */
  restart(graceMs: number, why: string): Promise<void>;
  /** Stops the process permanently (SIGKILL after `graceMs`). */
  stop(graceMs: number): Promise<void>;
};

const firstDelayMs = 100;
const longestDelayMs = 5_000;
/** Run time after which a process counts as healthy, which resets the backoff of its restarts. */
const healthyAfterMs = 10_000;

/** Backoff before the `failures`-th restart in a row, in milliseconds. Pure. */
export const restartDelayMs = (failures: number): number =>
  Math.min(longestDelayMs, firstDelayMs * 2 ** Math.max(0, failures - 1));

/** Runs a process and restarts it with backoff whenever it ends unexpectedly. `onExit` gets a line about each end and each requested restart. */
export function keepRunning(
  spec: ProcessSpec,
  onExit: (news: string) => void,
  healthyMs: number = healthyAfterMs,
): KeptProcess {
  let child: ChildProcess | undefined;
  let stopping = false;
  let failures = 0;
  let restarting: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let lastEnd: string | undefined;
  let wrongSettings: string | undefined;

  const run = () => {
    const startedAt = performance.now();
    const started = spawn(spec.command, spec.args, spec.options);
    child = started;
    const ended = (how: string) => {
      if (child !== started) return;
      child = undefined;
      if (stopping) return;
      if (restarting !== undefined) {
        onExit(restarting);
        restarting = undefined;
        run();
        return;
      }
      failures = performance.now() - startedAt > healthyMs ? 1 : failures + 1;
      const delayMs = restartDelayMs(failures);
      lastEnd = `${spec.name} ended (${how}) and is started again in ${delayMs} ms`;
      onExit(lastEnd);
      timer = setTimeout(run, delayMs);
    };
    started.on('message', (message) => {
      wrongSettings = wrongSettingsIn(message);
      // The process is ended at once, because it would otherwise log the same sentence itself.
      if (wrongSettings !== undefined) started.kill('SIGKILL');
    });
    started.once('error', (error) => ended(error.message));
    started.once('exit', (code, signal) => ended(wrongSettings ?? signal ?? `exit code ${code}`));
  };
  run();

  return {
    pid: () => child?.pid,
    lastEnd: () => lastEnd,
    wrongSettings: () => wrongSettings,
    async restart(graceMs, why) {
      if (child === undefined || stopping) return;
      wrongSettings = undefined;
      restarting = why;
      await end(child, graceMs);
    },
    async stop(graceMs) {
      stopping = true;
      clearTimeout(timer);
      if (child !== undefined) await end(child, graceMs);
    },
  };
}

async function end(child: ChildProcess, graceMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const killer = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await gone;
  clearTimeout(killer);
}

/** A process says `{ wrongSettings }` when it cannot start with its settings, and `{ ready }` when it has started. */
const wrongSettingsIn = (message: unknown): string | undefined => {
  const { wrongSettings } = Object(message) as { wrongSettings?: unknown };
  return typeof wrongSettings === 'string' ? wrongSettings : undefined;
};

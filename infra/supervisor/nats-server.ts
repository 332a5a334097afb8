import { spawn } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { isAlive } from './data-folder.ts';
import { healthyAfterMs, restartDelayMs } from './keep-running.ts';

export type EmbeddedNats = { url: string; pid(): number | undefined; stop(): Promise<void> };

/**
 * Runs a nats-server on a data folder and starts it again if it dies. It is started detached, in a process group of its own: a Ctrl-C
 * that reached it together with the services would take the bus away before they have drained, so it is stopped last.
 */
export async function runNatsServer(options: {
  binary: string;
  folder: string;
  port: number;
  configText: string;
  onExit: (news: string) => void;
  /** It was healthy if it ran this long. */
  healthyAfterMs?: number | undefined;
}): Promise<EmbeddedNats> {
  await mkdir(options.folder, { recursive: true });
  const configFile = join(options.folder, 'nats.conf');
  const pidFile = join(options.folder, 'nats.pid');
  await stopOrphan(pidFile, options.folder);
  await writeFile(configFile, options.configText, { mode: 0o600 });

  let stopping = false;
  let failures = 0;
  let pid: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  const healthyMs = options.healthyAfterMs ?? healthyAfterMs;
  let ended: Promise<void> = Promise.resolve();
  const run = () => {
    const startedAt = performance.now();
    const server = spawn(options.binary, ['-c', configFile, '-P', pidFile, '-l', join(options.folder, 'nats.log')], {
      detached: true,
      stdio: 'ignore',
    });
    pid = server.pid;
    ended = new Promise((resolve) => {
      server.once('error', (error) => {
        options.onExit(`nats-server cannot be started: ${error.message}`);
        resolve();
      });
      server.once('exit', (code, signal) => {
        pid = undefined;
        resolve();
        if (stopping) return;
        failures = performance.now() - startedAt > healthyMs ? 1 : failures + 1;
        options.onExit(`nats-server ended (${signal ?? `exit code ${code}`}) and is started again`);
        timer = setTimeout(run, restartDelayMs(failures));
      });
    });
  };
  run();
  await greeting(options.port, 10_000, join(options.folder, 'nats.log'));

  return {
    url: `nats://127.0.0.1:${options.port}`,
    pid: () => pid,
    async stop() {
      stopping = true;
      // One that is about to be started again would outlive us.
      clearTimeout(timer);
      if (pid !== undefined) process.kill(pid, 'SIGTERM');
      await ended;
      await rm(pidFile, { force: true });
    },
  };
}

/** A server that outlived its supervisor is stopped, not adopted: its settings and port may be others. */
async function stopOrphan(pidFile: string, folder: string): Promise<void> {
  const pid = Number(await readFile(pidFile, 'utf8').catch(() => ''));
  if (!Number.isInteger(pid) || pid <= 0 || !isAlive(pid)) return;
  // The number may belong to another program by now; where the system shows command lines, look.
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => folder);
  if (!commandLine.includes(folder)) return;
  process.kill(pid, 'SIGTERM');
  for (const deadline = performance.now() + 10_000; isAlive(pid) && performance.now() < deadline; ) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  if (isAlive(pid)) process.kill(pid, 'SIGKILL');
}

/** Resolves once a server sends its INFO line on the port. */
async function greeting(port: number, deadlineMs: number, logFile: string): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!(await greets(port))) {
    if (performance.now() > deadline)
      throw new Error(`nats-server did not come up within ${deadlineMs / 1000} s; ${logFile} says why.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(500, () => end(false));
    socket.once('error', () => end(false));
    socket.once('data', (data) => end(data.toString().startsWith('INFO')));
  });
}

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { isAlive } from './data-folder.ts';
import { keepRunning } from './keep-running.ts';
import { keepWritable } from './keep-writable.ts';

export type EmbeddedNats = { url: string; pid(): number | undefined; stop(): Promise<void> };

const stopGraceMs = 30_000;

/**
 * Runs a nats-server on a data folder and restarts it if it dies. It is detached, in a process group of its own: a Ctrl-C would otherwise stop
 * the bus before the services have drained.
 */
export async function runNatsServer(options: {
  binary: string;
  folder: string;
  port: number;
  configText: string;
  onExit: (news: string) => void;
  /** Run time after which the server counts as healthy. */
  healthyAfterMs?: number | undefined;
  /** Password of the user "supervisor". With it the server is also restarted when it refuses writes. */
  supervisorPassword?: string | undefined;
}): Promise<EmbeddedNats> {
  await mkdir(options.folder, { recursive: true });
  const configFile = join(options.folder, 'nats.conf');
  const pidFile = join(options.folder, 'nats.pid');
  await stopOrphan(pidFile, options.folder);
  await writeFile(configFile, options.configText, { mode: 0o600 });

  const args = ['-c', configFile, '-P', pidFile, '-l', join(options.folder, 'nats.log')];
  const kept = keepRunning(
    { name: 'nats-server', command: options.binary, args, options: { detached: true, stdio: 'ignore' } },
    options.onExit,
    options.healthyAfterMs,
  );
  try {
    await greeting(options.port, 10_000, join(options.folder, 'nats.log'));
  } catch (error) {
    await kept.stop(stopGraceMs);
    throw error;
  }

  const url = `nats://127.0.0.1:${options.port}`;
  const stopping = new AbortController();
  const { supervisorPassword: password, folder, onExit } = options;
  const watching =
    password === undefined ? undefined : keepWritable({ url, password, folder, kept, onNews: onExit }, stopping.signal);

  return {
    url,
    pid: () => kept.pid(),
    async stop() {
      stopping.abort();
      await watching;
      await kept.stop(stopGraceMs);
      await rm(pidFile, { force: true });
    },
  };
}

/** Stops a server that outlived its supervisor. It is not adopted, because its settings and port may differ. */
async function stopOrphan(pidFile: string, folder: string): Promise<void> {
  const pid = Number(await readFile(pidFile, 'utf8').catch(() => ''));
  if (!Number.isInteger(pid) || pid <= 0 || !isAlive(pid)) return;
  // The id may belong to another program by now. Check its command line if the system shows it.
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
      throw new Error(`nats-server was not ready within ${deadlineMs / 1000} s; ${logFile} says why.`);
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

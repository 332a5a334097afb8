import { execFile } from 'node:child_process';
import { chmod, chown, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { elasticsearchCommand } from '#infra/setup/elasticsearch-command.ts';
import { requireServer } from '#infra/setup/require-server.ts';
import { startServerProcess } from './server-process.ts';

export type ElasticsearchServer = {
  url: string;
  readonly pid: number;
  /** SIGKILL unless said otherwise; what is indexed stays for `restart`. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** The same port and indices; ends what still runs. */
  restart(): Promise<void>;
  /** Ends it and removes what it stored. */
  stop(): Promise<void>;
};

const run = promisify(execFile);
const nobody = 65_534;

/** A real Elasticsearch of one node on loopback, without security, in about five seconds. @throws ServerMissing */
export async function startElasticsearch(): Promise<ElasticsearchServer> {
  const cached = requireServer('elasticsearch');
  const folder = await mkdtemp(join(tmpdir(), 'bindery-elasticsearch-'));
  const runFolder = join(folder, 'run');
  const isRoot = process.getuid?.() === 0;
  const home = isRoot ? await readableCopy(cached, join(folder, 'home')) : cached;
  const start = async (port: number) => {
    const command = await elasticsearchCommand(home, runFolder, port);
    if (isRoot) await giveTo(nobody, folder, runFolder);
    const launcher = await startServerProcess(
      { ...command, ...(isRoot ? { userId: nobody } : {}) },
      /publish_address \{127\.0\.0\.1:(\d+)\}[^]*\] started/,
    );
    // The node is a child of its launcher, which ends when the node does.
    const nodePid = Number(await readFile(join(runFolder, 'pid'), 'utf8'));
    return { launcher, nodePid };
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (isRunning(server.nodePid)) process.kill(server.nodePid, signal);
    await server.launcher.kill(signal);
  };
  let server = await start(0);
  const port = Number(server.launcher.greeting[1]);
  return {
    url: `http://127.0.0.1:${port}`,
    get pid() {
      return server.nodePid;
    },
    kill: (signal = 'SIGKILL') => end(signal),
    async restart() {
      await end('SIGTERM');
      server = await start(port);
    },
    async stop() {
      await end('SIGTERM');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Elasticsearch refuses to run as root, and another user may not read root's cache: links to the same files, or copies. */
async function readableCopy(from: string, to: string): Promise<string> {
  await run('cp', ['-al', from, to]).catch(async () => {
    await rm(to, { recursive: true, force: true });
    await run('cp', ['-a', from, to]);
  });
  return to;
}

async function giveTo(userId: number, folder: string, runFolder: string): Promise<void> {
  await chmod(folder, 0o755);
  await chown(runFolder, userId, userId);
  const children = await readdir(runFolder, { recursive: true });
  await Promise.all(children.map((name) => chown(join(runFolder, name), userId, userId)));
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

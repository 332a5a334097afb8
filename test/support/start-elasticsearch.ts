import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { requireServer, ServerMissing } from '#infra/setup/find-server.ts';
import { findJdk, oldestJdkForElasticsearch } from '#infra/setup/server-locations.mjs';
import { startServerProcess } from './server-process.ts';

export type ElasticsearchServer = {
  url: string;
  readonly pid: number;
  /** Sends a signal, by default SIGKILL; the indices stay for `restart`. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again with the same port and indices, after stopping a running one. */
  restart(): Promise<void>;
  /** Stops it and removes its data. */
  stop(): Promise<void>;
};

const run = promisify(execFile);
const nobody = 65_534;
/** Deadline of the start, which takes five seconds on an idle machine. */
const readyWithinMs = 180_000;

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
      readyWithinMs,
    );
    // The node is a child of its launcher, and the launcher ends with the node.
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

/**
 * A home folder for another user, with links to the same files, or copies: Elasticsearch refuses to run as root, and another user may not read root's
 * cache.
 */
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

type ElasticsearchCommand = { program: string; args: string[]; env: NodeJS.ProcessEnv; cwd: string };

/**
 * Writes the settings of a single node on loopback into `runFolder`, and returns the command that starts it. With port 0 the node takes a free one
 * and names it in its output (`publish_address {127.0.0.1:…}`). `home` must be readable by the user that runs it, which may not be root.
 * @throws ServerMissing without a JDK
 */
async function elasticsearchCommand(home: string, runFolder: string, port: number): Promise<ElasticsearchCommand> {
  const jdk = findJdk(oldestJdkForElasticsearch);
  if (jdk === undefined) throw new ServerMissing('elasticsearch');
  const config = join(runFolder, 'config');
  const [data, logs, temporary] = [join(runFolder, 'data'), join(runFolder, 'logs'), join(runFolder, 'tmp')];
  await Promise.all(
    [join(config, 'jvm.options.d'), data, logs, temporary].map((folder) => mkdir(folder, { recursive: true })),
  );
  await writeFile(
    join(config, 'jvm.options'),
    withoutFiles(await readFile(join(home, 'config', 'jvm.options'), 'utf8')),
  );
  await writeFile(join(config, 'log4j2.properties'), logSettings);
  await writeFile(join(config, 'elasticsearch.yml'), nodeSettings(port, data, logs));
  return {
    program: join(jdk, 'bin', 'java'),
    args: [
      ...['-Xms4m', '-Xmx64m', '-XX:+UseSerialGC', '-cp', join(home, 'lib', 'tools', 'server-launcher', '*')],
      ...['org.elasticsearch.server.launcher.ServerLauncher', '-p', join(runFolder, 'pid')],
    ],
    env: {
      PATH: process.env.PATH,
      JAVA: join(jdk, 'bin', 'java'),
      JAVA_TYPE: 'ES_JAVA_HOME',
      ES_JAVA_HOME: jdk,
      ES_HOME: home,
      ES_PATH_CONF: config,
      ES_DISTRIBUTION_TYPE: 'zip',
      ES_TMPDIR: temporary,
      CLI_JAVA_OPTS: '',
      ES_JAVA_OPTS: process.env.ES_JAVA_OPTS ?? '-Xms256m -Xmx256m -XX:-AlwaysPreTouch -XX:TieredStopAtLevel=1',
    },
    // The launcher uses the working directory as its home.
    cwd: home,
  };
}

/** Removes the options that write logs of the garbage collector and heap dumps into the home folder. */
function withoutFiles(jvmOptions: string): string {
  return jvmOptions
    .split('\n')
    .filter((line) => !/Xlog:gc|HeapDump|ErrorFile|arrow\.memory/.test(line))
    .join('\n');
}

function nodeSettings(port: number, data: string, logs: string): string {
  return `cluster.name: bindery-test
node.name: bindery-test-1
discovery.type: single-node
network.host: 127.0.0.1
http.port: ${port}
transport.port: 0
path.data: ${data}
path.logs: ${logs}
xpack.security.enabled: false
cluster.routing.allocation.disk.threshold_enabled: false
`;
}

const logSettings = `status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d{ISO8601}][%-5p][%-25c{1.}] %m%n
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
logger.http.name = org.elasticsearch.http.AbstractHttpServerTransport
logger.http.level = info
logger.node.name = org.elasticsearch.node.Node
logger.node.level = info
`;

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findJdk, oldestJdkForElasticsearch } from './server-locations.mjs';
import { ServerMissing } from './server-missing.ts';

export type ElasticsearchCommand = { program: string; args: string[]; env: NodeJS.ProcessEnv; cwd: string };

/**
 * Writes the settings of a single node on loopback into `runFolder` and says how to start it. With port 0 the node takes a free one and
 * names it in its output (`publish_address {127.0.0.1:…}`). `home` must be readable by the user that runs it, which may not be root.
 * @throws ServerMissing without a JDK
 */
export async function elasticsearchCommand(
  home: string,
  runFolder: string,
  port: number,
): Promise<ElasticsearchCommand> {
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
    // The launcher takes its home from the working directory.
    cwd: home,
  };
}

/** Without the options that write logs of the collector and heap dumps into the home folder. */
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

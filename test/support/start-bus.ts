import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { requireServer } from '#infra/setup/find-server.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import { connectBus } from '#shared/messaging/nats/connect-bus.ts';
import { provision } from '#shared/messaging/nats/provision.ts';
import { natsConfig, serverUsers } from '#shared/messaging/subjects/permissions.ts';
import type { BusUser } from '#shared/messaging/subjects/subject-table.ts';
import { type ServerProcess, startServerProcess } from './server-process.ts';

export type TestBus = {
  server: NatsServer;
  passwords: Readonly<Record<string, string>>;
  /** A manager of streams and consumers with all rights, as an operator has who changes the bus by hand. */
  admin(): Promise<JetStreamManager>;
  /** Makes missing streams, buckets and consumers again, as `bindery provision` does. */
  provision(): Promise<void>;
  /** A connection with the rights of this service; closed by `stop`. */
  connect<User extends BusUser>(service: User, instance?: string): Promise<BusOf<User>>;
  stop(): Promise<void>;
};

/** A real nats-server with the users, streams, buckets and consumers of an installation. */
export async function startTestBus(
  options: {
    rendererVersions?: string[];
    /** Largest message, such as `128KB`, instead of the limit of an installation. */
    largestMessage?: string;
    /** Acknowledges before the data is on the disk, for large amounts of disposable data. */
    syncsLater?: boolean;
  } = {},
): Promise<TestBus> {
  const passwords = Object.fromEntries(serverUsers.map((name) => [name, randomBytes(12).toString('hex')]));
  const adminPassword = randomBytes(12).toString('hex');
  let configText = natsConfig({ passwords }).replace(
    'users = [',
    `users = [\n    { user: "admin", password: "${adminPassword}" }`,
  );
  if (options.largestMessage !== undefined) {
    configText = configText.replace(/max_payload: \w+/, `max_payload: ${options.largestMessage}`);
  }
  if (options.syncsLater === true) configText = configText.replace('sync_interval: always', 'sync_interval: "2m"');
  const server = await startNatsServer({ configText });
  const opened: { close(): Promise<void> }[] = [];
  const provisioned = () =>
    provision({
      url: server.url,
      password: passwords['provisioner'] ?? '',
      rendererVersions: options.rendererVersions ?? ['r-000000000000'],
    });
  try {
    await provisioned();
  } catch (error) {
    await server.stop();
    throw error;
  }
  return {
    server,
    passwords,
    provision: provisioned,
    async admin() {
      const connection = await connect({ servers: server.url, user: 'admin', pass: adminPassword });
      opened.push(connection);
      return jetstreamManager(connection);
    },
    async connect(service, instance = 'test') {
      const bus = await connectBus({ url: server.url, service, password: passwords[service] ?? '', instance });
      opened.push(bus);
      return bus;
    },
    async stop() {
      await Promise.all(opened.map((bus) => bus.close()));
      await server.stop();
    },
  };
}

export type NatsServerOptions = {
  /** Folder of the streams; by default a temporary one that `stop` removes. */
  storeDir?: string;
  /** Text of a configuration file, without port, host and JetStream folder. */
  configText?: string;
  /** Port; by default a free one. */
  port?: number;
};

export type NatsServer = {
  url: string;
  port: number;
  storeDir: string;
  /** Id of the current process, which `restart` changes. */
  readonly pid: number;
  /** Sends a signal, by default SIGKILL; the streams stay for `restart`. SIGSTOP and SIGCONT pause and resume. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same port and folder, after stopping a running one. */
  restart(): Promise<void>;
  /** Stops it and removes its temporary folder. */
  stop(): Promise<void>;
};

/** A real nats-server with JetStream on loopback, ready for connections. @throws ServerMissing */
export async function startNatsServer(options: NatsServerOptions = {}): Promise<NatsServer> {
  const program = requireServer('nats-server');
  const folder = await mkdtemp(join(tmpdir(), 'bindery-nats-'));
  const storeDir = options.storeDir ?? join(folder, 'jetstream');
  const configFile = join(folder, 'nats.conf');
  await writeFile(configFile, options.configText ?? '', { mode: 0o600 });

  const start = (port: number): Promise<ServerProcess> =>
    startServerProcess(
      {
        program,
        args: [
          '--config',
          configFile,
          '--addr',
          '127.0.0.1',
          '--port',
          String(port),
          '--jetstream',
          '--store_dir',
          storeDir,
        ],
      },
      /Listening for client connections on 127\.0\.0\.1:(\d+)[^]*Server is ready/,
    );

  let server = await start(options.port ?? -1);
  const port = Number(server.greeting[1]);
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    storeDir,
    get pid() {
      return server.pid;
    },
    kill: (signal) => server.kill(signal),
    async restart() {
      await server.kill('SIGTERM');
      server = await start(port);
    },
    async stop() {
      await server.kill('SIGTERM');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

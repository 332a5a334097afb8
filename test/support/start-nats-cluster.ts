import { randomBytes } from 'node:crypto';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import { inboxPrefix, natsConfig } from '#shared/messaging/subjects/permissions.ts';
import { type NatsServer, startNatsServer } from './start-bus.ts';

export type NatsCluster = {
  nodes: readonly NatsServer[];
  /** Addresses of all nodes, separated by commas. */
  url: string;
  /** The node that leads a stream. */
  leaderOf(stream: string): Promise<NatsServer>;
  stop(): Promise<void>;
};

/** A cluster of three nodes: streams are available while any two of them run. */
const nodeCount = 3;

const nameOf = (at: number): string => `nats-${at}`;

/** A real cluster of three nats-servers on loopback, with the users of an installation. @throws ServerMissing */
export async function startNatsCluster(passwords: Readonly<Record<string, string>>): Promise<NatsCluster> {
  const ports = await freePorts(nodeCount);
  const routes = ports.map((port) => `127.0.0.1:${port}`);
  const password = randomBytes(12).toString('hex');
  const nodes = await Promise.all(
    ports.map((port, at) => {
      const cluster = { name: 'bindery', serverName: nameOf(at), host: '127.0.0.1', port, routes, password };
      return startNatsServer({ configText: natsConfig({ passwords, cluster }) });
    }),
  );
  return {
    nodes,
    url: nodes.map(({ url }) => url).join(','),
    async leaderOf(stream) {
      const user = 'provisioner';
      const pass = passwords[user] ?? '';
      const servers = nodes.map(({ url }) => url);
      const connection = await connect({ servers, user, pass, inboxPrefix: inboxPrefix(user) });
      const jsm = await jetstreamManager(connection, { checkAPI: false });
      const { cluster } = await jsm.streams.info(stream);
      await connection.close();
      const leader = nodes.find((_, at) => nameOf(at) === cluster?.leader);
      if (leader === undefined) throw new Error(`No node leads the stream ${stream} now.`);
      return leader;
    },
    stop: async () => void (await Promise.all(nodes.map((node) => node.stop()))),
  };
}

import { randomBytes } from 'node:crypto';
import type { Bus } from '#shared/bus/bus.ts';
import { connectBus } from '#shared/nats/connect-bus.ts';
import { provision } from '#shared/nats/provision.ts';
import { natsConfig } from '#shared/subjects/nats-config.ts';
import { type BusUser, busUsers } from '#shared/subjects/subject-table.ts';
import { type NatsServer, startNatsServer } from './start-nats-server.ts';

export type TestBus = {
  server: NatsServer;
  passwords: Readonly<Record<string, string>>;
  /** A connection with the rights of this service; closed by `stop`. */
  connect(service: BusUser, instance?: string): Promise<Bus>;
  stop(): Promise<void>;
};

/** A real nats-server with the users, streams, buckets and consumers of an installation. */
export async function startTestBus(options: { rendererVersions?: string[] } = {}): Promise<TestBus> {
  const passwords = Object.fromEntries(
    [...busUsers, 'provisioner'].map((name) => [name, randomBytes(12).toString('hex')]),
  );
  const server = await startNatsServer({ configText: natsConfig({ passwords }) });
  const opened: Bus[] = [];
  try {
    await provision({
      url: server.url,
      password: passwords['provisioner'] ?? '',
      rendererVersions: options.rendererVersions ?? ['r-000000000000'],
    });
  } catch (error) {
    await server.stop();
    throw error;
  }
  return {
    server,
    passwords,
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

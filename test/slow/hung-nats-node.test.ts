import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BusOf } from '#shared/messaging/bus.ts';
import { connectBus } from '#shared/messaging/nats/connect-bus.ts';
import { provision } from '#shared/messaging/nats/provision.ts';
import { serverUsers } from '#shared/messaging/subjects/permissions.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { type NatsCluster, startNatsCluster } from '../support/start-nats-cluster.ts';

const minuteMs = 60_000;
/** Number of reads. Each goes to a random node, so that some meet the hanging one. */
const readsInARow = 30;

describeWithServers(['nats-server'], 'a node of three that hangs with its connections open', () => {
  const passwords = Object.fromEntries(serverUsers.map((name) => [name, randomBytes(12).toString('hex')]));
  let cluster: NatsCluster;
  let bus: BusOf<'gateway'>;

  beforeAll(async () => {
    cluster = await startNatsCluster(passwords);
    const url = cluster.url;
    await provision({ url, password: passwords['provisioner'] ?? '', rendererVersions: [], replicas: 3 });
    bus = await connectBus({ url, service: 'gateway', password: passwords['gateway'] ?? '', instance: 'test' });
  }, minuteMs);
  afterAll(async () => {
    await bus?.close();
    await cluster?.stop();
  });

  test(
    'does not block reads once the others have noticed',
    async () => {
      const hung = await cluster.leaderOf('EXPORTS');
      await hung.kill('SIGSTOP');
      try {
        const read = () =>
          bus.keyUses.get('acme.key').then(
            () => 'read',
            () => 'refused',
          );
        const rounds = async () => {
          for (let done = 0; done < readsInARow; done += 1) if ((await read()) !== 'read') return done;
          return readsInARow;
        };
        // With the default settings of nats-server, the other nodes would notice it later.
        await expect.poll(rounds, { timeout: 45_000, interval: 500 }).toBe(readsInARow);
      } finally {
        await hung.kill('SIGCONT');
      }
    },
    2 * minuteMs,
  );
});

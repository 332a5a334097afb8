import { jetstream, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import {
  bucketRows,
  type BusUser,
  durableRows,
  renderDurable,
  streamRows,
} from '#shared/messaging/subjects/subject-table.ts';
import { mayAskForState } from '#shared/messaging/subjects/permissions.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { startTestBus, type TestBus } from '../support/start-bus.ts';
import { openConnection } from '#shared/messaging/nats/connection.ts';
import { inspectBus } from '#shared/messaging/nats/inspect-bus.ts';
import { natsDocumentStore } from '#shared/messaging/nats/nats-document-store.ts';

const version = 'r-000000000000';

describeWithServers(['nats-server'], 'a part of the bus that was deleted by hand', () => {
  let stand: TestBus;
  let admin: JetStreamManager;
  beforeAll(async () => {
    stand = await startTestBus({ rendererVersions: [version] });
    admin = await stand.admin();
  });
  afterAll(() => stand.stop());

  const faults = async (): Promise<string[]> => {
    const address = { url: stand.server.url, user: 'provisioner', password: stand.passwords['provisioner'] ?? '' };
    const findings = await inspectBus({ address, oldestServer: [2, 12], rendererVersions: [version] });
    return findings.flatMap(({ level, text, advice }) => (level === 'fault' ? [`${text} ${advice}`] : []));
  };
  const isNamed = async (what: string) =>
    expect(await faults()).toContain(`The ${what} is missing. Run "bindery provision" of this version.`);

  const users = (row: (typeof bucketRows)[number]): BusUser[] =>
    [...new Set([...row.writers, ...row.readers])].filter((user) => row.ownKey !== true && mayAskForState(user, row));

  test.each(bucketRows.map((row) => [row.name, row] as const))(
    'bucket %s: the doctor names it, its users are told at once, and they continue when it exists again',
    async (name, row) => {
      const stores = await Promise.all(
        users(row).map(async (user) => {
          const access = { url: stand.server.url, user, password: stand.passwords[user] ?? '' };
          const connection = await openConnection(access, `deleted parts, ${user}`);
          const [js, jsm] = [jetstream(connection), await jetstreamManager(connection, { checkAPI: false })];
          const kv = await new Kvm(js).open(name, { allow_direct: true });
          const key = row.keysOf?.[user]?.[0]?.replace('>', 'x') ?? 'x';
          return {
            connection,
            key,
            writes: row.writers.includes(user),
            store: natsDocumentStore(kv, { js, jsm }, row, z.json()),
          };
        }),
      );
      await admin.streams.delete(`KV_${name}`);
      const refusal = `The bus has no bucket "${name}": it was deleted. Run "bindery provision" of this version.`;
      await isNamed(`stream KV_${name}`);
      for (const { store, key, writes } of stores) {
        await expect(store.get(key)).rejects.toThrow(refusal);
        await expect(store.get(key, { fromLeader: true })).rejects.toThrow(refusal);
        if (writes) await expect(store.put(key, {})).rejects.toThrow(refusal);
        if (!row.byKey?.length) await expect(store.keys()).rejects.toThrow(refusal);
      }
      await stand.provision();
      expect(await faults()).toEqual([]);
      for (const { store, key, writes, connection } of stores) {
        if (writes) expect(await store.put(key, {})).toBeGreaterThan(0);
        else expect(await store.get(key)).toBeUndefined();
        if (writes) await store.remove(key);
        await connection.close();
      }
    },
  );

  test.each(streamRows.map(({ name }) => name))(
    'stream %s: the doctor names it and its consumers, and the provisioner makes all of them again',
    async (name) => {
      await admin.streams.delete(name);
      await isNamed(`stream ${name}`);
      for (const row of [...durableRows, renderDurable(version)]) {
        if (row.stream === name) await isNamed(`consumer ${row.name}`);
      }
      await stand.provision();
      expect(await faults()).toEqual([]);
    },
  );

  test.each([...durableRows, renderDurable(version)].map(({ stream, name }) => [name, stream] as const))(
    'consumer %s of %s: the doctor names it, and the provisioner makes it again',
    async (name, stream) => {
      await admin.consumers.delete(stream, name);
      await isNamed(`consumer ${name}`);
      await stand.provision();
      expect(await faults()).toEqual([]);
    },
  );

  test('leases are held again when their bucket exists again', async () => {
    const bus = await stand.connect('housekeeper');
    const first = await bus.leases.acquire('housekeeper', 'a', AbortSignal.timeout(10_000));
    await admin.streams.delete('KV_leases');
    await new Promise((resolve) => first.lost.addEventListener('abort', resolve, { once: true }));
    const again = bus.leases.acquire('housekeeper', 'b', AbortSignal.timeout(60_000));
    await stand.provision();
    await (await again).release();
  });
});

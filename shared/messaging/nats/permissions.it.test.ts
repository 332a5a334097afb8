import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import {
  type BusUser,
  bucketRows,
  busUsers,
  coreRows,
  durableRows,
  streamRows,
} from '#shared/messaging/subjects/subject-table.ts';
import { describeWithServers } from '../../../test/support/describe-with-servers.ts';
import { startTestBus, type TestBus } from '../../../test/support/start-bus.ts';
import { openConnection } from './connection.ts';

/** Subjects that can be published to, and who may. Rows whose writers use their own name are asked for with another's. */
type Row = { subject: string; writers: readonly BusUser[] };

const concrete = (pattern: string): string => pattern.replaceAll('*', 'x').replace('>', 'x');

function rowsFor(user: BusUser): Row[] {
  return [
    ...streamRows.flatMap(({ name, subjects, writers }) =>
      subjects.map((subject) => ({
        subject: concrete(name === 'DEAD' ? subject.replace('*', user) : subject),
        writers,
      })),
    ),
    ...bucketRows.map(({ name, writers, ownKey }) => ({
      subject: `$KV.${name}.x`,
      writers: ownKey === true ? [] : writers,
    })),
    ...bucketRows.map(({ name, writers }) => ({ subject: `$KV.${name}.${user}`, writers })),
    ...bucketRows.flatMap(({ name, writers, readers, ownKey, byKey = [] }) => {
      const all = ownKey === true ? [] : [...writers, ...readers];
      const watchers = all.filter((each) => !byKey.includes(each));
      return [
        ...['DIRECT.GET', 'STREAM.MSG.GET', 'STREAM.INFO'].map((call) => ({
          subject: `$JS.API.${call}.KV_${name}`,
          writers: all,
        })),
        { subject: `$JS.API.DIRECT.GET.KV_${name}.$KV.${name}.${user}`, writers: all },
        { subject: `$JS.API.CONSUMER.CREATE.KV_${name}.x`, writers: watchers },
      ];
    }),
    ...coreRows.map(({ subject, writers }) => ({
      subject: concrete(writers.length === 0 ? subject : subject.replace('*', user)),
      writers,
    })),
    { subject: 'dead.somebody-else.EXPORTS', writers: [] },
    { subject: 'presence.somebody-else.x', writers: [] },
    { subject: '$JS.API.STREAM.DELETE.EXPORTS', writers: [] },
    { subject: '$JS.API.STREAM.MSG.DELETE.EXPORTS', writers: [] },
    { subject: '$JS.API.STREAM.UPDATE.EXPORTS', writers: [] },
    ...streamRows.map(({ name, purgers }) => ({ subject: `$JS.API.STREAM.PURGE.${name}`, writers: purgers })),
    ...durableRows.map(({ stream, name, reader }) => ({
      subject: `$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`,
      writers: [reader],
    })),
  ];
}

describeWithServers(['nats-server'], 'the rights of each user, as a real nats-server sees them', () => {
  let stand: TestBus;
  beforeAll(async () => {
    stand = await startTestBus();
  });
  afterAll(() => stand.stop());

  describe.each(busUsers)('%s', (user) => {
    let connection: NatsConnection;
    beforeAll(async () => {
      connection = await openConnection(
        { url: stand.server.url, user, password: stand.passwords[user] ?? '' },
        `rights of ${user}`,
      );
    });
    afterAll(() => connection.close());

    test('may publish where the table says so, and nowhere else', async () => {
      const rows = rowsFor(user);
      const refused = await refusedOf(
        connection,
        rows.map(({ subject }) => subject),
      );
      const wanted = rows.filter(({ writers }) => !writers.includes(user)).map(({ subject }) => subject);
      expect([...refused].toSorted()).toEqual([...new Set(wanted)].toSorted());
    });
  });

  test('workers on what tenants wrote can have nothing that they wrote copied to where others write', async () => {
    const connections = await Promise.all(
      (['page-renderer', 'bundler'] as const).map(async (user) => ({
        user,
        connection: await openConnection(
          { url: stand.server.url, user, password: stand.passwords[user] ?? '' },
          `copying as ${user}`,
        ),
      })),
    );
    for (const { user, connection } of connections) {
      const own = `$KV.readiness.${user}`;
      await jetstream(connection).publish(own, '{"forged":true}');
      // The server answers a direct read to whatever subject is named, with the stored bytes.
      connection.publish(`$JS.API.DIRECT.GET.KV_readiness.${own}`, '', { reply: '$KV.directory.key.forged' });
      await connection.flush();
      await connection.close();
    }
    const bus = await stand.connect('projector');
    expect(await bus.generations.blue.directoryKeys.keys()).toEqual([]);
  });

  test('what a writer of a stream may write is stored', async () => {
    for (const { name, subjects, writers } of streamRows) {
      for (const user of writers) {
        const connection = await openConnection(
          { url: stand.server.url, user, password: stand.passwords[user] ?? '' },
          `writing as ${user}`,
        );
        for (const subject of subjects) {
          const full = concrete(name === 'DEAD' ? subject.replace('*', user) : subject).replaceAll('.x', '.stored');
          expect(await jetstream(connection).publish(full, '{}')).toMatchObject({ stream: name });
        }
        await connection.close();
      }
    }
  });
});

/** Publishes to each subject and answers with those that the server refused: it says so before it answers the flush. */
async function refusedOf(connection: NatsConnection, subjects: string[]): Promise<Set<string>> {
  const refused = new Set<string>();
  const statuses = connection.status();
  const listening = (async () => {
    for await (const status of statuses) {
      const message = status.type === 'error' ? status.error.message : '';
      const subject = /Publish to "([^"]+)"/i.exec(message)?.[1];
      if (subject !== undefined) refused.add(subject);
    }
  })();
  for (const subject of subjects) connection.publish(subject, '');
  await connection.flush();
  (statuses as unknown as { stop(): void }).stop();
  await listening;
  return refused;
}

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import { inboxPrefix, rightsVersion, supervisorUser } from '#shared/messaging/subjects/permissions.ts';
import { subjectMatches } from '#shared/messaging/subjects/subject-names.ts';
import {
  type BucketRow,
  bucketRows,
  type BusUser,
  busUsers,
  coreRows,
  durableRows,
  renderDurable,
  type StreamRow,
  streamRows,
} from '#shared/messaging/subjects/subject-table.ts';
import { describeWithServers } from '../../../test/support/describe-with-servers.ts';
import { startTestBus, type TestBus } from '../../../test/support/start-bus.ts';
import { openConnection } from './connection.ts';
import { provision } from './provision.ts';

/** A subject, and the users that may publish to it or subscribe to it. */
type Row = { subject: string; users: readonly BusUser[] };

const nobody: readonly BusUser[] = [];
const concrete = (pattern: string): string => pattern.replaceAll('*', 'x').replace('>', 'x');
const call = (verb: string, rest: string): string => `$JS.API.${verb}.${rest}`;

/** All durable consumers of an installation, including those of one renderer and those with former names. */
const durables = [
  ...durableRows,
  ...durableRows.flatMap((row) => (row.formerly ?? []).map((name) => ({ ...row, name }))),
  renderDurable('r-000000000000'),
];

function streamCalls({
  name,
  subjects,
  last,
  history,
  auditors,
  counters,
  writers,
  purgers,
  retention,
}: StreamRow): Row[] {
  const remakers = durables.filter((row) => row.stream === name && row.remade === true).map(({ reader }) => reader);
  const rereaders = retention === 'log' ? durables.filter((row) => row.stream === name).map((row) => row.reader) : [];
  const followers = writers.filter((user) => last.includes(user));
  return [
    { subject: call('DIRECT.GET', name), users: [...history, ...auditors, ...followers, ...rereaders] },
    ...subjects.map((subject) => ({ subject: call('DIRECT.GET', `${name}.${concrete(subject)}`), users: last })),
    { subject: call('STREAM.MSG.GET', name), users: last },
    { subject: call('STREAM.INFO', name), users: auditors },
    { subject: call('STREAM.PURGE', name), users: purgers },
    ...changesOf(name, counters),
    // The reader of each consumer recreates it under its own name only.
    ...durables.map((durable) => ({
      subject: call('CONSUMER.CREATE', `${name}.${durable.name}.${durable.filter}`),
      users: durable.stream === name && durable.remade === true ? remakers : nobody,
    })),
    ...subjects.map((subject) => ({ subject: call('CONSUMER.CREATE', `${name}.x.${subject}`), users: nobody })),
    { subject: call('CONSUMER.CREATE', `${name}.x`), users: nobody },
  ];
}

/** Requests that change a stream or read its settings, which services never send. */
const changesOf = (stream: string, counters: readonly BusUser[] = []): Row[] => [
  { subject: call('CONSUMER.LIST', stream), users: counters },
  ...[
    ...['CREATE', 'UPDATE', 'DELETE', 'MSG.DELETE', 'SNAPSHOT', 'RESTORE', 'LEADER.STEPDOWN', 'PEER.REMOVE'].map(
      (verb) => call(`STREAM.${verb}`, stream),
    ),
    ...['NAMES', 'CREATE'].map((verb) => call(`CONSUMER.${verb}`, stream)),
    ...['DURABLE.CREATE', 'LEADER.STEPDOWN', 'PAUSE', 'UNPIN', 'RESET'].map((verb) =>
      call(`CONSUMER.${verb}`, `${stream}.x`),
    ),
  ].map((subject) => ({ subject, users: nobody })),
];

/** Keys that each user may write in each bucket, and one that none may write. */
const keysIn = ({ keysOf = {} }: BucketRow): string[] => [
  ...new Set([
    'x',
    ...busUsers,
    ...busUsers.map((user) => `${user}.x`),
    ...Object.values(keysOf).flatMap((keys) => keys.map(concrete)),
  ]),
];

function bucketCalls(row: BucketRow): Row[] {
  const { name, writers, readers, rebuilt, ownKey, keysOf = {}, readsOf = {}, byKey = [] } = row;
  const stream = `KV_${name}`;
  const mayUse = (user: BusUser, key: string) =>
    (keysOf[user] ?? ['>']).some((filter) => subjectMatches(filter, key)) && (ownKey !== true || key === user);
  const all = ownKey === true ? [] : [...writers, ...readers];
  const ofAllKeys = all.filter((user) => !byKey.includes(user) || keysOf[user] === undefined);
  const watchers = all.filter((user) => !byKey.includes(user));
  return [
    ...keysIn(row).flatMap((key) => [
      { subject: `$KV.${name}.${key}`, users: writers.filter((user) => mayUse(user, key)) },
      {
        subject: call('DIRECT.GET', `${stream}.$KV.${name}.${key}`),
        users: all.filter(
          (user) => ofAllKeys.includes(user) || mayUse(user, key) || readsOf[user]?.includes(key) === true,
        ),
      },
    ]),
    ...['DIRECT.GET', 'STREAM.MSG.GET'].map((verb) => ({ subject: call(verb, stream), users: ofAllKeys })),
    { subject: call('STREAM.INFO', stream), users: ownKey === true ? writers : ofAllKeys },
    ...['CREATE', 'INFO', 'DELETE', 'MSG.NEXT'].map((verb) => ({
      subject: call(`CONSUMER.${verb}`, `${stream}.x`),
      users: watchers,
    })),
    { subject: `$JS.FC.${stream}.x`, users: watchers },
    { subject: `$JS.ACK.${stream}.x.1.1.1.1.0`, users: nobody },
    { subject: call('STREAM.PURGE', stream), users: rebuilt === true ? writers : nobody },
    ...changesOf(stream),
  ];
}

const publishRows: Row[] = [
  ...streamRows.flatMap(({ name, subjects, writers, subjectsOf = {} }) =>
    name === 'DEAD'
      ? busUsers.map((user) => ({ subject: `dead.${user}.x`, users: writers.filter((writer) => writer === user) }))
      : subjects.map((subject) => ({
          subject: concrete(subject),
          users: writers.filter((user) => subjectsOf[user]?.includes(subject) !== false),
        })),
  ),
  ...streamRows.flatMap(streamCalls),
  ...bucketRows.flatMap(bucketCalls),
  ...durables.flatMap(({ stream, name, reader, remade }) => [
    ...['MSG.NEXT', 'INFO'].map((verb) => ({
      subject: call(`CONSUMER.${verb}`, `${stream}.${name}`),
      users: [reader],
    })),
    { subject: `$JS.ACK.${stream}.${name}.1.1.1.1.0`, users: [reader] },
    { subject: call('CONSUMER.DELETE', `${stream}.${name}`), users: remade === true ? [reader] : nobody },
  ]),
  ...coreRows.map(({ subject, writers }) => ({ subject: concrete(subject), users: writers })),
  ...busUsers
    .map((user) => ({ subject: `presence.${user}.x`, users: nobody }))
    .filter(({ subject }) => !coreRows.some((row) => subjectMatches(row.subject, subject))),
  ...[...busUsers, 'provisioner', supervisorUser].map((user) => ({
    subject: `${inboxPrefix(user)}.x`,
    users: nobody,
  })),
  ...[
    ...['$JS.API.INFO', '$JS.API.STREAM.LIST', '$JS.API.STREAM.NAMES', '$JS.API.META.LEADER.STEPDOWN'],
    ...['$JS.API.ACCOUNT.PURGE.$G', '$JS.API.SERVER.REMOVE', '$SYS.REQ.SERVER.PING', '$SYS.REQ.USER.INFO', '$O.x.C.x'],
    ...[`rights.${rightsVersion}`, '$NATS.x', '_INBOX.x', 'x'],
  ].map((subject) => ({ subject, users: nobody })),
];

const subscribeRows: Row[] = [
  ...coreRows.map(({ subject, readers }) => ({ subject, users: readers })),
  ...streamRows.flatMap(({ subjects, followers = [] }) => subjects.map((subject) => ({ subject, users: followers }))),
  ...busUsers.map((user) => ({ subject: `${inboxPrefix(user)}.>`, users: [user] })),
  ...[
    ...streamRows.filter(({ followers }) => followers === undefined).flatMap(({ subjects }) => subjects),
    ...bucketRows.map(({ name }) => `$KV.${name}.>`),
    ...coreRows.map(({ subject }) => `${subject.split('.')[0]}.>`),
    ...['>', '*', '*.>', '_INBOX.>', '_INBOX_*.>', '$JS.API.>', '$JS.ACK.>', '$JS.EVENT.>', '$SYS.>', 'presence.*.*'],
  ].map((subject) => ({ subject, users: nobody })),
];

/**
 * Subjects that programs with the first version of the rights use beyond those of this version: during a rolling update, old services run
 * with the current rights of the bus.
 */
const olderPrograms: Partial<Record<BusUser, readonly string[]>> = {
  orchestrator: ['$KV.leases.orchestrator', '$KV.dead-letters.orchestrator.FACTS.1', 'dead.orchestrator.FACTS'],
  projector: [
    ...['exports', 'content', 'directory', 'access', 'conversations'].map((name) => `$KV.leases.projector.${name}`),
    ...['$KV.dead-letters.projector.EXPORTS.1', 'dead.projector.EXPORTS', '$KV.projections.exports'],
  ],
  housekeeper: ['$KV.leases.housekeeper', call('DIRECT.GET', 'KV_leases.$KV.leases.housekeeper')],
  indexer: [
    ...['$KV.leases.vectors', '$KV.dead-letters.indexer.CONTENT.1', 'dead.indexer.CONTENT'],
    ...[call('CONSUMER.MSG.NEXT', 'CONTENT.indexer-content'), '$JS.ACK.CONTENT.indexer-content.1.1.1.1.0'],
  ],
  assistant: [call('DIRECT.GET', 'KV_directory.$KV.directory.content.acme.docs')],
  gateway: ['presence.gateway.a'],
  'page-renderer': ['presence.page-renderer.a', 'dead.page-renderer.TASKS'],
  bundler: ['presence.bundler.a', 'dead.bundler.TASKS'],
};

describeWithServers(['nats-server'], 'the rights of each user, as a real nats-server sees them', () => {
  let stand: TestBus;
  beforeAll(async () => {
    stand = await startTestBus();
  });
  afterAll(() => stand.stop());

  const connectAs = (user: BusUser) =>
    openConnection({ url: stand.server.url, user, password: stand.passwords[user] ?? '' }, `rights of ${user}`);

  test("workers on tenants' content cannot have their messages copied to the subjects of others", async () => {
    for (const user of ['page-renderer', 'bundler'] as const) {
      const connection = await connectAs(user);
      const own = `$KV.readiness.${user}`;
      await jetstream(connection).publish(own, '{"forged":true}');
      // The server sends the stored bytes of a direct read to any reply subject.
      connection.publish(`$JS.API.DIRECT.GET.KV_readiness.${own}`, '', { reply: '$KV.directory.key.forged' });
      await connection.flush();
      await connection.close();
    }
    const bus = await stand.connect('projector');
    expect(await bus.generations.blue.directoryKeys.keys()).toEqual([]);
  });

  test('messages that a writer may write to a stream are stored', async () => {
    for (const { name, subjects, writers, subjectsOf = {} } of streamRows) {
      for (const user of writers) {
        const connection = await connectAs(user);
        for (const subject of subjectsOf[user] ?? subjects) {
          const full = concrete(name === 'DEAD' ? subject.replace('*', user) : subject).replaceAll('.x', '.stored');
          expect(await jetstream(connection).publish(full, '{}')).toMatchObject({ stream: name });
        }
        await connection.close();
      }
    }
  });

  test('each service gets the leases of its own roles, over and over', async () => {
    const roles = bucketRows.find(({ name }) => name === 'leases')?.keysOf ?? {};
    expect(Object.keys(roles).toSorted()).toEqual(['deployer', 'housekeeper', 'indexer', 'orchestrator', 'projector']);
    for (const user of ['orchestrator', 'projector', 'housekeeper', 'indexer', 'deployer'] as const) {
      const [bus, spare] = await Promise.all([stand.connect(user, 'first'), stand.connect(user, 'spare')]);
      for (const role of roles[user] ?? []) {
        for (const leases of [bus.leases, spare.leases, bus.leases]) {
          const lease = await leases.acquire(role, user, AbortSignal.timeout(10_000));
          const waits = spare.leases.acquire(role, 'other', AbortSignal.timeout(300));
          await expect(waits).rejects.toThrow(/abort|timeout/i);
          await lease.release();
        }
      }
    }
  });

  test('a user that writes one key of a bucket cannot remove those of others by a message that replaces all', async () => {
    const held = await (await stand.connect('orchestrator')).leases.acquire(
      'orchestrator',
      'a',
      new AbortController().signal,
    );
    const connection = await connectAs('indexer');
    const roll = headers();
    roll.set('Nats-Rollup', 'all');
    const shared = bucketRows.filter(({ writers }) => writers.length > 1 && writers.includes('indexer'));
    expect(shared.map(({ name }) => name).toSorted()).toEqual(['dead-letters', 'leases', 'readiness']);
    for (const subject of ['$KV.dead-letters.indexer.CONTENT.7', '$KV.leases.vectors', '$KV.readiness.indexer']) {
      const rolled = jetstream(connection).publish(subject, '{}', { headers: roll });
      await expect(rolled).rejects.toThrow(/rollup not permitted/);
    }
    await connection.close();
    expect(held.lost.aborted).toBe(false);
    await held.release();
  });

  test('a bucket made by an older program gets these settings, and the old ones back on a downgrade', async () => {
    const access = { url: stand.server.url, password: stand.passwords['provisioner'] ?? '' };
    const connection = await openConnection({ ...access, user: 'provisioner' }, 'an older provisioner');
    const jsm = await jetstreamManager(connection, { checkAPI: false });
    const asOlder = { allow_rollup_hdrs: true };
    expect((await jsm.streams.update('KV_leases', asOlder)).config).toMatchObject(asOlder);
    await provision({ ...access, rendererVersions: [] });
    expect((await jsm.streams.info('KV_leases')).config.allow_rollup_hdrs ?? false).toBe(false);
    await connection.close();
  });

  // These tests come last, because a user that may empty a stream empties it here.
  describe.each(busUsers)('%s', (user) => {
    let connection: NatsConnection;
    beforeAll(async () => {
      connection = await connectAs(user);
    });
    afterAll(() => connection.close());

    const refusedIn = (rows: readonly Row[]): string[] =>
      [...new Set(rows.filter(({ users }) => !users.includes(user)).map(({ subject }) => subject))].toSorted();

    test('may publish where the table says so, and nowhere else', async () => {
      const subjects = publishRows.map(({ subject }) => subject);
      expect(await refusedOf(connection, subjects)).toEqual(refusedIn(publishRows));
    });

    test('may listen where the table says so, and nowhere else', async () => {
      const subjects = subscribeRows.map(({ subject }) => subject);
      expect(await unheardOf(connection, subjects)).toEqual(refusedIn(subscribeRows));
    });

    test('has the rights of an older program of its name, which may still run', async () => {
      expect(await refusedOf(connection, olderPrograms[user] ?? [])).toEqual([]);
    });
  });
});

/** Publishes to each subject and returns those that the server refused. It reports refusals before it answers the flush. */
const refusedOf = (connection: NatsConnection, subjects: readonly string[]): Promise<string[]> =>
  violations(connection, /Publish to "([^"]+)"/i, () => {
    for (const subject of subjects) connection.publish(subject, '');
  });

/** Subscribes to each subject and returns those that the server refused. */
const unheardOf = (connection: NatsConnection, subjects: readonly string[]): Promise<string[]> =>
  violations(connection, /Subscription to "([^"]+)"/i, () => {
    for (const subject of subjects) connection.subscribe(subject, { callback: () => {} });
  });

async function violations(connection: NatsConnection, pattern: RegExp, run: () => void): Promise<string[]> {
  const refused = new Set<string>();
  const statuses = connection.status();
  const listening = (async () => {
    for await (const status of statuses) {
      const message = status.type === 'error' ? status.error.message : '';
      const subject = pattern.exec(message)?.[1];
      if (subject !== undefined) refused.add(subject);
    }
  })();
  run();
  await connection.flush();
  (statuses as unknown as { stop(): void }).stop();
  await listening;
  return [...refused].toSorted();
}

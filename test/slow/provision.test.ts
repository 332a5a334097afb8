import {
  AckPolicy,
  type ConsumerConfig,
  jetstream,
  type JetStreamClient,
  jetstreamManager,
  type JetStreamManager,
  ReplayPolicy,
  type StreamConfig,
} from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { natsConfig, serverUsers } from '#shared/messaging/subjects/permissions.ts';
import { type DurableRow, durableRows, renderDurable } from '#shared/messaging/subjects/subject-table.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { type NatsServer, startNatsServer } from '../support/start-bus.ts';
import { leftToProvision, provision } from '#shared/messaging/nats/provision.ts';
import { beginAt, durableSettings } from '#shared/messaging/nats/wanted-settings.ts';

const version = 'r-0123456789ab';
const passwords = Object.fromEntries(serverUsers.map((user) => [user, `${user} password`]));
const config = natsConfig({ passwords })
  .replace('users = [', 'users = [\n    { user: "admin", password: "admin" }')
  .replace('sync_interval: always', 'sync_interval: "2m"');
const readerOf = (stream: string) => durableRows.find((row) => row.stream === stream && row.remade !== true);
const onLog = readerOf('FACTS') as DurableRow;
const onQueue = renderDurable(version);
const renamed = durableRows.find(({ formerly }) => formerly !== undefined) as DurableRow;
const [formerName = ''] = renamed.formerly ?? [];

describeWithServers(['nats-server'], 'streams, buckets and consumers that another version made', () => {
  let server: NatsServer;
  let admin: NatsConnection;
  let jsm: JetStreamManager;
  let js: JetStreamClient;
  let said: string[];

  const provisioned = () => {
    const say = (line: string) => void said.push(line);
    const log = { info: say, warn: say, error: (_: object, line: string) => say(line) };
    const password = passwords['provisioner'] ?? '';
    return provision({ url: server.url, password, rendererVersions: [version], log });
  };
  /** Recreates a consumer with the settings that another version would give it. */
  const madeAs = async (row: DurableRow, other: Partial<ConsumerConfig>, sequence?: number) => {
    await jsm.consumers.delete(row.stream, row.name);
    await jsm.consumers.add(row.stream, { ...durableSettings(row), ...beginAt(sequence), ...other });
  };
  const publish = async (row: DurableRow, from: number, to: number) => {
    for (let n = from; n <= to; n += 1) await js.publish(row.filter.replaceAll('*', 'x'), `${n}`);
  };
  const read = async (row: Pick<DurableRow, 'stream' | 'name'>, count: number, isDone = true) => {
    const consumer = await js.consumers.get(row.stream, row.name);
    const bodies: string[] = [];
    for (let n = 0; n < count; n += 1) {
      const message = await consumer.next({ expires: 3_000 });
      if (message === null) break;
      bodies.push(message.string());
      if (isDone) await message.ackAck();
    }
    return bodies;
  };
  const exists = (row: Pick<DurableRow, 'stream' | 'name'>) =>
    jsm.consumers.info(row.stream, row.name).then(
      () => true,
      () => false,
    );
  const nothingLeft = async () => expect((await leftToProvision(jsm, [version])).problems).toEqual([]);

  beforeEach(async () => {
    said = [];
    server = await startNatsServer({ configText: config });
    admin = await connect({ servers: server.url, user: 'admin', pass: 'admin' });
    [jsm, js] = [await jetstreamManager(admin), jetstream(admin)];
    await provisioned();
  });
  afterEach(async () => {
    await admin.close();
    await server.stop();
  });

  test('nothing is logged or changed the first time, nor the second time', async () => {
    await provisioned();
    expect(said).toEqual([]);
    await nothingLeft();
  });

  const updated: Record<string, Partial<ConsumerConfig>> = {
    'another ack_wait': { ack_wait: 30_000_000_000 },
    'another max_ack_pending': { max_ack_pending: 7 },
    'a backoff and a limit of deliveries': { backoff: [1_000_000_000, 2_000_000_000], max_deliver: 3 },
    'an inactive_threshold': { inactive_threshold: 3_600_000_000_000 },
    'headers alone': { headers_only: true },
    'batches of one': { max_batch: 1 },
  };
  const remade: Record<string, Partial<ConsumerConfig>> = {
    'another replay_policy': { replay_policy: ReplayPolicy.Original },
    'a state in memory': { mem_storage: true },
  };
  const cases = [
    ...Object.entries(updated).map(([what, other]) => ({ what, other, isRemade: false })),
    ...Object.entries(remade).map(([what, other]) => ({ what, other, isRemade: true })),
  ];
  describe.each([
    { kind: 'log', row: onLog },
    { kind: 'work queue', row: onQueue },
  ])('a consumer of a $kind', ({ row, kind }) => {
    test.each(cases)('with $what comes to its settings and keeps its place', async ({ other, isRemade }) => {
      await madeAs(row, other);
      await publish(row, 1, 5);
      // A consumer that delivers only headers returns no bodies.
      expect(await read(row, 2)).toHaveLength(2);
      await provisioned();
      await nothingLeft();
      expect(await read(row, 3)).toEqual(['3', '4', '5']);
      expect(said).toHaveLength(isRemade ? 1 : 0);
      if (isRemade) expect(said[0]).toContain(`the consumer ${row.name} was recreated`);
      if (isRemade && kind === 'log') expect(said[0]).toContain(`continues at message 3 of ${row.stream}`);
    });

    test('messages that were delivered and not acknowledged are redelivered', async () => {
      await madeAs(row, { replay_policy: ReplayPolicy.Original });
      await publish(row, 1, 4);
      expect(await read(row, 1)).toEqual(['1']);
      expect(await read(row, 2, false)).toEqual(['2', '3']);
      await provisioned();
      expect(await read(row, 4)).toEqual(['2', '3', '4']);
    });

    test('gets its settings from two provisioners at once, and again later', async () => {
      await madeAs(row, { replay_policy: ReplayPolicy.Original, ack_wait: 1_000_000_000 });
      await publish(row, 1, 4);
      await read(row, 2);
      await Promise.all([provisioned(), provisioned(), provisioned()]);
      await provisioned();
      await nothingLeft();
      expect((await read(row, 4)).slice(-2)).toEqual(['3', '4']);
    });
  });

  test('consumers of logs with another kind of acknowledgement, and with several filters', async () => {
    await madeAs(onLog, { ack_policy: AckPolicy.All });
    await publish(onLog, 1, 4);
    await read(onLog, 2);
    await provisioned();
    expect(await read(onLog, 4)).toEqual(['3', '4']);
    await jsm.consumers.delete(onLog.stream, onLog.name);
    const { filter_subject: filter = '', ...settings } = { ...durableSettings(onLog), ...beginAt() };
    await jsm.consumers.add(onLog.stream, { ...settings, filter_subjects: [filter, 'facts.y'] });
    await read(onLog, 3);
    await provisioned();
    await nothingLeft();
    expect(await read(onLog, 4)).toEqual(['4']);
  });

  test('a waiting reader continues with the recreated consumer', async () => {
    await madeAs(onLog, { replay_policy: ReplayPolicy.Original });
    await publish(onLog, 1, 1);
    const consumer = await js.consumers.get(onLog.stream, onLog.name);
    await (await consumer.next({ expires: 1_000 }))?.ackAck();
    const waiting = consumer.next({ expires: 30_000 }).catch((error: unknown) => error);
    await expect.poll(async () => (await jsm.consumers.info(onLog.stream, onLog.name)).num_waiting).toBe(1);
    await provisioned();
    expect(await waiting).toMatchObject({ message: 'consumer deleted' });
    await publish(onLog, 2, 2);
    expect((await consumer.next({ expires: 1_000 }))?.string()).toBe('2');
  });

  describe('a provisioner that died while it recreated a consumer', () => {
    const keeper: DurableRow = { ...onLog, name: `${onLog.name}-place` };
    const keepPlace = (sequence: number) =>
      jsm.consumers.add(onLog.stream, { ...durableSettings(keeper), ...beginAt(sequence) });
    beforeEach(async () => {
      await madeAs(onLog, { replay_policy: ReplayPolicy.Original });
      await publish(onLog, 1, 5);
      await read(onLog, 3);
    });

    const isWhole = async () =>
      !(await exists(keeper)) && (await leftToProvision(jsm, [version])).problems.length === 0;

    test('before it removed the consumer', async () => {
      await keepPlace(4);
      await read(onLog, 1);
      await provisioned();
      expect(await read(onLog, 3)).toEqual(['5']);
      expect(await isWhole()).toBe(true);
    });
    test('before the consumer existed again', async () => {
      await keepPlace(4);
      await jsm.consumers.delete(onLog.stream, onLog.name);
      await provisioned();
      expect(await read(onLog, 3)).toEqual(['4', '5']);
      expect(await isWhole()).toBe(true);
    });
    test('before it removed the place keeper', async () => {
      await keepPlace(4);
      await madeAs(onLog, {}, 4);
      await provisioned();
      expect(await read(onLog, 3)).toEqual(['4', '5']);
      expect(await isWhole()).toBe(true);
    });
  });

  test('a consumer that knows more messages than its stream has begins after those', async () => {
    await publish(onLog, 1, 2);
    await madeAs(onLog, { replay_policy: ReplayPolicy.Original }, 500);
    await provisioned();
    await publish(onLog, 3, 3);
    expect(await read(onLog, 2)).toEqual(['3']);
  });

  test('a consumer with a new name continues at the position of the former one, which is removed', async () => {
    const former = { ...renamed, name: formerName };
    await jsm.consumers.delete(renamed.stream, renamed.name);
    await jsm.consumers.add(former.stream, { ...durableSettings(former), ...beginAt(), ack_wait: 30_000_000_000 });
    await publish(renamed, 1, 4);
    await read(former, 3);
    await provisioned();
    expect(said).toEqual([
      `the consumer ${renamed.name} continues at the position of ${formerName}: message 4 of ${renamed.stream}`,
    ]);
    expect(await exists(former)).toBe(false);
    expect(await read(renamed, 2)).toEqual(['4']);
  });

  test('a former consumer stays as long as a service of the version before reads it', async () => {
    const former = { ...renamed, name: formerName };
    await jsm.consumers.add(former.stream, { ...durableSettings(former), ...beginAt() });
    const consumer = await js.consumers.get(former.stream, former.name);
    const waiting = consumer.next({ expires: 60_000 });
    await expect.poll(async () => (await jsm.consumers.info(former.stream, former.name)).num_waiting).toBe(1);
    await provisioned();
    await publish(renamed, 1, 1);
    expect((await waiting)?.string()).toBe('1');
    await provisioned();
    expect(await exists(former)).toBe(false);
    expect(said).toEqual([expect.stringContaining(`still reads ${formerName}`)]);
  });

  const streams: Record<string, Partial<StreamConfig>> = {
    'another age and window': { max_age: 3_600_000_000_000, duplicate_window: 1_000_000_000 },
    'a limit of each subject': { max_msgs_per_subject: 3 },
    'a republished subject': { republish: { src: 'facts.*.*', dest: 'seen.{{wildcard(1)}}' } },
    'no direct reads': { allow_direct: false },
    'another subject beside': { subjects: ['facts.*.*', 'facts.later.*.*.*'] },
  };
  test.each(Object.entries(streams))('a stream with %s comes to its settings', async (_, other) => {
    await publish(onLog, 1, 2);
    await jsm.streams.update('FACTS', other);
    await provisioned();
    await nothingLeft();
    expect(await read(onLog, 2)).toEqual(['1', '2']);
  });

  test.each<[string, Partial<StreamConfig>]>([
    ['the number of messages', { max_msgs: 1_000 }],
    ['the size of messages', { max_msg_size: 100 }],
    ['the number of consumers', { max_consumers: 9 }],
    ['acknowledgements', { no_ack: true }],
    ['the right to replace the stream', { allow_rollup_hdrs: true }],
  ])('a stream whose settings were changed by hand gets its own again: %s', async (_what, other) => {
    await jsm.streams.update('FACTS', other);
    const { problems } = await leftToProvision(jsm, [version]);
    expect(problems).toEqual([
      expect.stringMatching(new RegExp(`^The stream FACTS differs .*${Object.keys(other)[0]}`)),
    ]);
    await provisioned();
    await nothingLeft();
  });

  test('a stream that the server does not change stops the start with a sentence, and is unchanged', async () => {
    await jsm.streams.delete('TASKS');
    await jsm.streams.add({ name: 'TASKS', subjects: ['tasks.>'] });
    await expect(provisioned()).rejects.toThrow(
      /^The stream TASKS has the settings of another version of Bindery: .*retention is "limits" and must be "workqueue".*, and nats-server refuses: stream configuration update can not change retention policy to\/from workqueue\. Start the version that last used this data, or restore a copy/,
    );
    expect((await jsm.streams.info('TASKS')).config).toMatchObject({ retention: 'limits', subjects: ['tasks.>'] });
  });
});

import { cp, rm } from 'node:fs/promises';
import { jetstream, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { connect, errors } from '@nats-io/transport-node';
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { z } from 'zod';
import { type DeadLetter, deadLetterKey, deadLetterSchema } from '#shared/contracts/dead-letters.ts';
import { activeJobDocumentSchema, type Generation } from '#shared/interfaces/read-models.ts';
import { openDeadLetterQueue } from '#shared/messaging/queue/dead-letters.ts';
import { followPointers, keepFollowing } from '#shared/messaging/read-models.ts';
import { inboxPrefix } from '#shared/messaging/subjects/permissions.ts';
import { everySecond } from '#shared/runtime/retry.ts';
import { describeWithServers } from '../../../test/support/describe-with-servers.ts';
import { type CuttingProxy, cuttingProxy } from '../../../test/support/cutting-proxy.ts';
import { startTestBus, type TestBus } from '../../../test/support/start-bus.ts';
import { connectBus } from './connect-bus.ts';
import { natsDocumentStore } from './nats-document-store.ts';

/** Buckets of the orchestrator. `managed` may wrap the JetStream manager to disturb its requests. */
async function openBuckets(bus: TestBus, managed: (jsm: JetStreamManager) => JetStreamManager = (jsm) => jsm) {
  const connection = await connect({
    servers: bus.server.url,
    user: 'orchestrator',
    pass: bus.passwords['orchestrator'] ?? '',
    inboxPrefix: inboxPrefix('orchestrator'),
    maxReconnectAttempts: -1,
  });
  const js = jetstream(connection);
  const jsm = await jetstreamManager(connection, { checkAPI: false });
  const open = async <T>(name: string, schema: z.ZodType<T>) => {
    const kv = await new Kvm(js).open(name, { allow_direct: true });
    return natsDocumentStore(kv, { js, jsm: managed(jsm) }, { name, removedKeptSeconds: 1 }, schema);
  };
  const messageCount = async (name: string) => (await jsm.streams.info(`KV_${name}`)).state.messages;
  const restart = async (): Promise<void> => {
    await bus.server.kill();
    await bus.server.restart();
    const isBack = () => jsm.streams.info('KV_active-jobs').catch(() => undefined);
    await expect.poll(isBack).toBeDefined();
  };
  return { connection, jsm, open, messageCount, restart };
}

async function openActiveJobs(...about: Parameters<typeof openBuckets>) {
  const { open, ...rest } = await openBuckets(...about);
  const activeJobs = await open('active-jobs', activeJobDocumentSchema);
  const createdAt = '2026-03-01T10:00:00.000Z';
  const put = (jobId: string) => activeJobs.put(`acme.${jobId}`, { organization: 'acme', jobId, createdAt });
  return { ...rest, activeJobs, put };
}

describeWithServers(['nats-server'], 'keys of a bucket', () => {
  let bus: TestBus;
  beforeAll(async () => {
    bus = await startTestBus();
  });
  afterAll(() => bus?.stop());

  test('are all listed, also one that is written at that moment', async () => {
    const { connection, activeJobs, put } = await openActiveJobs(bus);
    await put('kept');
    const listed = new AbortController();
    const write = async () => {
      while (!listed.signal.aborted) await put('kept');
    };
    const writing = write();
    const lists = new Set<string>();
    for (let time = 0; time < 200; time += 1) lists.add((await activeJobs.keys()).join(' '));
    listed.abort();
    await writing;
    expect([...lists]).toEqual(['acme.kept']);
    await connection.close();
  });

  test('are listed without the subjects of the whole bucket, which are a large answer, unless a key is written meanwhile', async () => {
    let subjectLists = 0;
    let whenListed = async () => {};
    const watched = (jsm: JetStreamManager): JetStreamManager => {
      const info: typeof jsm.streams.info = async (name, options) => {
        if (options?.subjects_filter !== undefined) subjectLists += 1;
        const answer = await jsm.streams.info(name, options);
        await whenListed();
        return answer;
      };
      return Object.create(jsm, { streams: { value: Object.create(jsm.streams, { info: { value: info } }) } });
    };
    const { connection, activeJobs, put } = await openActiveJobs(bus, watched);
    await Promise.all(['quiet-1', 'quiet-2', 'gone'].map(put));
    await activeJobs.remove('acme.gone');
    const quiet = async () => (await activeJobs.keys()).filter((key) => key.includes('quiet')).toSorted();
    expect([await quiet(), subjectLists]).toEqual([['acme.quiet-1', 'acme.quiet-2'], 0]);
    whenListed = async () => {
      whenListed = async () => {};
      await put('quiet-3');
    };
    expect([await quiet(), subjectLists]).toEqual([['acme.quiet-1', 'acme.quiet-2', 'acme.quiet-3'], 1]);
    for (const name of ['quiet-1', 'quiet-2', 'quiet-3']) await activeJobs.remove(`acme.${name}`);
    await connection.close();
  });

  test('leave nothing behind, however many were removed', async () => {
    const { connection, messageCount, activeJobs, put } = await openActiveJobs(bus);
    await put('kept');
    await Promise.all(
      Array.from({ length: 300 }, async (_, at) => {
        await put(`job-${at}`);
        await activeJobs.remove(`acme.job-${at}`);
      }),
    );
    expect(await activeJobs.keys()).toEqual(['acme.kept']);
    await expect.poll(() => messageCount('active-jobs')).toBe(1);
    expect(await activeJobs.get('acme.kept')).toMatchObject({ document: { jobId: 'kept' } });
    await connection.close();
  });
});

describeWithServers(['nats-server'], 'watches', () => {
  test('need no list of the keys, which takes long where there are many', async () => {
    const bus = await startTestBus();
    const info = () => Promise.reject(new errors.TimeoutError());
    const unlisted = (jsm: JetStreamManager): JetStreamManager =>
      Object.create(jsm, { streams: { value: Object.create(jsm.streams, { info: { value: info } }) } });
    const { activeJobs, put, connection } = await openActiveJobs(bus, unlisted);
    await put('there');
    const seen = async (filter: string): Promise<string[]> => {
      const kinds: string[] = [];
      const stop = new AbortController();
      for await (const { kind } of activeJobs.watch(filter, stop.signal)) {
        kinds.push(kind);
        if (kind === 'caught-up') stop.abort();
      }
      return kinds;
    };
    expect([await seen('acme.>'), await seen('nobody.>')]).toEqual([['put', 'caught-up'], ['caught-up']]);
    await connection.close();
    await bus.stop();
  });

  test('go on when the server was restarted, and it forgets those of processes that died', async () => {
    const bus = await startTestBus();
    const { activeJobs, put, jsm, connection, restart } = await openActiveJobs(bus);
    const dying = await openActiveJobs(bus);
    const stop = new AbortController();
    await put('before');
    const begun = Array.from({ length: 5 }, () => dying.activeJobs.watch('>', stop.signal)[Symbol.asyncIterator]());
    await Promise.all(begun.map((watch) => watch.next()));
    await dying.activeJobs.keys('nobody.>');
    await dying.connection.close();

    const seen: string[] = [];
    const following = keepFollowing(
      async () => {
        for await (const change of activeJobs.watch('>', stop.signal)) if (change.kind === 'put') seen.push(change.key);
      },
      () => {},
      stop.signal,
    );
    await expect.poll(() => seen).toContain('acme.before');
    await restart();
    await put('after');
    await expect.poll(() => seen).toContain('acme.after');
    expect((await jsm.streams.info('KV_active-jobs')).state.consumer_count).toBe(1);
    stop.abort();
    await following;
    await connection.close();
    await bus.stop();
  });
});

/** Each of these tests waits for the server to expire a marker, so they run concurrently. */
describeWithServers(['nats-server'], 'removals', () => {
  test.concurrent('a key stays removed when the server dies after its marker has ended', async () => {
    const bus = await startTestBus();
    const { activeJobs, put, messageCount, connection, restart } = await openActiveJobs(bus);
    await put('removed');
    await restart();
    await activeJobs.remove('acme.removed');
    await put('kept');
    await expect.poll(() => messageCount('active-jobs')).toBe(1);
    for (let time = 0; time < 2; time += 1) {
      await restart();
      expect(await activeJobs.keys()).toEqual(['acme.kept']);
    }
    await connection.close();
    await bus.stop();
  });

  test.concurrent('a dead letter that was settled stays settled when the server dies after its marker has ended', async () => {
    const bus = await startTestBus();
    const { connection, open, messageCount, restart } = await openBuckets(bus);
    const deadLetters = await open('dead-letters', deadLetterSchema);
    const stop = new AbortController();
    const openQueue = async () => {
      const names = { service: 'orchestrator', stream: 'FACTS', retry: everySecond };
      const deadLetterLog = { record: async () => {} };
      const logger = pino({ level: 'silent' });
      const queue = openDeadLetterQueue({ ...names, deadLetters, deadLetterLog, logger }, stop.signal);
      await queue.ready;
      return queue;
    };
    const at = '2026-03-01T10:00:00.000Z';
    const letter: DeadLetter = {
      ...{ service: 'orchestrator', stream: 'FACTS', subject: 'facts.acme.one', sequence: 7, isOrdered: false },
      ...{ state: 'aside', cause: 'poison', reason: 'It was broken.', setAsideAt: at },
      decision: { id: `dd_${'a'.repeat(22)}`, action: 'retry', why: 'It is mended.', by: 'anna@ops-1', at },
    };
    await deadLetters.put(deadLetterKey('orchestrator', 'FACTS', 7), letter);
    await restart();
    const queue = await openQueue();
    expect(await queue.settleOne(async () => {})).toBe(true);
    await expect.poll(() => messageCount('dead-letters')).toBe(0);
    let handledAgain = 0;
    for (let time = 0; time < 2; time += 1) {
      await restart();
      const next = await openQueue();
      expect(await next.settleOne(async () => void (handledAgain += 1))).toBe(false);
      expect([handledAgain, await deadLetters.keys()]).toEqual([0, []]);
    }
    stop.abort();
    await connection.close();
    await bus.stop();
  });
});

describeWithServers(['nats-server'], 'a server that dies', () => {
  let bus: TestBus;
  let proxy: CuttingProxy;
  beforeAll(async () => {
    bus = await startTestBus();
    proxy = await cuttingProxy(bus.server.port);
  });
  afterAll(async () => {
    await bus?.stop();
    await proxy?.close();
  });
  const connectThroughProxy = () =>
    connectBus({
      ...{ url: `nats://127.0.0.1:${proxy.port}`, service: 'orchestrator', instance: 'test' },
      password: bus.passwords['orchestrator'] ?? '',
    });

  test('in the middle of a handshake holds up nobody', async () => {
    const isCut = proxy.cutAfter('\r\n');
    const service = await connectThroughProxy();
    await isCut;
    await service.check();
    await service.close();
  });

  test('in the middle of a listing holds up nobody', async () => {
    const service = await connectThroughProxy();
    const { activeJobs } = service;
    const createdAt = '2026-03-01T10:00:00.000Z';
    const jobIds = Array.from({ length: 50 }, (_, at) => `job-${at}`);
    for (const jobId of jobIds) await activeJobs.put(`acme.${jobId}`, { organization: 'acme', jobId, createdAt });
    const isCut = proxy.cutAfter('acme.job-25');
    const keys = jobIds.map((jobId) => `acme.${jobId}`).sort();
    expect((await activeJobs.keys()).sort()).toEqual(keys);
    await isCut;
    await service.close();
  });
});

describeWithServers(['nats-server'], 'a bus that comes back with older data', () => {
  test('is noticed by those who follow which generation is read', async () => {
    const bus = await startTestBus();
    const { server } = bus;
    const { projections } = await bus.connect('projector');
    const put = async (live: Generation): Promise<void> => {
      const isStored = () =>
        projections.pointers.put('exports', { live }).then(
          () => true,
          () => false,
        );
      await expect.poll(isStored).toBe(true);
    };
    const pointers = followPointers(projections.pointers);
    await put('blue');
    expect(await pointers.live('exports')).toBe('blue');

    const copy = `${server.storeDir}-copy`;
    await server.kill('SIGSTOP');
    await cp(server.storeDir, copy, { recursive: true });
    await server.kill('SIGCONT');
    for (let written = 0; written < 5; written += 1) await put('green');
    await expect.poll(() => pointers.live('exports')).toBe('green');

    await server.kill();
    await rm(server.storeDir, { recursive: true });
    await cp(copy, server.storeDir, { recursive: true });
    await server.restart();
    await expect.poll(() => pointers.live('exports')).toBe('blue');
    await put('green');
    await expect.poll(() => pointers.live('exports')).toBe('green');
    await pointers.close();
    await bus.stop();
  });
});

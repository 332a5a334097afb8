import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithServers } from '../../../test/support/describe-with-servers.ts';
import { startTestBus, type TestBus } from '../../../test/support/start-bus.ts';
import type { BusOf } from '../bus.ts';
import { busContract, contractRendererVersion, directoryCommit } from '../bus.contract.ts';
import { inboxPrefix } from '../subjects/permissions.ts';
import { directoryLogSubject } from '../subjects/subject-names.ts';
import { openConnection } from './connection.ts';
import { directBatch } from './direct-batch.ts';

describeWithServers(['nats-server'], 'the bus over a real nats-server, each user with just its rights', () => {
  busContract('NATS', async () => {
    const stand = await startTestBus({ rendererVersions: [contractRendererVersion] });
    const [gateway, projector, orchestrator, renderer, bundler, housekeeper] = await Promise.all([
      stand.connect('gateway'),
      stand.connect('projector'),
      stand.connect('orchestrator'),
      stand.connect('page-renderer'),
      stand.connect('bundler'),
      stand.connect('housekeeper'),
    ]);
    return {
      ...{ gateway, projector, orchestrator, renderer, bundler, housekeeper },
      async putUnreadable(subject) {
        const user = 'gateway';
        const pass = stand.passwords[user] ?? '';
        const client = await connect({ servers: stand.server.url, user, pass, inboxPrefix: inboxPrefix(user) });
        await client.request(subject, 'no commit');
        await client.close();
      },
      stop: () => stand.stop(),
    };
  });

  let stand: TestBus;
  let gateway: BusOf<'gateway'>;
  let projector: BusOf<'projector'>;
  beforeAll(async () => {
    stand = await startTestBus();
    [gateway, projector] = await Promise.all([stand.connect('gateway'), stand.connect('projector')]);
  });
  afterAll(() => stand.stop());

  test('a user has only the rights of the table', async () => {
    await expect(projector.directory.append(directoryCommit('five', 'no'), { sequence: 0 })).rejects.toThrow(
      /no right to publish/,
    );
    await expect(gateway.directory.subjects(directoryLogSubject('*'))).rejects.toThrow(
      'no right to publish to "$JS.API.STREAM.INFO.DIRECTORY"',
    );
  });

  test('a history of many commits is whole, and its reads leave no subscription behind', async () => {
    const subject = directoryLogSubject('long');
    const ids = Array.from({ length: 600 }, (_, at) => `long-${at}`);
    let last = await gateway.directory.append(directoryCommit('long', ids[0] ?? ''), { sequence: 0 });
    for (const id of ids.slice(1)) last = await gateway.directory.append(directoryCommit('long', id, last), last);
    const read = async () => {
      const found: string[] = [];
      for await (const { commit } of projector.directory.history(subject)) found.push(commit.id);
      return found;
    };
    expect(await read()).toEqual(ids);
    const connection = await openConnection(
      { url: stand.server.url, user: 'projector', password: stand.passwords['projector'] ?? '' },
      'reader',
    );
    const jsm = await jetstreamManager(connection, { checkAPI: false });
    const query = { seq: 1, next_by_subj: subject, batch: 10 };
    const subscriptions = (): number => Reflect.get(connection, 'protocol').subscriptions.subs.size;
    expect(await directBatch(jsm, 'DIRECTORY', query)).toHaveLength(10);
    const before = subscriptions();
    for (let at = 0; at < 5; at += 1) await directBatch(jsm, 'DIRECTORY', query);
    expect(await directBatch(jsm, 'DIRECTORY', { ...query, next_by_subj: directoryLogSubject('nobody') })).toEqual([]);
    expect(subscriptions()).toBe(before);
    await connection.close();
  });

  test('documents that cannot be read do not end a watch', async () => {
    const user = 'projector';
    const pass = stand.passwords[user] ?? '';
    const client = await connect({ servers: stand.server.url, user, pass, inboxPrefix: inboxPrefix(user) });
    await client.request('$KV.job-list.list.watched.a', 'no JSON');
    const { jobList } = projector.generations.blue;
    await jobList.put('watched.b', { entries: [] });
    const stop = new AbortController();
    const seen: string[] = [];
    for await (const change of jobList.watch('watched.>', stop.signal)) {
      seen.push(change.kind === 'caught-up' ? change.kind : `${change.kind} ${change.key}`);
      if (change.kind === 'caught-up') {
        await client.request('$KV.job-list.list.watched.c', '{"entries":1}');
        await jobList.put('watched.d', { entries: [] });
      } else if (change.key === 'watched.d') stop.abort();
      if (change.kind === 'unreadable') expect(change.problem).toContain(change.key);
    }
    expect(seen).toEqual([
      ...['unreadable watched.a', 'put watched.b', 'caught-up', 'unreadable watched.c', 'put watched.d'],
    ]);
    await client.close();
  });

  test('a killed server comes back with all acknowledged messages, and all clients continue', async () => {
    const before = await gateway.directory.append(directoryCommit('six', 's1'), { sequence: 0 });
    const reader = await projector.projectionReaders.directory('blue');
    await stand.server.kill('SIGKILL');
    const during = gateway.directory.append(directoryCommit('six', 's2', before), before);
    await stand.server.restart();
    await during;
    const ids: string[] = [];
    while (ids.at(-1) !== 's2') {
      const next = await reader.next({ expiresMs: 1_000 });
      if (next?.value === undefined) continue;
      ids.push(next.value.id);
      await next.ack();
    }
    expect(ids).toContain('s1');
    expect((await gateway.directory.last(directoryLogSubject('six')))?.commit.id).toBe('s2');
  });
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BusOf } from '../bus.ts';
import { ConcurrentAppend } from '../event-log.ts';
import { nextCommit } from '../commit-chain.ts';
import type { DirectoryCommit } from '#shared/aggregates/directory/directory.ts';
import { directoryLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { describeWithServers } from '../../../test/support/describe-with-servers.ts';
import { startTestBus, type TestBus } from '../../../test/support/start-bus.ts';

const time = new Date('2026-01-01T00:00:00.000Z');
const origin = (id: string) => ({
  id,
  source: 'gateway',
  actor: { kind: 'operator' as const, id: 'operator' },
  time,
  causationId: id,
  correlationId: id,
});

function created(
  organization: string,
  id: string,
  previous?: { commit: DirectoryCommit; sequence: number },
): DirectoryCommit {
  const event = {
    type: 'OrganizationCreated' as const,
    version: 1 as const,
    data: { organization, name: id, plan: 'free' as const },
  };
  const state = { organization, name: id, plan: 'free' as const, createdAt: time.toISOString(), domains: [], keys: [] };
  return nextCommit(directoryLogSubject(organization), previous, [event], state, origin(id));
}

describeWithServers(['nats-server'], 'the bus over a real nats-server, each service with just its rights', () => {
  let stand: TestBus;
  let gateway: BusOf<'gateway'>;
  let projector: BusOf<'projector'>;

  beforeAll(async () => {
    stand = await startTestBus();
    [gateway, projector] = await Promise.all([stand.connect('gateway'), stand.connect('projector')]);
  });
  afterAll(() => stand.stop());

  test('an append is read back as the last commit, also from the leader', async () => {
    const stored = await gateway.directory.append(created('one', 'a'), { sequence: 0 });
    expect(await gateway.directory.last(directoryLogSubject('one'))).toEqual(stored);
    expect(await gateway.directory.last(directoryLogSubject('one'), { fromLeader: true })).toEqual(stored);
    expect(await gateway.directory.last(directoryLogSubject('nobody'))).toBeUndefined();
  });

  test('of two appends on the same commit one wins; the other is told', async () => {
    const both = await Promise.allSettled(
      ['x', 'y'].map((id) => gateway.directory.append(created('two', id), { sequence: 0 })),
    );
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const loser = both.find((one) => one.status === 'rejected');
    expect(loser?.reason).toBeInstanceOf(ConcurrentAppend);
  });

  test('the same append again answers as if it had worked the first time', async () => {
    const commit = created('three', 'again');
    const first = await gateway.directory.append(commit, { sequence: 0 });
    expect(await gateway.directory.append(commit, { sequence: 0 })).toEqual(first);
  });

  test('history gives all commits of one subject and no other, oldest first', async () => {
    const first = await gateway.directory.append(created('four', 'f1'), { sequence: 0 });
    await gateway.directory.append(created('other', 'o1'), { sequence: 0 });
    await gateway.directory.append(created('four', 'f2', first), first);
    const ids: string[] = [];
    for await (const { commit } of projector.directory.history(directoryLogSubject('four'))) ids.push(commit.id);
    expect(ids).toEqual(['f1', 'f2']);
  });

  test('subjects are those that match and have commits, for who may audit the stream and nobody else', async () => {
    const housekeeper = await stand.connect('housekeeper');
    for (const id of ['listed-a', 'listed-b']) await gateway.directory.append(created(id, id), { sequence: 0 });
    const all = await housekeeper.directory.subjects(directoryLogSubject('*'));
    expect(all.filter((subject) => subject.includes('listed')).toSorted()).toEqual([
      'directory.listed-a.log',
      'directory.listed-b.log',
    ]);
    expect(await housekeeper.directory.subjects(directoryLogSubject('nobody'))).toEqual([]);
    expect(await housekeeper.exports.subjects('exports.acme.*.log')).toEqual([]);
    await expect(gateway.directory.subjects(directoryLogSubject('*'))).rejects.toThrow(
      'no right to publish to "$JS.API.STREAM.INFO.DIRECTORY"',
    );
  });

  test('a reader gets each message, and what it does not acknowledge again', async () => {
    const reader = await projector.projectionReaders.directory('blue');
    const first = await reader.next({ expiresMs: 5_000 });
    expect(first?.deliveryCount).toBe(1);
    first?.nak();
    const seen = new Map<number, number>();
    for (
      let next = await reader.next({ expiresMs: 5_000 });
      next !== undefined;
      next = await reader.next({ expiresMs: 1_000 })
    ) {
      seen.set(next.sequence, next.deliveryCount);
      await next.ack();
    }
    expect(seen.get(first?.sequence ?? 0)).toBe(2);
    expect(seen.size).toBeGreaterThanOrEqual(6);
  });

  test('a waiting reader stops at once when told to', async () => {
    const reader = await projector.projectionReaders.content('blue');
    const stop = new AbortController();
    const waiting = reader.next({ signal: stop.signal });
    stop.abort();
    expect(await waiting).toBeUndefined();
  });

  test('a service may not write what the table does not give it', async () => {
    await expect(projector.directory.append(created('five', 'no'), { sequence: 0 })).rejects.toThrow(
      /no right to publish/,
    );
  });

  test('documents: guarded puts, keys, and a watch that misses nothing', async () => {
    const { jobList } = projector.generations.blue;
    const stop = new AbortController();
    const changes = jobList.watch('acme.>', stop.signal)[Symbol.asyncIterator]();
    expect((await changes.next()).value).toEqual({ kind: 'caught-up' });
    const waiting = changes.next();
    const revision = await jobList.put('acme.2026-01-01', { jobs: [] }, { expectedRevision: 0 });
    expect(await jobList.put('acme.2026-01-01', { jobs: [] }, { expectedRevision: 0 })).toBeUndefined();
    expect((await waiting).value).toMatchObject({ kind: 'put', key: 'acme.2026-01-01', revision, initial: false });
    expect(await jobList.keys('acme.>')).toEqual(['acme.2026-01-01']);
    await jobList.remove('acme.2026-01-01');
    expect((await changes.next()).value).toMatchObject({ kind: 'removed' });
    expect(await jobList.get('acme.2026-01-01')).toBeUndefined();
    stop.abort();
    expect((await changes.next()).done).toBe(true);
  });

  test('a watch begins with what is there', async () => {
    const { jobList } = projector.generations.blue;
    await jobList.put('begin.a', { jobs: [] });
    await jobList.put('begin.b', { jobs: [] });
    const kinds: string[] = [];
    const stop = new AbortController();
    for await (const change of jobList.watch('begin.>', stop.signal)) {
      kinds.push(change.kind === 'caught-up' ? change.kind : `${change.kind} ${change.key} ${change.initial}`);
      if (change.kind === 'caught-up') stop.abort();
    }
    expect(kinds).toEqual(['put begin.a true', 'put begin.b true', 'caught-up']);
  });

  test('a role has one holder; given back, the next one gets it', async () => {
    const orchestrator = await stand.connect('orchestrator');
    const never = new AbortController().signal;
    const held = await orchestrator.leases.acquire('test', 'first', never);
    const waiting = projector.leases.acquire('test', 'second', never);
    expect(held.lost.aborted).toBe(false);
    await held.release();
    expect(held.lost.aborted).toBe(true);
    await (await waiting).release();
  });

  test('a killed server comes back with all that was acknowledged, and everyone goes on', async () => {
    const before = await gateway.directory.append(created('six', 's1'), { sequence: 0 });
    const reader = await projector.projectionReaders.directory('blue');
    await stand.server.kill('SIGKILL');
    const during = gateway.directory.append(created('six', 's2', before), before);
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

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  directoryAggregate,
  type DirectoryCommit,
  type DirectoryEvent,
} from '#shared/aggregates/directory/directory.ts';
import type { BundleTask, RenderTask } from '#shared/contracts/export-tasks.ts';
import { Poison } from '#shared/runtime/failures.ts';
import type { BusOf } from './bus.ts';
import { nextCommit } from '#shared/messaging/log/commit-chain.ts';
import type { Delivery, DurableReader } from '#shared/messaging/queue/durable-reader.ts';
import { ConcurrentAppend, type StoredCommit } from '#shared/messaging/log/event-log.ts';
import { directoryLogSubject, exportLogSubject } from './subjects/subject-names.ts';
import { exportCommit, exportState } from '../../test/support/make-commit.ts';

export type BusUnderTest = {
  gateway: BusOf<'gateway'>;
  projector: BusOf<'projector'>;
  orchestrator: BusOf<'orchestrator'>;
  renderer: BusOf<'page-renderer'>;
  bundler: BusOf<'bundler'>;
  /** Only the housekeeper may list subjects, read texts and purge. */
  housekeeper: BusOf<'housekeeper'>;
  /** Puts a message that is not a commit into the directory's log. */
  putUnreadable(subject: string): Promise<void>;
  stop(): Promise<void>;
};

export const contractRendererVersion = 'r-000000000000';

const shortMs = 1_000;
const time = new Date('2026-01-01T00:00:00.000Z');
const actor = { kind: 'operator' as const, id: 'operator' };

/** A commit of an organization that records its creation or a change of its name. */
export function directoryCommit(
  organization: string,
  id: string,
  previous?: StoredCommit<DirectoryCommit>,
): DirectoryCommit {
  const type = previous === undefined ? 'OrganizationCreated' : 'OrganizationChanged';
  const event: DirectoryEvent = { type, version: 1, data: { organization, name: id, plan: 'free' } };
  const metadata = { time: time.toISOString(), actor };
  const state = directoryAggregate.evolve(previous?.commit.data.state, event, metadata);
  const origin = { id, source: 'gateway', actor, time, causationId: id, correlationId: id };
  return nextCommit(directoryLogSubject(organization), previous, [event], state, origin);
}

const renderTask = (taskId: string): RenderTask => ({
  version: 1,
  kind: 'closing',
  taskId,
  organization: 'acme',
  jobId: `se_${'a'.repeat(22)}`,
  domain: 'docs',
  planHash: 'a'.repeat(64),
  attempt: 1,
  rendererVersion: contractRendererVersion,
});
const bundleTask = ({ rendererVersion: _, ...task }: RenderTask): BundleTask => ({ ...task, kind: 'bundle' });

/** Takes and acknowledges all messages that wait for a reader. */
async function drained<T>(reader: DurableReader<T>): Promise<Delivery<T>[]> {
  const deliveries: Delivery<T>[] = [];
  for (
    let next = await reader.next({ expiresMs: shortMs });
    next !== undefined;
    next = await reader.next({ expiresMs: shortMs })
  ) {
    deliveries.push(next);
    await next.ack();
  }
  return deliveries;
}

/** Tests that every adapter of the bus must pass: event log, durable reader, task queue and document store. */
export function busContract(name: string, open: () => Promise<BusUnderTest>): void {
  describe(`the contract of the bus, kept by ${name}`, () => {
    let bus: BusUnderTest;
    beforeAll(async () => {
      bus = await open();
    });
    afterAll(() => bus?.stop());
    const append = (organization: string, id: string, previous?: StoredCommit<DirectoryCommit>) =>
      bus.gateway.directory.append(directoryCommit(organization, id, previous), { sequence: previous?.sequence ?? 0 });

    describe('event log', () => {
      test('gives back an append as the last commit, also from the leader', async () => {
        const stored = await append('one', 'a');
        expect(await bus.gateway.directory.last(directoryLogSubject('one'))).toEqual(stored);
        expect(await bus.gateway.directory.last(directoryLogSubject('one'), { fromLeader: true })).toEqual(stored);
        expect(await bus.gateway.directory.last(directoryLogSubject('nobody'))).toBeUndefined();
      });

      test('stores one of two appends on the same commit, and rejects the other', async () => {
        const both = await Promise.allSettled(['x', 'y'].map((id) => append('two', id)));
        expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
        const loser = both.find((one) => one.status === 'rejected');
        expect(loser?.reason).toBeInstanceOf(ConcurrentAppend);
      });

      test('answers the same append again as the first time', async () => {
        expect(await append('three', 'again')).toEqual(await append('three', 'again'));
      });

      test('gives the history of one subject alone, oldest first', async () => {
        const first = await append('four', 'f1');
        await append('other', 'o1');
        await append('four', 'f2', first);
        const ids: string[] = [];
        for await (const { commit } of bus.projector.directory.history(directoryLogSubject('four')))
          ids.push(commit.id);
        expect(ids).toEqual(['f1', 'f2']);
        expect(await bus.projector.directory.at(directoryLogSubject('four'), first.sequence)).toEqual(first);
        expect(await bus.projector.directory.at(directoryLogSubject('other'), first.sequence)).toBeUndefined();
        expect(await bus.projector.directory.at(directoryLogSubject('four'), 1_000_000)).toBeUndefined();
      });

      test('lists the subjects that match and have commits', async () => {
        for (const id of ['listed-a', 'listed-b']) await append(id, id);
        const all = await bus.housekeeper.directory.subjects(directoryLogSubject('*'));
        expect(all.filter((subject) => subject.includes('listed')).toSorted()).toEqual([
          'directory.listed-a.log',
          'directory.listed-b.log',
        ]);
        expect(await bus.housekeeper.directory.subjects(directoryLogSubject('nobody'))).toEqual([]);
      });

      test('lists the subjects of messages stored before a time, also while messages are purged', async () => {
        const { exports } = bus.housekeeper;
        const jobs = ['a', 'b', 'c'].map((letter) => exportState({ jobId: `se_${letter.repeat(22)}` }));
        const subjects = jobs.map(({ jobId }) => exportLogSubject('acme', jobId));
        const firsts = [];
        for (const state of jobs)
          firsts.push(await bus.orchestrator.exports.append(exportCommit(state), { sequence: 0 }));
        for (const [at, state] of jobs.entries()) {
          const first = firsts[at];
          if (first !== undefined) await bus.orchestrator.exports.append(exportCommit(state, first), first);
        }
        const read = async (before: Date, seen = (_subject: string) => Promise.resolve()) => {
          const found: string[] = [];
          for await (const subject of exports.storedBefore(before)) {
            found.push(subject);
            await seen(subject);
          }
          return found;
        };
        const later = new Date(Date.now() + 3_600_000);
        expect(await read(new Date(0))).toEqual([]);
        expect(await read(later)).toEqual([...subjects, ...subjects]);
        const sequence = await exports.newestSequence();
        expect(await read(later, (subject) => exports.purge(subject, { sequence }))).toEqual(subjects);
      });
    });

    describe('durable reader', () => {
      test('delivers each message until it is acknowledged', async () => {
        await append('read', 'r1');
        const reader = await bus.projector.projectionReaders.directory('blue');
        const first = await reader.next({ expiresMs: 5_000 });
        expect(first?.deliveryCount).toBe(1);
        first?.nak();
        const counts = new Map((await drained(reader)).map(({ sequence, deliveryCount }) => [sequence, deliveryCount]));
        expect(counts.get(first?.sequence ?? 0)).toBe(2);
        expect((await reader.position()).leftCount).toBe(0);
      });

      test('never delivers a terminated message again', async () => {
        const reader = await bus.projector.projectionReaders.directory('blue');
        await drained(reader);
        await append('ended', 'e1');
        (await reader.next({ expiresMs: 5_000 }))?.terminate('enough');
        await append('ended-later', 'e2');
        expect((await drained(reader)).map(({ value }) => value?.id)).toEqual(['e2']);
      });

      test('takes waiting messages together, in order', async () => {
        const reader = await bus.projector.projectionReaders.directory('blue');
        await drained(reader);
        for (const id of ['m1', 'm2', 'm3']) await append(`many-${id}`, id);
        const first = await reader.next({ expiresMs: 5_000 });
        const rest = await reader.more(2);
        expect([first, ...rest].map((delivery) => delivery?.value?.id)).toEqual(['m1', 'm2', 'm3']);
        for (const delivery of [first, ...rest]) await delivery?.ack();
      });

      test('delivers a message that cannot be read with its problem', async () => {
        const reader = await bus.projector.projectionReaders.directory('blue');
        await drained(reader);
        await bus.putUnreadable(directoryLogSubject('broken'));
        const [delivery] = await drained(reader);
        expect(delivery).toMatchObject({ value: undefined, subject: directoryLogSubject('broken') });
        expect(delivery?.problem?.message).toMatch(/\.$/);
      });

      test('reads the messages of one subject once more, settled or not', async () => {
        const reader = await bus.projector.projectionReaders.directory('blue');
        const first = await append('reread', 'r1');
        await append('reread-other', 'o1');
        const second = await append('reread', 'r2', first);
        await drained(reader);
        const again: (string | undefined)[] = [];
        const subject = directoryLogSubject('reread');
        for await (const { value, deliveryCount } of reader.reread(subject, first.sequence)) {
          expect(deliveryCount).toBe(2);
          again.push(value?.id);
        }
        expect(again).toEqual(['r1', 'r2']);
        for await (const { sequence } of reader.reread(subject, second.sequence))
          expect(sequence).toBe(second.sequence);
        expect((await reader.position()).leftCount).toBe(0);
      });

      test('stops waiting at once when its signal aborts', async () => {
        const reader = await bus.projector.projectionReaders.content('blue');
        const stop = new AbortController();
        const waiting = reader.next({ signal: stop.signal });
        stop.abort();
        expect(await waiting).toBeUndefined();
      });
    });

    describe('task queue', () => {
      test('gives a task to its own workers, once however often it is submitted', async () => {
        const task = renderTask('job.closing.1');
        for (const each of [task, task, bundleTask({ ...task, taskId: 'job.bundle.1' })]) {
          await bus.orchestrator.tasks.submit(each);
        }
        const render = await drained(await bus.renderer.renderTasks(contractRendererVersion));
        const bundle = await drained(await bus.bundler.bundleTasks());
        expect(render.map(({ value }) => value)).toEqual([task]);
        expect(bundle.map(({ value }) => value?.taskId)).toEqual(['job.bundle.1']);
      });
    });

    describe('documents', () => {
      test('guards puts by revision, and misses no change in a watch', async () => {
        const { jobList } = bus.projector.generations.blue;
        const stop = new AbortController();
        const changes = jobList.watch('acme.>', stop.signal)[Symbol.asyncIterator]();
        expect((await changes.next()).value).toEqual({ kind: 'caught-up' });
        const waiting = changes.next();
        const revision = await jobList.put('acme.2026-01-01', { entries: [] }, { expectedRevision: 0 });
        expect(await jobList.put('acme.2026-01-01', { entries: [] }, { expectedRevision: 0 })).toBeUndefined();
        expect((await waiting).value).toMatchObject({ kind: 'put', key: 'acme.2026-01-01', revision, initial: false });
        expect(await jobList.keys('acme.>')).toEqual(['acme.2026-01-01']);
        await jobList.remove('acme.2026-01-01');
        expect((await changes.next()).value).toMatchObject({ kind: 'removed' });
        expect(await jobList.get('acme.2026-01-01')).toBeUndefined();
        stop.abort();
        expect((await changes.next()).done).toBe(true);
      });

      test('refuses documents that are too large permanently, and continues', async () => {
        const { jobList } = bus.projector.generations.blue;
        const huge = { entries: [{ jobId: 'x'.repeat(1_100_000) }] };
        await expect(jobList.put('huge.2026-01-01.0', huge as never, { expectedRevision: 0 })).rejects.toThrow(Poison);
        expect(await jobList.get('huge.2026-01-01.0')).toBeUndefined();
        expect(await jobList.put('huge.2026-01-01.0', { entries: [] }, { expectedRevision: 0 })).toBeDefined();
      });

      test('gives all documents in pages, and many by their keys', async () => {
        const { usageContent } = bus.projector.generations.green;
        const keys = Array.from({ length: 600 }, (_, n) => `paged.${String(n).padStart(4, '0')}`);
        for (const key of keys) await usageContent.put(key, { days: {} });
        await usageContent.remove('paged.0007');
        const left = keys.filter((key) => key !== 'paged.0007');
        const paged: string[] = [];
        for await (const page of usageContent.pages()) {
          expect(page.length).toBeLessThanOrEqual(256);
          paged.push(...page.map(({ key }) => key));
        }
        expect(paged.toSorted()).toEqual(left);
        const many = await usageContent.getMany([...keys, 'paged.none']);
        expect(many.map(({ key }) => key).toSorted()).toEqual(left);
        expect(many[0]).toMatchObject({ document: { days: {} }, revision: expect.any(Number) });
        expect(await usageContent.getMany(['paged.none'])).toEqual([]);
        expect(await usageContent.getMany([])).toEqual([]);
      });

      test('removes only the expected revision', async () => {
        const { jobList } = bus.projector.generations.blue;
        const key = 'removed.2026-01-01.0';
        const first = await jobList.put(key, { entries: [] });
        const second = await jobList.put(key, { entries: [] });
        expect(await jobList.remove(key, { expectedRevision: first ?? 0 })).toBe(false);
        expect(await jobList.get(key)).toBeDefined();
        expect(await jobList.remove(key, { expectedRevision: second ?? 0 })).toBe(true);
        expect(await jobList.get(key)).toBeUndefined();
        expect(await jobList.put(key, { entries: [] }, { expectedRevision: 0 })).toBeDefined();
      });

      test('begins a watch with the stored documents', async () => {
        const { jobList } = bus.projector.generations.blue;
        await jobList.put('begin.a', { entries: [] });
        await jobList.put('begin.b', { entries: [] });
        const kinds: string[] = [];
        const stop = new AbortController();
        for await (const change of jobList.watch('begin.>', stop.signal)) {
          kinds.push(change.kind === 'caught-up' ? change.kind : `${change.kind} ${change.key} ${change.initial}`);
          if (change.kind === 'caught-up') stop.abort();
        }
        expect(kinds).toEqual(['put begin.a true', 'put begin.b true', 'caught-up']);
      });
    });
  });
}

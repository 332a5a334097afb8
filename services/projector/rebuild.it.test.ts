import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { rebuildProjection } from '#services/cli/commands/projections.ts';
import type { ContentCommit } from '#shared/aggregates/content/content.ts';
import {
  type DirectoryCommit,
  type DirectoryEvent,
  directoryAggregate,
} from '#shared/aggregates/directory/directory.ts';
import type { ExportCommit } from '#shared/aggregates/export-job/export-job.ts';
import {
  type Generation,
  generations,
  jobStatusKey,
  type ProjectionName,
  projectionNames,
} from '#shared/interfaces/read-models.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import { nextCommit } from '#shared/messaging/log/commit-chain.ts';
import type { StoredCommit } from '#shared/messaging/log/event-log.ts';
import { type ReadModels, storesOf } from '#shared/messaging/read-models.ts';
import { directoryLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import {
  accessRecord,
  siteViewsRecord,
  contentCommit,
  exportCommit,
  exportState,
} from '../../test/support/make-commit.ts';
import { threadWriter } from '../../test/support/make-thread.ts';
import { runProjections } from '../../test/support/run-projections.ts';
import { startTestBus, type TestBus } from '../../test/support/start-bus.ts';
import { compareReadModels } from './compare-read-models.ts';

const phases = ['requested', 'rendering', 'closing', 'joining', 'completed'] as const;
const never = new AbortController().signal;

describeWithServers(['nats-server'], 'rebuilding read models from the log', () => {
  let stand: TestBus;
  let gateway: BusOf<'gateway'>;
  let orchestrator: BusOf<'orchestrator'>;
  let publisher: BusOf<'publisher'>;
  let projector: BusOf<'projector'>;
  let operator: BusOf<'operator'>;
  let stopProjector: () => Promise<void>;
  let jobCount = 0;
  let rebuildCount = 0;
  /** The projector's current time. */
  let now: Date;

  beforeAll(async () => {
    stand = await startTestBus();
    [gateway, orchestrator, publisher, projector, operator] = await Promise.all([
      stand.connect('gateway'),
      stand.connect('orchestrator'),
      stand.connect('publisher'),
      stand.connect('projector'),
      stand.connect('operator'),
    ]);
    for (let n = 0; n < 40; n += 1) await runJob();
    await describeOrganization();
    await answerQuestions();
    const linkSigner = await stand.connect('link-signer');
    await linkSigner.access.record(accessRecord({ time: '2026-03-01T11:00:00.000Z' }));
    for (const changes of [{}, { id: 'sv_again' }, { sequence: 2 }])
      await gateway.views.record(siteViewsRecord(changes));
  });
  afterAll(() => stand.stop());

  beforeEach(() => {
    now = new Date('2026-03-01T12:00:00.000Z');
    startProjector();
  });
  afterEach(() => stopProjector());

  function startProjector() {
    stopProjector = runProjections(projector, { clock: { now: () => now } });
  }

  /** A job from its request to its end; returns the last commit. */
  async function runJob(): Promise<StoredCommit<ExportCommit>> {
    jobCount += 1;
    const jobId = `se_${String(jobCount).padStart(22, '0')}`;
    const createdAt = new Date(Date.parse('2026-03-01T10:00:00.000Z') + jobCount * 3_600_000).toISOString();
    let last: StoredCommit<ExportCommit> | undefined;
    for (const [index, phase] of phases.entries()) {
      const state = exportState({ jobId, createdAt, phase, progress: index * 25 });
      const writer = index === 0 ? gateway : orchestrator;
      last = await writer.exports.append(exportCommit(state, last), { sequence: last?.sequence ?? 0 });
    }
    if (last === undefined) throw new Error('A job has commits.');
    return last;
  }

  /** Answers of two days, one of them rated, and one of a thread that was erased. */
  async function answerQuestions(): Promise<void> {
    const { threads } = await stand.connect('assistant');
    const docs = threadWriter(threads);
    const first = { messageId: 'msg_1', answeredAt: '2026-02-28T10:00:00.000Z' };
    const third = { messageId: 'msg_3', answeredAt: '2026-03-01T10:30:00.000Z' };
    await docs.answered('th_1', first.answeredAt, { messageId: 'msg_1' });
    await docs.rated('th_1', '2026-03-01T09:00:00.000Z', { ...first, rating: 'up' });
    await docs.answered('th_2', '2026-03-01T10:00:00.000Z', { messageId: 'msg_2', unanswered: true });
    await docs.answered('th_3', third.answeredAt, { messageId: 'msg_3' });
    await docs.erased('er_1', '2026-03-01T11:00:00.000Z', [{ ...third, tokens: 10 }]);
  }

  /** An organization with two keys, one of them revoked, and two content versions. */
  async function describeOrganization(): Promise<void> {
    const key = (id: string, sha: string) => ({
      id: `key_${id.repeat(16)}`,
      kind: 'admin' as const,
      name: id,
      sha256: sha.repeat(64),
      scopes: ['read' as const, 'write' as const],
      allowedAddresses: [],
      allowedOrigins: [],
      createdAt: now?.toISOString() ?? '2026-03-01T10:00:00.000Z',
    });
    const organization = 'acme';
    const events: DirectoryEvent[] = [
      { type: 'OrganizationCreated', version: 1, data: { organization, name: 'Acme', plan: 'enterprise' } },
      { type: 'ApiKeyCreated', version: 1, data: { organization, key: key('a', 'a') } },
      { type: 'ApiKeyCreated', version: 1, data: { organization, key: key('b', 'b') } },
      { type: 'ApiKeyRevoked', version: 1, data: { organization, keyId: key('a', 'a').id } },
      { type: 'OrganizationChanged', version: 1, data: { organization, name: 'Acme Inc.', plan: 'enterprise' } },
    ];
    let last: StoredCommit<DirectoryCommit> | undefined;
    for (const [index, event] of events.entries()) {
      const time = new Date(Date.parse('2026-03-01T10:00:00.000Z') + index * 1_000);
      const state = directoryAggregate.evolve(last?.commit.data.state, event, {
        time: time.toISOString(),
        actor: { kind: 'operator', id: 'operator' },
      });
      const origin = { id: `d${index}`, source: 'gateway', actor: { kind: 'operator' as const, id: 'operator' }, time };
      const commit = nextCommit(directoryLogSubject(organization), last, [event], state, {
        ...origin,
        causationId: 'test',
        correlationId: 'test',
      });
      last = await gateway.directory.append(commit, { sequence: last?.sequence ?? 0 });
    }
    let content: StoredCommit<ContentCommit> | undefined;
    for (const digit of ['1', '2']) {
      const data = { organization, domain: 'docs', contentVersion: `cv_${digit.repeat(32)}` };
      const published = { ...data, pageCount: 3, fileCount: 5, sizeBytes: 900 };
      const commit = contentCommit({ type: 'ContentPublished', version: 1, data: published }, content);
      content = await publisher.content.append(commit, { sequence: content?.sequence ?? 0 });
    }
  }

  const rebuild = (projection: ProjectionName) =>
    rebuildProjection(operator, projection, { id: `rebuild-${(rebuildCount += 1)}`, now: new Date() });
  /** Lets the next projector begin without the generation that the last rebuild kept. */
  const forgetKept = async (projection: ProjectionName) => {
    await stopProjector();
    const { pointers } = projector.projections;
    const stored = await pointers.get(projection, { fromLeader: true });
    if (stored !== undefined) {
      const { keptUntil: _, ...pointer } = stored.document;
      await pointers.put(projection, pointer);
    }
    startProjector();
  };
  const liveOf = async (projection: ProjectionName): Promise<Generation> =>
    (await projector.projections.pointers.get(projection, { fromLeader: true }))?.document.live ?? 'blue';
  const countOf = (models: ReadModels, name: keyof ReadModels) => models[name].keys().then((keys) => keys.length);
  /** Waits until all commits have been folded into the live generation. */
  const projected = async (last: StoredCommit<ExportCommit>) => {
    const { organization, jobId } = last.commit.data.state;
    await vi.waitFor(async () => {
      const stored = await gateway.readModels.jobStatus.get(jobStatusKey(organization, jobId), { fromLeader: true });
      expect(stored?.document.revision).toBe(last.commit.revision);
    }, 60_000);
  };

  test.each(projectionNames)(
    'what is rebuilt of "%s" is the same, document by document, and is read from then on',
    async (name) => {
      await projected(await runJob());
      const before = await liveOf(name);
      // A live generation that lags would differ.
      const reader = await projector.projectionReaders[name](before);
      await vi.waitUntil(async () => (await reader.position()).leftCount === 0, 60_000);
      const rebuilt = await rebuild(name);
      expect(rebuilt).toMatchObject({ differentCount: 0, different: [] });
      expect(rebuilt.live).not.toBe(before);
      expect(await liveOf(name)).toBe(rebuilt.live);
      const counts = { exports: jobCount, content: 1, sites: 0, directory: 1, access: 1, conversations: 2, views: 1 };
      const [primary] = storesOf[name].slice(-1);
      expect(await countOf(projector.generations[rebuilt.live as Generation], primary ?? 'jobStatus')).toBe(
        counts[name],
      );
      const { blue, green } = projector.generations;
      expect(await compareReadModels(blue, green, storesOf[name], never)).toMatchObject({ different: [] });
    },
  );

  test('commits that come during a rebuild and after the flip are in both generations; live updates never go back', async () => {
    const seen = new Map<string, number[]>();
    await forgetKept('exports');
    // A process that knows of a kept generation counts its updates until it hears that it is filled again. This one knows of none.
    const listening = await stand.connect('gateway');
    expect(await listening.readModels.jobStatus.keys()).toHaveLength(jobCount);
    const unsubscribe = listening.liveUpdates.onJobStatus(({ key, document }) => {
      const revisions = seen.get(key) ?? [];
      seen.set(key, [...revisions, (document as { revision: number }).revision]);
    });
    const writing = new AbortController();
    const written: StoredCommit<ExportCommit>[] = [];
    const writer = (async () => {
      while (!writing.signal.aborted) {
        const last = await runJob();
        written.push(last);
        await projected(last);
      }
    })();
    const lastBefore = await runJob();
    await projected(lastBefore);
    const { organization: owner, jobId: lastJobId } = lastBefore.commit.data.state;
    await vi.waitFor(() => expect(seen.get(jobStatusKey(owner, lastJobId))?.at(-1)).toBe(phases.length), 60_000);
    const old = new Set(await gateway.readModels.jobStatus.keys());
    seen.clear();
    const rebuilt = await rebuild('exports');
    const atFlip = written.length;
    await vi.waitFor(() => expect(written.length).toBeGreaterThan(atFlip + 2), 60_000);
    writing.abort();
    await writer;
    expect(rebuilt.differentCount).toBe(0);
    for (const last of written) {
      const { organization, jobId } = last.commit.data.state;
      const key = jobStatusKey(organization, jobId);
      for (const generation of generations) {
        await vi.waitFor(async () => {
          const stored = await projector.generations[generation].jobStatus.get(key, { fromLeader: true });
          expect(stored?.document.revision).toBe(phases.length);
        }, 60_000);
      }
      if (!old.has(key)) expect(seen.get(key)?.at(-1)).toBe(phases.length);
    }
    // Jobs that ended before the rebuild were filled again, but their watchers are not notified.
    const untouched = [...old].filter((key) => !written.some(({ commit }) => key.endsWith(commit.data.state.jobId)));
    expect(untouched.length).toBeGreaterThan(30);
    for (const key of untouched) expect(seen.get(key)).toBeUndefined();
    unsubscribe();
  });

  test('a document that was wrong is reported, and right after the rebuild', async () => {
    const last = await runJob();
    await projected(last);
    const key = jobStatusKey('acme', last.commit.data.state.jobId);
    const live = projector.generations[await liveOf('exports')];
    const good = await live.jobStatus.get(key, { fromLeader: true });
    if (good === undefined) throw new Error('The document is there.');
    await live.jobStatus.put(key, { ...good.document, state: { ...good.document.state, progress: 3 } });
    const rebuilt = await rebuild('exports');
    expect(rebuilt).toMatchObject({ differentCount: 1, different: [`jobStatus/${key}`] });
    await vi.waitFor(
      async () => expect((await gateway.readModels.jobStatus.get(key))?.document).toEqual(good.document),
      60_000,
    );
  });

  test('a projector that ends in the middle of a rebuild loses nothing: the next one goes on', async () => {
    const rebuilding = rebuild('exports');
    for await (const change of operator.projections.pointers.watch('exports', never)) {
      if (change.kind === 'put' && change.document.rebuild !== undefined) break;
    }
    await stopProjector();
    await runJob();
    startProjector();
    expect(await rebuilding).toMatchObject({ differentCount: 0, documentCount: expect.any(Number) });
    await projected(await runJob());
  });

  test('a watch that began before the flip goes on behind it', async () => {
    const end = new AbortController();
    const seen: string[] = [];
    const watching = (async () => {
      for await (const change of gateway.readModels.jobStatus.watch('>', end.signal)) {
        if (change.kind === 'put') seen.push(change.key);
      }
    })();
    await rebuild('exports');
    const last = await runJob();
    await vi.waitFor(() => expect(seen).toContain(jobStatusKey('acme', last.commit.data.state.jobId)), 60_000);
    end.abort();
    await watching;
  });

  test('the old generation is emptied after a day, and the one that is read stays whole', async () => {
    await rebuild('exports');
    const live = await liveOf('exports');
    const old = projector.generations[live === 'blue' ? 'green' : 'blue'];
    expect(await countOf(old, 'jobStatus')).toBe(jobCount);
    await stopProjector();
    now = new Date(now.getTime() + 86_400_001);
    startProjector();
    for await (const change of operator.projections.pointers.watch('exports', never)) {
      if (change.kind === 'put' && change.document.keptUntil === undefined) break;
    }
    await projected(await runJob());
    expect(await countOf(projector.generations[live], 'jobStatus')).toBe(jobCount);
    expect(await countOf(old, 'jobStatus')).toBe(0);
  });

  test('a read model of an older shape is rebuilt automatically, once', async () => {
    await stopProjector();
    const pointers = projector.projections.pointers;
    const stored = await pointers.get('exports', { fromLeader: true });
    const { shape, keptUntil: _, ...older } = stored?.document ?? { live: 'blue', shape: 1, keptUntil: '' };
    expect(shape).toBeGreaterThan(1);
    await pointers.put('exports', older);
    startProjector();
    for await (const change of operator.projections.pointers.watch('exports', never)) {
      if (change.kind === 'put' && change.document.shape === shape) break;
    }
    expect(await liveOf('exports')).not.toBe(older.live);
    await projected(await runJob());
    expect((await pointers.get('exports', { fromLeader: true }))?.document.rebuild).toBeUndefined();
  });

  test('a user that may only request rebuilds cannot write a read model or the pointer', async () => {
    await expect(operator.projections.pointers.put('exports', { live: 'blue' })).rejects.toThrow(/no right to publish/);
    expect(operator).not.toHaveProperty('generations');
  });
});

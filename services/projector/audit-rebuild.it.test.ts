import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { rebuildProjection } from '#services/cli/commands/projections.ts';
import type { ContentCommit } from '#shared/aggregates/content/content.ts';
import {
  type DirectoryCommit,
  type DirectoryEvent,
  directoryAggregate,
} from '#shared/aggregates/directory/directory.ts';
import type { ExportEvent } from '#shared/aggregates/export-job/export-job.ts';
import type { AuditEntry } from '#shared/contracts/audit-entry.ts';
import {
  type Generation,
  listPartKey,
  otherGeneration,
  type ProjectionName,
  projectionNames,
  usageKey,
} from '#shared/interfaces/read-models.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import { nextCommit } from '#shared/messaging/log/commit-chain.ts';
import type { DurableReader } from '#shared/messaging/queue/durable-reader.ts';
import type { StoredCommit } from '#shared/messaging/log/event-log.ts';
import { type ReadModels, storesOf } from '#shared/messaging/read-models.ts';
import { directoryLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { accessRecord, contentCommit, exportCommit, exportState } from '../../test/support/make-commit.ts';
import { runProjections } from '../../test/support/run-projections.ts';
import { startTestBus, type TestBus } from '../../test/support/start-bus.ts';
import { entriesPerPart } from './audit-trail.ts';
import { compareReadModels } from './compare-read-models.ts';

const never = new AbortController().signal;
const organization = 'acme';
const today = '2026-03-01';
const jobTotal = entriesPerPart / 2 + 20;
const digest = 'd'.repeat(64);

describeWithServers(['nats-server'], 'audit and usage', () => {
  let stand: TestBus;
  let gateway: BusOf<'gateway'>;
  let orchestrator: BusOf<'orchestrator'>;
  let publisher: BusOf<'publisher'>;
  let linkSigner: BusOf<'link-signer'>;
  let projector: BusOf<'projector'>;
  let operator: BusOf<'operator'>;
  let stopProjector: () => Promise<void>;
  let rebuildCount = 0;
  let lostAckCount = 0;
  /** The projector's current time. */
  let now = new Date(`${today}T20:00:00.000Z`);

  beforeAll(async () => {
    stand = await startTestBus();
    [gateway, orchestrator, publisher, linkSigner, projector, operator] = await Promise.all([
      stand.connect('gateway'),
      stand.connect('orchestrator'),
      stand.connect('publisher'),
      stand.connect('link-signer'),
      stand.connect('projector'),
      stand.connect('operator'),
    ]);
    startProjector();
  });
  afterAll(async () => {
    await stopProjector();
    await stand.stop();
  });

  function startProjector() {
    stopProjector = runProjections(forgetful(projector), { clock: { now: () => now } });
  }

  /** The same bus, but for every seventh message the first acknowledgement is lost after it was folded, so that its whole batch is redelivered. */
  function forgetful(bus: BusOf<'projector'>): BusOf<'projector'> {
    const withLosses = <T>(reader: DurableReader<T>): DurableReader<T> => {
      const lose = (delivery: Awaited<ReturnType<typeof reader.more>>[number]) =>
        delivery.deliveryCount > 1 || delivery.sequence % 7 !== 0
          ? delivery
          : {
              ...delivery,
              ack: async () => {
                lostAckCount += 1;
                throw new Error('The acknowledgement was lost.');
              },
            };
      return {
        ...reader,
        next: async (options) => {
          const one = await reader.next(options);
          return one === undefined ? undefined : lose(one);
        },
        more: async (count) => (await reader.more(count)).map(lose),
      };
    };
    const readers = bus.projectionReaders;
    return {
      ...bus,
      projectionReaders: {
        exports: async (generation) => withLosses(await readers.exports(generation)),
        content: async (generation) => withLosses(await readers.content(generation)),
        sites: async (generation) => withLosses(await readers.sites(generation)),
        directory: async (generation) => withLosses(await readers.directory(generation)),
        access: async (generation) => withLosses(await readers.access(generation)),
        views: async (generation) => await readers.views(generation),
        conversations: async (generation) => withLosses(await readers.conversations(generation)),
      },
    };
  }

  /** A job that is requested, completed, and downloaded twice. */
  async function exported(n: number): Promise<void> {
    const jobId = `se_${String(n).padStart(22, '0')}`;
    // Times do not follow the order of the log, as entries may be written late.
    const second = (n * 37) % jobTotal;
    const createdAt = new Date(Date.parse(`${today}T10:00:00.000Z`) + second * 1_000).toISOString();
    const state = exportState({ jobId, createdAt });
    const { organizationPlan, domain, contentVersion, options, requestDigest } = state;
    const data = { jobId, organization, organizationPlan, domain, contentVersion, options, requestDigest };
    const requested: ExportEvent = { type: 'ExportRequested', version: 1, data };
    const completed: ExportEvent = {
      type: 'ExportCompleted',
      version: 1,
      data: { bundleKey: 'bundles/x', sizeBytes: 1_000, sha256: digest, manifestSha256: digest },
    };
    const first = await gateway.exports.append(exportCommit(state, undefined, [requested]), { sequence: 0 });
    const ended = exportCommit({ ...state, phase: 'completed', pageCount: 7 }, first, [completed]);
    await orchestrator.exports.append(ended, { sequence: first.sequence });
    for (const time of [createdAt, `${today}T19:00:00.000Z`]) {
      await linkSigner.access.record(accessRecord({ id: `al_${n}_${time}`, jobId, time }));
    }
  }

  async function published(count: number): Promise<void> {
    let last: StoredCommit<ContentCommit> | undefined;
    for (let n = 0; n < count; n += 1) {
      const contentVersion = `cv_${String(n).padStart(32, '0')}`;
      const data = { organization, domain: 'docs', contentVersion, pageCount: 3, fileCount: 5, sizeBytes: 900 };
      const commit = contentCommit({ type: 'ContentPublished', version: 1, data: { ...data, label: 'v1' } }, last);
      last = await publisher.content.append(commit, { sequence: last?.sequence ?? 0 });
    }
  }

  async function described(): Promise<void> {
    const plans = ['free', 'pro', 'enterprise'] as const;
    let last: StoredCommit<DirectoryCommit> | undefined;
    for (const [n, plan] of plans.entries()) {
      const type = n === 0 ? 'OrganizationCreated' : 'OrganizationChanged';
      const event: DirectoryEvent = { type, version: 1, data: { organization, name: 'Acme', plan } };
      // All entries have the same time and differ by revision.
      const time = new Date(`${today}T09:00:00.000Z`);
      const state = directoryAggregate.evolve(last?.commit.data.state, event, {
        time: time.toISOString(),
        actor: { kind: 'operator', id: 'operator' },
      });
      const commit = nextCommit(directoryLogSubject(organization), last, [event], state, {
        id: `dc_${9 - n}`,
        source: 'gateway',
        actor: { kind: 'operator', id: 'operator' },
        time,
        causationId: 'test',
        correlationId: 'test',
      });
      last = await gateway.directory.append(commit, { sequence: last?.sequence ?? 0 });
    }
  }

  const liveOf = async (projection: ProjectionName): Promise<Generation> =>
    (await projector.projections.pointers.get(projection, { fromLeader: true }))?.document.live ?? 'blue';
  const entriesOf = async (store: ReadModels['auditExports'], day = today): Promise<AuditEntry[]> => {
    const entries: AuditEntry[] = [];
    for (let part = 0; ; part += 1) {
      const stored = await store.get(listPartKey(organization, day, part), { fromLeader: true });
      if (stored === undefined) return entries;
      entries.push(...stored.document.entries);
    }
  };
  const figuresOf = async (store: ReadModels['usageExports'], month = today.slice(0, 7)) =>
    (await store.get(usageKey(organization, month), { fromLeader: true }))?.document.days;
  const rebuild = (projection: ProjectionName) =>
    rebuildProjection(operator, projection, { id: `rebuild-${(rebuildCount += 1)}`, now: new Date() });

  const exportFigures = {
    exportsStarted: jobTotal,
    exportsCompleted: jobTotal,
    pagesExported: jobTotal * 7,
    bundleBytes: jobTotal * 1_000,
  };
  const everythingIs = async (of: (projection: ProjectionName) => Promise<ReadModels>) => {
    const [exports, content, directory, access] = await Promise.all(projectionNames.map(of));
    if (!exports || !content || !directory || !access) throw new Error('There are four.');
    expect(await figuresOf(exports.usageExports)).toEqual({ '01': exportFigures });
    expect(await figuresOf(content.usageContent)).toEqual({
      '01': { publications: 4, pagesPublished: 12, publishedBytes: 3_600 },
    });
    expect(await figuresOf(access.usageAccess)).toEqual({ '01': { linksSigned: jobTotal * 2 } });
    for (const [store, count] of [
      [exports.auditExports, jobTotal * 2],
      [content.auditContent, 8],
      [access.auditAccess, jobTotal * 2],
    ] as const) {
      const entries = await entriesOf(store);
      expect(new Set(entries.map(({ id }) => id)).size).toBe(count);
      expect(entries).toHaveLength(count);
      expect(entries.map(({ time }) => time)).toEqual(entries.map(({ time }) => time).toSorted());
    }
    const plans = (await entriesOf(directory.auditDirectory)).map(({ plan }) => plan);
    expect(plans).toEqual(['free', 'pro', 'enterprise']);
  };
  const inLive = async (projection: ProjectionName) => projector.generations[await liveOf(projection)];

  test('four logs at once, lost acknowledgements and restarts: every entry is there once, and counted once', async () => {
    const writing = Promise.all([
      described(),
      published(4),
      // Four writers, so that jobs interleave.
      ...[0, 1, 2, 3].map(async (lane) => {
        for (let n = lane; n < jobTotal; n += 4) await exported(n);
      }),
    ]);
    for (const count of [30, 100]) {
      await vi.waitFor(async () => {
        expect((await gateway.readModels.jobStatus.keys()).length).toBeGreaterThan(count);
      }, 60_000);
      await stopProjector();
      startProjector();
    }
    await writing;
    await vi.waitFor(() => everythingIs(inLive), { timeout: 60_000, interval: 200 });
    expect(lostAckCount).toBeGreaterThan(50);
  });

  test.each(projectionNames)('rebuilt of "%s" is the same, document by document', async (projection) => {
    expect(await rebuild(projection)).toMatchObject({ differentCount: 0, different: [] });
    await everythingIs(inLive);
    const { blue, green } = projector.generations;
    expect(await compareReadModels(blue, green, storesOf[projection], never)).toMatchObject({ different: [] });
  });

  test('addresses of a day are removed when its first record expires, and a rebuild does not bring them back', async () => {
    const old = '2025-01-25';
    await linkSigner.access.record(accessRecord({ id: 'al_old', time: `${old}T12:00:00.000Z` }));
    await linkSigner.access.record(accessRecord({ id: 'al_older', time: '2025-01-24T12:00:00.000Z' }));
    await stopProjector();
    now = new Date('2026-02-28T23:00:00.000Z');
    startProjector();
    await vi.waitFor(async () => {
      expect(await entriesOf((await inLive('access')).auditAccess, old)).toHaveLength(1);
    }, 60_000);
    await stopProjector();
    now = new Date(`${today}T00:00:00.000Z`);
    startProjector();
    const rebuilt = await rebuild('access');
    expect(rebuilt).toMatchObject({ differentCount: 0 });
    for (const generation of [await liveOf('access'), otherGeneration(await liveOf('access'))]) {
      const { auditAccess, usageAccess } = projector.generations[generation];
      for (const day of [old, '2025-01-24']) expect(await entriesOf(auditAccess, day)).toEqual([]);
      expect(await figuresOf(usageAccess, old.slice(0, 7))).toBeUndefined();
      expect(await entriesOf(auditAccess)).toHaveLength(jobTotal * 2);
    }
  });
});

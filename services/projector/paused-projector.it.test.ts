import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Generation, jobStatusKey, type ProjectionName } from '#shared/interfaces/read-models.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import { inboxPrefix } from '#shared/messaging/subjects/permissions.ts';
import { systemClock } from '#shared/runtime/time-and-ids.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { exportCommit, exportState, testAuditKey } from '../../test/support/make-commit.ts';
import { startTestBus, type TestBus } from '../../test/support/start-bus.ts';
import { testLogger } from '../../test/support/test-logger.ts';
import { exportProjection } from './export-projection.ts';
import { leadProjection } from './lead-projection.ts';

type StartOver = BusOf<'projector'>['projections']['startOver'];

const jobCount = 60;

describeWithServers(['nats-server'], 'a projector that is paused while it empties a generation', () => {
  let stand: TestBus;
  let gateway: BusOf<'gateway'>;
  let operator: BusOf<'operator'>;
  let projectors: [BusOf<'projector'>, BusOf<'projector'>];
  let ends: (() => Promise<unknown>)[];

  beforeEach(async () => {
    stand = await startTestBus();
    ends = [];
    [gateway, operator] = await Promise.all([stand.connect('gateway'), stand.connect('operator')]);
    projectors = await Promise.all([stand.connect('projector', 'first'), stand.connect('projector', 'second')]);
    for (let n = 0; n < jobCount; n += 1) await request(n);
  });
  afterEach(async () => {
    await Promise.all(ends.map((end) => end()));
    await stand.stop();
  });

  const request = (n: number) => {
    const jobId = `se_${String(n).padStart(22, '0')}`;
    return gateway.exports.append(exportCommit(exportState({ jobId })), { sequence: 0 });
  };
  const shown = async (generation?: Generation) => {
    const { jobStatus } = generation === undefined ? gateway.readModels : projectors[1].generations[generation];
    return (await jobStatus.keys()).length;
  };

  /** Leads as if it had the lease; returns the error that ended it. */
  function lead(bus: BusOf<'projector'>, instance: string): Promise<unknown> {
    const stop = new AbortController();
    const run = {
      source: exportProjection,
      bus,
      instance,
      clock: systemClock,
      logger: testLogger,
      auditKey: testAuditKey,
    };
    const ended = leadProjection(run, stop.signal).catch((error: unknown) => error);
    ends.push(() => (stop.abort(), ended));
    return ended;
  }

  /** The first projector, whose process pauses where `at` says, within a step that empties a generation. */
  function pausing(at: (real: StartOver, pause: () => Promise<void>) => StartOver) {
    const [bus] = projectors;
    const paused = Promise.withResolvers<void>();
    const woken = Promise.withResolvers<void>();
    const pause = async () => {
      paused.resolve();
      await woken.promise;
    };
    const startOver = at((...args) => bus.projections.startOver(...args), pause);
    return {
      bus: { ...bus, projections: { ...bus.projections, startOver } },
      paused: paused.promise,
      wake: () => woken.resolve(),
    };
  }

  const pauses: [string, (real: StartOver, pause: () => Promise<void>) => StartOver][] = [
    [
      'before it began',
      (real, pause) => async (projection: ProjectionName, generation: Generation, confirm) => {
        await pause();
        await real(projection, generation, confirm);
      },
    ],
    [
      'after it saw that it still leads',
      (real, pause) => (projection: ProjectionName, generation: Generation, confirm) =>
        real(projection, generation, async () => {
          await confirm();
          await pause();
        }),
    ],
  ];

  test.each(pauses)(
    'paused %s, it wakes when the next one has flipped: no document of the live read model goes',
    async (_, at) => {
      const first = pausing(at);
      const firstEnded = lead(first.bus, 'first');
      await vi.waitFor(async () => expect(await shown()).toBe(jobCount), 60_000);
      await operator.projections.requests.put('exports', { id: 'rb_1', askedAt: new Date().toISOString() });
      await first.paused;

      void lead(projectors[1], 'second');
      await vi.waitFor(async () => {
        expect((await operator.projections.pointers.get('exports'))?.document.live).toBe('green');
      }, 60_000);
      expect(await shown('green')).toBe(jobCount);

      first.wake();
      expect(await firstEnded).toMatchObject({ name: 'NotLeading' });
      expect(await shown('green')).toBe(jobCount);
      // Later commits are shown too.
      await request(jobCount);
      const key = jobStatusKey('acme', `se_${String(jobCount).padStart(22, '0')}`);
      await vi.waitFor(async () => expect(await gateway.readModels.jobStatus.get(key)).toBeDefined(), 60_000);
      expect(await shown('green')).toBe(jobCount + 1);
    },
    60_000,
  );

  test('a reader that was removed and not made again is made by the projector that leads next', async () => {
    const connection = await connect({
      servers: stand.server.url,
      user: 'projector',
      pass: stand.passwords['projector'] ?? '',
      inboxPrefix: inboxPrefix('projector'),
    });
    const jsm = await jetstreamManager(connection, { checkAPI: false });
    await jsm.consumers.delete('EXPORTS', 'projector-exports');
    await connection.close();
    void lead(projectors[1], 'second');
    await vi.waitFor(async () => expect(await shown()).toBe(jobCount), 60_000);
  });
});

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { rebuildProjection } from '#services/cli/commands/projections.ts';
import type { ExportEvent } from '#shared/aggregates/export-job/export-job.ts';
import type { DeadLetter } from '#shared/contracts/dead-letters.ts';
import { jobStatusKey } from '#shared/interfaces/read-models.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { Poison } from '#shared/runtime/failures.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { exportCommit, exportRequested, exportState } from '../../test/support/make-commit.ts';
import { runProjections } from '../../test/support/run-projections.ts';
import { startTestBus, type TestBus } from '../../test/support/start-bus.ts';

const day = '2026-03-01';

describeWithServers(['nats-server'], 'a document of a read model that cannot be written', () => {
  let stand: TestBus;
  let gateway: BusOf<'gateway'>;
  let projector: BusOf<'projector'>;
  let letters: DeadLetter[];
  let end: () => Promise<void>;

  beforeEach(async () => {
    // The limit is a tenth of the usual one, so that a list exceeds it within seconds.
    stand = await startTestBus({ largestMessage: '128KB' });
    [gateway, projector] = await Promise.all([stand.connect('gateway'), stand.connect('projector')]);
    letters = [];
    events = () => undefined;
    end = async () => {};
  });
  afterEach(async () => {
    await end();
    await stand.stop();
  });

  function startProjector(generations = projector.generations) {
    const deadLetters: typeof projector.deadLetters = {
      ...projector.deadLetters,
      put: async (key, letter, options) => {
        letters.push(letter);
        return projector.deadLetters.put(key, letter, options);
      },
    };
    end = runProjections({ ...projector, generations, deadLetters });
  }

  /** The events of a request; by default those without audit entries. */
  let events: (of: { organization: string; jobId: string }) => ExportEvent[] | undefined;

  /** Requests an export; returns the key of its status. */
  async function request(organization: string, n: number): Promise<string> {
    const jobId = `se_${String(n).padStart(22, '0')}`;
    const createdAt = new Date(Date.parse(`${day}T10:00:00.000Z`) + n * 1_000).toISOString();
    const state = exportState({ organization, jobId, createdAt });
    await gateway.exports.append(exportCommit(state, undefined, events({ organization, jobId })), { sequence: 0 });
    return jobStatusKey(organization, jobId);
  }
  const requestMany = (organization: string, count: number): Promise<string[]> =>
    inParallel(
      Array.from({ length: count }, (_, n) => n),
      200,
      (n) => request(organization, n),
    );
  const shown = (keys: readonly string[], timeout = 30_000) =>
    vi.waitFor(async () => {
      const found = await inParallel(keys, 50, (key) => gateway.readModels.jobStatus.get(key));
      expect(found.filter((stored) => stored === undefined)).toEqual([]);
    }, timeout);

  test('a day with more jobs than one document can list holds nobody up', async () => {
    const big = await requestMany('big', 1_500);
    const small = await requestMany('small', 20);
    startProjector();
    await shown(small);
    await shown(big);
    expect(letters).toEqual([]);
  });

  test('one that is malformed sets its own messages aside, and those of others go on', async () => {
    events = (of) => [exportRequested(of)];
    await projector.generations.blue.usageExports.put('broken.2026-03', { nonsense: true } as never);
    await requestMany('broken', 3);
    const fine = await requestMany('fine', 60);
    startProjector();
    await shown(fine);
    await vi.waitFor(() => expect(letters.length).toBe(3), 60_000);
    for (const { subject, reason } of letters) {
      expect(subject).toMatch(/^exports\.broken\./);
      expect(reason).toContain('broken.2026-03');
    }
    await shown([await request('fine', 100)]);
  });

  test('a rebuild gets past one, too', async () => {
    const fine = await requestMany('fine', 30);
    await requestMany('broken', 2);
    const { blue, green } = projector.generations;
    const refusing: typeof green.jobStatus = {
      ...green.jobStatus,
      put: async (key, document, options) => {
        if (key.startsWith('broken.')) throw new Poison(`The document "${key}" cannot be stored.`);
        return green.jobStatus.put(key, document, options);
      },
    };
    startProjector({ blue, green: { ...green, jobStatus: refusing } });
    await shown(fine);
    const operator = await stand.connect('operator');
    const rebuilt = await rebuildProjection(operator, 'exports', { id: 'rb_1', now: new Date() });
    expect(rebuilt.live).toBe('green');
    expect(new Set(letters.map(({ subject }) => subject))).toEqual(
      new Set([0, 1].map((n) => exportLogSubject('broken', `se_${String(n).padStart(22, '0')}`))),
    );
    await shown(fine);
  });
});

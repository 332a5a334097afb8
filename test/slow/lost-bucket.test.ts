import { afterEach, beforeEach, expect, test } from 'vitest';
import { rebuildProjection } from '#services/cli/commands/projections.ts';
import { jobStatusKey, type ProjectionName, projectionNames } from '#shared/interfaces/read-models.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { exportCommit, exportState } from '../support/make-commit.ts';
import { runProjections } from '../support/run-projections.ts';
import { startTestBus, type TestBus } from '../support/start-bus.ts';

describeWithServers(['nats-server'], 'the bucket of a read model was deleted by hand', () => {
  let stand: TestBus;
  let gateway: BusOf<'gateway'>;
  let projector: BusOf<'projector'>;
  let stopProjector: () => Promise<void>;
  const jobIdOf = (letter: string) => `se_${letter.repeat(22)}`;

  beforeEach(async () => {
    stand = await startTestBus();
    gateway = await stand.connect('gateway');
    projector = await stand.connect('projector');
    stopProjector = runProjections(projector);
  });
  afterEach(async () => {
    await stopProjector();
    await stand.stop();
  });

  const request = (letter: string) =>
    gateway.exports.append(exportCommit(exportState({ jobId: jobIdOf(letter) })), { sequence: 0 });
  const statusOf = async (letter: string) =>
    (await gateway.readModels.jobStatus.get(jobStatusKey('acme', jobIdOf(letter)), { fromLeader: true }))?.document
      .state.jobId;
  const knowJob = async () => {
    await request('a');
    await expect.poll(() => statusOf('a')).toBe(jobIdOf('a'));
  };
  const deleteBucket = async (name = 'job-status') => (await stand.admin()).streams.delete(`KV_${name}`);
  const pointerOf = async (projection: ProjectionName) =>
    (await projector.projections.pointers.get(projection, { fromLeader: true }))?.document;

  test('while the projector is stopped: it is rebuilt at the next start', async () => {
    await knowJob();
    await stopProjector();
    await deleteBucket();
    await stand.provision();
    expect(await statusOf('a')).toBeUndefined();
    stopProjector = runProjections(await stand.connect('projector', 'next'));
    await expect.poll(() => statusOf('a')).toBe(jobIdOf('a'));
  });

  test('while services run: readers are told, and it is rebuilt once the bucket exists again', async () => {
    await knowJob();
    await deleteBucket();
    await expect(statusOf('a')).rejects.toThrow(
      /The bus has no bucket "job-status": it was deleted\. Run "bindery provision"/,
    );
    await request('b');
    await stand.provision();
    await expect.poll(() => statusOf('a')).toBe(jobIdOf('a'));
    await expect.poll(() => statusOf('b')).toBe(jobIdOf('b'));
  });

  test('the bucket of the pointers: all read models are rebuilt, because the emptied generation may be read', async () => {
    await knowJob();
    await stopProjector();
    await deleteBucket('projections');
    await stand.provision();
    stopProjector = runProjections(projector);
    for (const projection of projectionNames) {
      await expect.poll(async () => (await pointerOf(projection))?.live, { timeout: 30_000 }).toBe('green');
    }
    await expect.poll(() => statusOf('a')).toBe(jobIdOf('a'));
  });

  test('while its generation is filled: the rebuild empties the generation and begins again', async () => {
    await knowJob();
    await stopProjector();
    const rebuild = { id: 'rb_1', startedAt: '2026-03-01T12:00:00.000Z', state: 'filling' as const };
    await projector.projections.pointers.put('exports', { live: 'blue', ...(await pointerOf('exports')), rebuild });
    const filled = await projector.projectionReaders.exports('green');
    await (await filled.next())?.ack();
    await deleteBucket('job-status-green');
    await stand.provision();
    stopProjector = runProjections(projector);
    await expect.poll(async () => (await pointerOf('exports'))?.live, { timeout: 30_000 }).toBe('green');
    expect(await statusOf('a')).toBe(jobIdOf('a'));
  });

  test('a bucket that stays younger than each reader, as after the clock was set back, is the reason of one rebuild', async () => {
    await knowJob();
    await stopProjector();
    const begun: (string | undefined)[] = [];
    const pointers: typeof projector.projections.pointers = {
      ...projector.projections.pointers,
      put: async (key, pointer, options) => {
        if (key === 'exports' && pointer.rebuild?.state === 'asked') begun.push(pointer.rebuild.id);
        return projector.projections.pointers.put(key, pointer, options);
      },
    };
    const lostAt = '2027-03-01T12:00:00.000Z';
    const projections = { ...projector.projections, pointers, lostDocumentsAt: async () => lostAt };
    stopProjector = runProjections({ ...projector, projections });
    await expect.poll(async () => (await pointerOf('exports'))?.live, { timeout: 30_000 }).toBe('green');
    // Any other rebuild would begin before or between these.
    const operator = await stand.connect('operator');
    for (const id of ['rb_2', 'rb_3']) await rebuildProjection(operator, 'exports', { id, now: new Date() });
    await stopProjector();
    expect(begun).toEqual([`lost-${lostAt}`, 'rb_2', 'rb_3']);
    expect(await statusOf('a')).toBe(jobIdOf('a'));
  });
});

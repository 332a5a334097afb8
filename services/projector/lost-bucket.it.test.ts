import { afterEach, beforeEach, expect, test } from 'vitest';
import { jobStatusKey } from '#shared/interfaces/read-models.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { exportCommit, exportState } from '../../test/support/make-commit.ts';
import { runProjections } from '../../test/support/run-projections.ts';
import { startTestBus, type TestBus } from '../../test/support/start-bus.ts';

describeWithServers(['nats-server'], 'the bucket of a read model was deleted by hand', () => {
  let stand: TestBus;
  let gateway: BusOf<'gateway'>;
  let stopProjector: () => Promise<void>;
  const jobIdOf = (letter: string) => `se_${letter.repeat(22)}`;

  beforeEach(async () => {
    stand = await startTestBus();
    gateway = await stand.connect('gateway');
    stopProjector = runProjections(await stand.connect('projector'));
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
  const deleteBucket = async () => (await stand.admin()).streams.delete('KV_job-status');

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
});

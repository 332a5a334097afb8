import { afterAll, beforeAll, expect, test } from 'vitest';
import { crashPlaces, type CrashHarness, startCrashHarness } from '../support/chaos/crash-harness.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';

const deadlineMs = 90_000;

describeWithServers(['nats-server'], 'an export when a service dies at its crash point', () => {
  let harness: CrashHarness;

  beforeAll(async () => {
    harness = await startCrashHarness();
  }, deadlineMs);
  afterAll(() => harness?.stop());

  test('the code has all crash points of an export', () => {
    expect(crashPlaces.length).toBeGreaterThanOrEqual(14);
  });

  test.each(crashPlaces)(
    '%s, %s: it completes, each page once, with the digest of an undisturbed run',
    async (point, service) => {
      const { outcome, ended } = await harness.exportDisturbed({ place: `${point}@${service}`, order: 'die' });
      expect(outcome).toEqual(harness.undisturbed);
      expect(ended).toEqual([expect.stringMatching(`^${service} ended \\(SIGKILL\\)`)]);
    },
    deadlineMs,
  );
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { crashPlaces, type CrashStand, startCrashStand } from '../../support/chaos/crash-stand.ts';
import { describeWithServers } from '../../support/describe-with-servers.ts';

const deadlineMs = 90_000;

describeWithServers(['nats-server'], 'an export when the service dies that reaches a named place', () => {
  let stand: CrashStand;

  beforeAll(async () => {
    stand = await startCrashStand();
  }, deadlineMs);
  afterAll(() => stand?.stop());

  test.each(crashPlaces)(
    '%s, %s: it completes, each page once, with the digest of an undisturbed run',
    async (point, service) => {
      const { outcome, ended } = await stand.exportDisturbed({ place: `${point}@${service}`, order: 'die' });
      expect(outcome).toEqual(stand.undisturbed);
      expect(ended).toEqual([expect.stringMatching(`^${service} ended \\(SIGKILL\\)`)]);
    },
    deadlineMs,
  );
});

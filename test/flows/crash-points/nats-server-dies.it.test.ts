import { afterAll, beforeAll, expect, test } from 'vitest';
import { crashPlaces, type CrashStand, startCrashStand } from '../../support/chaos/crash-stand.ts';
import { sendSignal } from '../../support/chaos/fault-injection.ts';
import { describeWithServers } from '../../support/describe-with-servers.ts';

const deadlineMs = 90_000;

describeWithServers(['nats-server'], 'an export when the bus dies while a service is at a named place', () => {
  let stand: CrashStand;

  beforeAll(async () => {
    stand = await startCrashStand();
  }, deadlineMs);
  afterAll(() => stand?.stop());

  test.each(crashPlaces)(
    '%s, %s: it completes, each page once, with the digest of an undisturbed run',
    async (point, service) => {
      const killed: boolean[] = [];
      const { outcome, ended } = await stand.exportDisturbed({
        place: `${point}@${service}`,
        order: 'wait',
        meanwhile: () => {
          for (const pid of stand.installation.pids('nats-server')) killed.push(sendSignal(pid, 'SIGKILL'));
        },
      });
      expect(killed).toEqual([true]);
      expect(outcome).toEqual(stand.undisturbed);
      // Every service lives through it.
      expect(ended).toEqual([expect.stringMatching(/^nats-server ended \(SIGKILL\)/)]);
    },
    deadlineMs,
  );
});

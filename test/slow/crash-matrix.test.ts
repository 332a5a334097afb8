import { afterAll, beforeAll, expect, test } from 'vitest';
import { serviceNames } from '#infra/supervisor/services.ts';
import { crashPlaces, type CrashStand, startCrashStand } from '../support/chaos/crash-stand.ts';
import { sendSignal } from '../support/chaos/fault-injection.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { exportPathOnly } from '../support/start-installation.ts';

/*
 * Each service of the export path dies while another one is at a named place; `npm test` has the service that is at the place itself, the
 * bus and the renderer children. One place alone: npm run test:slow -- crash-matrix -t 'mid-upload'
 */
const services = serviceNames.filter((name) => !(name in exportPathOnly));
const cases = crashPlaces.flatMap(([point, service]) =>
  services.filter((victim) => victim !== service).map((victim) => [`${point}@${service}`, victim] as const),
);
const deadlineMs = 90_000;

describeWithServers(['nats-server'], 'an export when one service dies while another is at a named place', () => {
  let stand: CrashStand;

  beforeAll(async () => {
    stand = await startCrashStand();
  }, deadlineMs);
  afterAll(() => stand?.stop());

  test.each(cases)(
    '%s, the %s dies: it completes, each page once, with the digest of an undisturbed run',
    async (place, victim) => {
      const killed: boolean[] = [];
      const { outcome, ended } = await stand.exportDisturbed({
        place,
        order: 'wait',
        meanwhile: () => {
          for (const pid of stand.installation.pids(victim)) killed.push(sendSignal(pid, 'SIGKILL'));
        },
      });
      expect(killed).toEqual([true]);
      expect(outcome).toEqual(stand.undisturbed);
      expect(ended).toEqual([expect.stringMatching(new RegExp(`^${victim} ended \\(SIGKILL\\)`))]);
    },
    deadlineMs,
  );
});

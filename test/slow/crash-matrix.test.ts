import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { serviceNames } from '#infra/supervisor/services.ts';
import { type CrashHarness, startCrashHarness } from '../support/chaos/crash-harness.ts';
import { crashPlaces } from '../support/chaos/crash-orders.ts';
import { rendererChild, sendSignal, victimsOf } from '../support/chaos/fault-injection.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { exportPathOnly } from '../support/start-installation.ts';

/*
 * To test one place: npm run test:slow -- crash-matrix -t 'mid-upload'. To kill one process only: npm run test:slow -- crash-matrix -t 'nats-server
 * dies'
 */
const victims = [...serviceNames.filter((name) => !(name in exportPathOnly)), 'nats-server', rendererChild] as const;
const cases = crashPlaces.flatMap(([point, service]) =>
  victims.filter((victim) => victim !== service).map((victim) => [`${point}@${service}`, victim] as const),
);
const deadlineMs = 90_000;

describeWithServers(['nats-server'], 'an export when a process dies while a service is at a crash point', () => {
  let harness: CrashHarness;

  beforeAll(async () => {
    harness = await startCrashHarness();
  }, deadlineMs);
  afterAll(() => harness?.stop());

  test('the code has all crash points of an export', () => {
    expect(crashPlaces.length).toBeGreaterThanOrEqual(14);
  });

  test.each(crashPlaces)(
    '%s@%s, it dies itself: it completes, each page once, with the digest of an undisturbed run',
    async (point, service) => {
      const { outcome, ended } = await harness.exportDisturbed({ place: `${point}@${service}`, order: 'die' });
      expect(outcome).toEqual(harness.undisturbed);
      expect(ended).toEqual([expect.stringMatching(`^${service} ended \\(SIGKILL\\)`)]);
    },
    deadlineMs,
  );

  test.each(cases)(
    '%s, %s dies: it completes, each page once, with the digest of an undisturbed run',
    async (place, victim) => {
      const isRunning = async () =>
        expect((await victimsOf(harness.installation)).map(({ name }) => name)).toContain(victim);
      // The previous case may have killed the process, which then restarts.
      if (victim !== rendererChild) await vi.waitFor(isRunning, { timeout: 60_000 });
      const killed: boolean[] = [];
      const { outcome, ended } = await harness.exportDisturbed({
        place,
        order: 'wait',
        meanwhile: async () => {
          // All renderer children are killed, so that the working one is among them.
          const running = (await victimsOf(harness.installation)).filter(({ name }) => name === victim);
          for (const { pid } of running) killed.push(sendSignal(pid, 'SIGKILL'));
          return victim !== rendererChild;
        },
      });
      if (victim === rendererChild) expect(killed).toContain(true);
      else expect(killed).toEqual([true]);
      expect(outcome).toEqual(harness.undisturbed);
      // The other processes have not ended. A renderer restarts its own children, so the supervisor does not report them.
      expect(ended).toEqual(
        victim === rendererChild ? [] : [expect.stringMatching(new RegExp(`^${victim} ended \\(SIGKILL\\)`))],
      );
    },
    deadlineMs,
  );
});

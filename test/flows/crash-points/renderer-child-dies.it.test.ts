import { afterAll, beforeAll, expect, test } from 'vitest';
import { crashPlaces, type CrashStand, startCrashStand } from '../../support/chaos/crash-stand.ts';
import { rendererChild, renderingProcesses, sendSignal } from '../../support/chaos/fault-injection.ts';
import { describeWithServers } from '../../support/describe-with-servers.ts';

const deadlineMs = 90_000;

describeWithServers(
  ['nats-server'],
  'an export when the renderer children die while a service is at a named place',
  () => {
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
          meanwhile: async () => {
            const children = (await renderingProcesses(stand.installation)).filter(
              ({ name }) => name === rendererChild,
            );
            // All of them: so the one is hit that is at work.
            for (const { pid } of children) killed.push(sendSignal(pid, 'SIGKILL'));
          },
        });
        expect(killed).toContain(true);
        expect(outcome).toEqual(stand.undisturbed);
        expect(ended).toEqual([]);
      },
      deadlineMs,
    );
  },
);

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Installation } from '#infra/supervisor/run-installation.ts';
import { exportThrough } from '../support/chaos/export-through-outage.ts';
import { pause, takeNatsAway } from '../support/chaos/fault-injection.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { chaosProject } from '../support/docs-projects.ts';
import { forgetSegments } from '../support/installation-exports.ts';
import { exportPathOnly, startInstallation, type TestInstallation } from '../support/start-installation.ts';

const minuteMs = 60_000;

describeWithServers(['nats-server'], 'an export while NATS is gone for 30 seconds in its middle', () => {
  let harness: TestInstallation;
  let undisturbed: string;

  beforeAll(async () => {
    const environment = { BINDERY_LIMIT_STARTS_PER_HOUR: '100000' };
    harness = await startInstallation({ copies: exportPathOnly, environment });
    await harness.publish(chaosProject.folder);
    undisturbed = (await harness.exportSite()).link.sha256;
  }, 3 * minuteMs);
  afterAll(() => harness?.stop());

  test.each([
    ['hangs', (installation: Installation) => pause(installation.pids('nats-server'))],
    ['is killed and cannot be started', takeNatsAway],
  ])(
    'NATS %s: the job completes, and each request is answered within its deadline',
    async (_how, take) => {
      await forgetSegments(harness);
      const sha256 = await exportThrough(harness, () => take(harness.installation));
      expect(sha256).toBe(undisturbed);
    },
    5 * minuteMs,
  );
});

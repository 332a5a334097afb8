import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportThrough } from '../support/chaos/export-through-outage.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { chaosProject } from '../support/docs-projects.ts';
import { exportPathOnly, startInstallation } from '../support/start-installation.ts';
import { bucketOn, startVersityGateway, type VersityGateway } from '../support/start-versitygw.ts';

const minuteMs = 60_000;
/** A bundle names the public address, so all installations have the same one. */
const environment = { BINDERY_LIMIT_STARTS_PER_HOUR: '100000', BINDERY_PUBLIC_URL: 'http://docs.example' };

describeWithServers(['nats-server', 'versitygw'], 'an export while S3 is gone for 30 seconds in its middle', () => {
  let s3: VersityGateway;
  let undisturbed: string;

  beforeAll(async () => {
    s3 = await startVersityGateway();
    const onFolder = await startInstallation({ copies: exportPathOnly, environment });
    await onFolder.publish(chaosProject.folder);
    undisturbed = (await onFolder.exportSite()).link.sha256;
    await onFolder.stop();
  }, 3 * minuteMs);
  afterAll(() => s3?.stop());

  test.each([
    ['hangs', () => s3.pause(), () => s3.resume()],
    ['is down', () => s3.kill(), () => s3.restart()],
  ])(
    'S3 %s: the job completes, and each request is answered within its deadline',
    async (how, leave, comeBack) => {
      const onBucket = await bucketOn(s3, `bindery-${how.replace(' ', '-')}`);
      const onS3 = await startInstallation({ copies: exportPathOnly, environment: { ...environment, ...onBucket } });
      try {
        await onS3.publish(chaosProject.folder);
        const interrupted = await exportThrough(onS3, async () => {
          await leave();
          return { resume: comeBack };
        });
        expect(interrupted).toBe(undisturbed);
      } finally {
        await onS3.stop();
      }
    },
    6 * minuteMs,
  );
});

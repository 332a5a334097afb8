import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signBundleLink, startExport, waitForExport } from '#services/cli/export-site.ts';
import { jobPath } from '#services/cli/job-path.ts';
import { createS3Bucket } from '#shared/object-store/s3-create-bucket.ts';
import { chaosProject } from '../support/chaos/chaos-project.ts';
import { exportHistory } from '../support/chaos/export-history.ts';
import { forgetSegments } from '../support/chaos/forget-segments.ts';
import { pause } from '../support/chaos/pause.ts';
import { slowest, summaryOf, watchAnswers } from '../support/chaos/watch-answers.ts';
import { isUnderWay, whenJob } from '../support/chaos/when-job.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { exportPathOnly, startInstallation, type TestInstallation } from '../support/start-installation.ts';
import { startVersityGateway, type VersityGateway } from '../support/start-versitygw.ts';

const outageMs = 30_000;
/** The longest that the gateway may take over a status: its key's deadline and the job's, on a machine with other work. */
const answerWithinMs = 10_000;
const minuteMs = 60_000;

type Outage = { resume(): void | Promise<void> };

/** Exports, takes something away for half a minute as soon as some pages are in, and checks what came of it. */
async function exportThrough(stand: TestInstallation, take: () => Outage | Promise<Outage>): Promise<string> {
  const { jobId } = await startExport(stand.admin, { domain: stand.domain });
  await whenJob(stand.admin, jobId, isUnderWay);
  const watch = watchAnswers(`${stand.installation.baseUrl}${jobPath(jobId)}`, stand.adminKey, 500);
  const outage = await take();
  // The outage is what is tried here: its length is given, and nothing is waited for.
  await delay(outageMs);
  await outage.resume();
  const resumedAt = performance.now();
  const job = await waitForExport(stand.admin, jobId, () => {});
  const answers = await watch.stop();
  const seconds = ((performance.now() - resumedAt) / 1000).toFixed(1);
  process.stdout.write(`completed ${seconds} s after the outage; answers by status: ${summaryOf(answers)}\n`);
  expect(job).toMatchObject({ status: 'completed', pageCount: job.pageTotal });
  expect(new Set(answers.map(({ status }) => status)).difference(new Set([200, 503]))).toEqual(new Set());
  expect(slowest(answers)).toBeLessThan(answerWithinMs);
  expect((await exportHistory(stand, jobId)).problems).toEqual([]);
  return (await signBundleLink(stand.admin, jobId)).sha256;
}

describeWithServers(['nats-server'], 'an export while a server is gone for 30 seconds in its middle', () => {
  let stand: TestInstallation;
  let undisturbed: string;

  beforeAll(async () => {
    stand = await startInstallation({ copies: exportPathOnly });
    await stand.publish(chaosProject.folder);
    undisturbed = (await stand.exportSite()).link.sha256;
  }, 3 * minuteMs);
  afterAll(() => stand?.stop());

  test(
    'NATS hangs: the job completes, and each status request is answered within its deadline',
    async () => {
      await forgetSegments(stand);
      const sha256 = await exportThrough(stand, () => pause(stand.installation.pids('nats-server')));
      expect(sha256).toBe(undisturbed);
    },
    5 * minuteMs,
  );

  describeWithServers(['versitygw'], 'S3', () => {
    let s3: VersityGateway;

    beforeAll(async () => {
      s3 = await startVersityGateway();
    });
    afterAll(() => s3?.stop());

    test.each([
      ['hangs', () => s3.pause(), () => s3.resume()],
      ['is down', () => s3.kill(), () => s3.restart()],
    ])(
      'S3 %s: the job completes, and each status request is answered within its deadline',
      async (how, leave, comeBack) => {
        const bucket = `bindery-${how.replace(' ', '-')}`;
        const credentials = { accessKeyId: s3.accessKeyId, secretAccessKey: s3.secretAccessKey };
        const { endpoint, region } = s3;
        await createS3Bucket({
          bucket,
          endpoint,
          region,
          credentials,
          forcePathStyle: true,
          maxLinkLifetimeSeconds: 3_600,
        });
        const onS3 = await startInstallation({
          copies: exportPathOnly,
          environment: {
            BINDERY_OBJECT_STORE: 's3',
            BINDERY_S3_ENDPOINT: endpoint,
            BINDERY_S3_REGION: region,
            BINDERY_S3_BUCKET: bucket,
            BINDERY_S3_ACCESS_KEY_ID: credentials.accessKeyId,
            BINDERY_S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
            BINDERY_S3_FORCE_PATH_STYLE: '1',
          },
        });
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
});

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Installation } from '#infra/supervisor/run-installation.ts';
import { jobPath } from '#services/cli/api-client.ts';
import { signBundleLink, startExport, waitForExport } from '#services/cli/export-client.ts';
import { createS3Bucket } from '#shared/storage/s3-client.ts';
import { pause, takeNatsAway } from '../support/chaos/fault-injection.ts';
import { type Question, summaryOf, watchAnswers } from '../support/chaos/watch-answers.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { chaosProject } from '../support/docs-projects.ts';
import { exportHistory, forgetSegments, isUnderWay, whenJob } from '../support/installation-exports.ts';
import { exportPathOnly, startInstallation, type TestInstallation } from '../support/start-installation.ts';
import { startVersityGateway, type VersityGateway } from '../support/start-versitygw.ts';

const outageMs = 30_000;
/** The longest that the gateway may take on a busy machine: its deadline for the key, plus that of the request itself. */
const readWithinMs = 10_000;
const writeWithinMs = 20_000;
const askedEveryMs = 500;
const minuteMs = 60_000;
const manyStarts = { BINDERY_LIMIT_STARTS_PER_HOUR: '100000' };

type Outage = { resume(): void | Promise<void> };

/** Requests of clients during the outage, with their valid answers and deadlines. */
function questionsAbout(harness: TestInstallation, jobId: string, idempotencyKey: string) {
  const jobs = `${harness.installation.baseUrl}/v1/static-export/jobs`;
  const job = `${harness.installation.baseUrl}${jobPath(jobId)}`;
  const again: Question = {
    url: jobs,
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
    body: JSON.stringify({ domain: harness.domain }),
  };
  return [
    { name: 'status', asked: { url: job }, right: [200], withinMs: readWithinMs },
    { name: 'list', asked: { url: jobs }, right: [200], withinMs: readWithinMs },
    { name: 'events', asked: { url: `${job}/events` }, right: [200], withinMs: readWithinMs },
    // It returns the same job again.
    { name: 'start', asked: again, right: [200, 202], withinMs: writeWithinMs },
    // There is no bundle before the job is completed.
    {
      name: 'link',
      asked: { url: `${job}/bundle`, method: 'POST' } satisfies Question,
      right: [200, 409],
      withinMs: writeWithinMs,
    },
  ];
}

/** Starts an export, takes something away for half a minute as soon as some pages are rendered, and checks the result. */
async function exportThrough(harness: TestInstallation, take: () => Outage | Promise<Outage>): Promise<string> {
  const idempotencyKey = randomUUID();
  const { jobId } = await startExport(harness.admin, { domain: harness.domain }, idempotencyKey);
  await whenJob(harness.admin, jobId, isUnderWay);
  const watched = questionsAbout(harness, jobId, idempotencyKey).map((question) => ({
    ...question,
    watch: watchAnswers(question.asked, harness.adminKey, askedEveryMs),
  }));
  const outage = await take();
  // The outage itself is under test: it has a fixed length and waits for nothing.
  await delay(outageMs);
  await outage.resume();
  const resumedAt = performance.now();
  const job = await waitForExport(harness.admin, jobId, () => {});
  const seconds = ((performance.now() - resumedAt) / 1000).toFixed(1);
  process.stdout.write(`completed ${seconds} s after the outage\n`);
  for (const { name, right, withinMs, watch } of watched) {
    const answers = await watch.stop();
    process.stdout.write(`  ${name}: ${summaryOf(answers)}\n`);
    const wrong = answers.filter(({ status, ms }) => (status !== 503 && !right.includes(status)) || ms >= withinMs);
    expect({ name, wrong }).toEqual({ name, wrong: [] });
  }
  expect(job).toMatchObject({ status: 'completed', pageCount: job.pageTotal });
  expect((await exportHistory(harness, jobId)).problems).toEqual([]);
  return (await signBundleLink(harness.admin, jobId)).sha256;
}

describeWithServers(['nats-server'], 'an export while a server is gone for 30 seconds in its middle', () => {
  let harness: TestInstallation;
  let undisturbed: string;

  beforeAll(async () => {
    harness = await startInstallation({ copies: exportPathOnly, environment: manyStarts });
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
      'S3 %s: the job completes, and each request is answered within its deadline',
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
            ...manyStarts,
            // A bundle names the public address, and its links lead to the store.
            BINDERY_PUBLIC_URL: harness.installation.baseUrl,
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

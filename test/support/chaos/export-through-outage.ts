import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { jobPath } from '#services/cli/api-client.ts';
import { signBundleLink, startExport, waitForExport } from '#services/cli/export-client.ts';
import { exportHistory, isUnderWay, whenJob } from '../installation-exports.ts';
import type { TestInstallation } from '../start-installation.ts';
import { type Question, summaryOf, watchAnswers } from './watch-answers.ts';

const outageMs = 30_000;
/** Longest times that the gateway may take on a busy machine: its deadline for the key plus the deadline of the request. */
const readWithinMs = 10_000;
const writeWithinMs = 20_000;
const askedEveryMs = 500;

export type Outage = { resume(): void | Promise<void> };

/** Requests of clients during the outage, each with its valid answers and deadline. */
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
    // The repeated request returns the same job.
    { name: 'start', asked: again, right: [200, 202], withinMs: writeWithinMs },
    // The bundle does not exist before the job is completed.
    {
      name: 'link',
      asked: { url: `${job}/bundle`, method: 'POST' } satisfies Question,
      right: [200, 409],
      withinMs: writeWithinMs,
    },
  ];
}

/**
 * Starts an export, makes something unavailable for half a minute as soon as some pages are rendered, and expects that the job completes and that
 * each request of a client is answered within its deadline. Returns the digest of the bundle.
 */
export async function exportThrough(harness: TestInstallation, take: () => Outage | Promise<Outage>): Promise<string> {
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

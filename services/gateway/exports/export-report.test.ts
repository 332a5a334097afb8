import { afterEach, beforeEach, expect, test } from 'vitest';
import { exportJobAggregate, type ExportEvent } from '#shared/aggregates/export-job/export-job.ts';
import { handleCommand } from '#shared/messaging/log/handle-command.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { contentServices } from '../../../test/support/content-services.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  type TestOrganization,
} from '../../../test/support/gateway-harness.ts';
import { exportRequested } from '../../../test/support/make-commit.ts';
import { storeReportedBundle } from '../../../test/support/store-reported-bundle.ts';

const jobId = `se_${'r'.repeat(22)}`;

let gateway: GatewayHarness;
let acme: TestOrganization;

beforeEach(async () => {
  gateway = await gatewayHarness({}, contentServices);
  acme = await createOrganization(gateway);
});

afterEach(() => gateway.close());

const report = (query = '', key = acme.adminKey) =>
  gateway.app.inject({ url: `/v1/static-export/jobs/${jobId}/report${query}`, headers: bearer(key) });

async function append(...events: ExportEvent[]): Promise<void> {
  const { bus, clock } = gateway;
  await handleCommand({ log: bus.exports, clock, random: randomBase62 }, exportJobAggregate, {
    subject: exportLogSubject(acme.id, jobId),
    decide: () => events,
    origin: { source: 't', actor: { kind: 'service', id: 't' }, causationId: 'c', correlationId: 'c' },
  });
  await bus.projected();
}

test('the report of an export is read by its organization once it is completed, and until its bundle is removed', async () => {
  expect((await report()).json()).toMatchObject({ code: 'not_found' });
  await append(exportRequested({ organization: acme.id, jobId, domain: 'docs' }));
  expect((await report()).json()).toMatchObject({
    code: 'not_completed',
    error: expect.stringContaining('is not completed'),
  });
  const { bundle, planHash, manifestSha256 } = await storeReportedBundle(gateway.objectStore, {
    organization: acme.id,
  });
  await append(
    {
      type: 'PagesPlanned',
      version: 1,
      data: { planHash, rendererVersion: `rv_${'1'.repeat(16)}`, chunkCount: 1, pageTotal: 1 },
    },
    {
      type: 'ExportCompleted',
      version: 1,
      data: { bundleKey: bundle.key, sizeBytes: bundle.sizeBytes, sha256: bundle.sha256, manifestSha256 },
    },
  );
  const answer = await report('?limit=1&page=a');
  expect(answer.headers).toHaveProperty('ratelimit-policy');
  expect(answer.json()).toMatchObject({
    jobId,
    summary: { pages: 1, warnings: 1 },
    byCode: [{ code: 'unknown-component', count: 1 }],
    pages: [{ path: 'a', findings: [{ severity: 'warning', code: 'unknown-component', file: 'a.mdx' }] }],
  });
  const globex = await createOrganization(gateway, 'Globex');
  expect((await report('', globex.adminKey)).json()).toMatchObject({ code: 'not_found' });
  expect((await report('', acme.assistantKey)).json()).toMatchObject({ code: 'wrong_key_kind' });
  expect((await report('?cursor=x')).json()).toMatchObject({ code: 'invalid_request', fields: [{ path: 'cursor' }] });
  // A report that was just read is not shown any longer than its bundle.
  await gateway.objectStore.remove(bundle.key);
  expect((await report()).json()).toMatchObject({
    code: 'not_found',
    error: `The bundle of ${jobId} has been removed. Replay the job to make it again.`,
  });
});

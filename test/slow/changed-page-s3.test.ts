import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startExport, waitForExport } from '#services/cli/export-client.ts';
import type { ExportJob } from '#shared/interfaces/http/exports.ts';
import { bundleKey } from '#shared/contracts/stored-objects.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { s3ObjectStore } from '#shared/storage/s3-object-store.ts';
import { packTar } from '../support/archives.ts';
import { type CountingProxy, countingProxy } from '../support/counting-proxy.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { exportHistory, publishArchive } from '../support/installation-exports.ts';
import { exportPathOnly, startInstallation, type TestInstallation } from '../support/start-installation.ts';
import { bucketOn, startVersityGateway, type VersityGateway } from '../support/start-versitygw.ts';

const pageCount = 160;

/** Words that hardly compress. */
const noise = (seed: string): string =>
  Array.from({ length: 2_400 }, (_, at) => createHash('sha256').update(`${seed} ${at}`).digest('base64url')).join(' ');

function project(changed: string): Record<string, string> {
  const pages = Array.from({ length: pageCount }, (_, at) => `page-${at}`);
  const texts = pages.map((page) => [
    `${page}.mdx`,
    `# ${page}\n\n${noise(page)}\n\n${page === 'page-80' ? changed : ''}\n`,
  ]);
  const docs = { name: 'S3', theme: 'mint', colors: { primary: '#0055aa' }, navigation: { pages } };
  return { 'docs.json': JSON.stringify(docs), ...(Object.fromEntries(texts) as Record<string, string>) };
}

describeWithServers(['versitygw', 'nats-server'], 'a changed page of a large site on S3', () => {
  let gateway: VersityGateway;
  let proxy: CountingProxy;
  let harness: TestInstallation;
  let store: ObjectStore;

  beforeAll(async () => {
    gateway = await startVersityGateway();
    proxy = await countingProxy(Number(new URL(gateway.endpoint).port));
    const endpoint = `http://127.0.0.1:${proxy.port}`;
    const bucket = await bucketOn({ ...gateway, endpoint }, 'bindery');
    harness = await startInstallation({ copies: exportPathOnly, environment: bucket });
    const { accessKeyId, secretAccessKey, region } = gateway;
    store = s3ObjectStore({
      ...{ bucket: 'bindery', region, endpoint: gateway.endpoint, forcePathStyle: true },
      credentials: { accessKeyId, secretAccessKey },
    });
  }, 120_000);
  afterAll(async () => {
    await store?.close();
    await harness?.stop();
    await proxy?.close();
    await gateway?.stop();
  });

  async function exported(): Promise<
    ExportJob & { sizeBytes: number; sha256: string; planHash: string; sentBytes: number }
  > {
    proxy.reset();
    const { jobId } = await startExport(harness.admin, { domain: harness.domain });
    const job = await waitForExport(harness.admin, jobId, () => {});
    const { sentBytes } = proxy.traffic();
    const { state } = (await exportHistory(harness, jobId)).commits.at(-1)?.data ?? {};
    const { sizeBytes = NaN, sha256 = '' } = state?.bundle ?? {};
    return { ...job, sizeBytes, sha256, planHash: state?.planHash ?? '', sentBytes };
  }

  const isReplayedTheSame = async (jobId: string) => {
    const path = `/v1/static-export/jobs/${jobId}/replay`;
    const replay = await harness.admin.json<ExportJob>(path, { method: 'POST' });
    return (await waitForExport(harness.admin, replay.jobId, () => {})).digestMatch;
  };

  test('costs some parts of 5 MiB, and a damaged last bundle is not copied', async () => {
    const publish = async (text: string) => publishArchive(harness, await packTar(project(text)));
    await publish('');
    const first = await exported();
    expect(first.sizeBytes).toBeGreaterThan(35_000_000);
    expect(first.sentBytes).toBeGreaterThan(first.sizeBytes);

    await publish('A sentence that was added.');
    const changed = await exported();
    expect(changed.planHash).not.toBe(first.planHash);
    // The page's chunk and the closing segment have changed, and each is sent separately.
    expect(changed.sentBytes).toBeLessThan(0.6 * changed.sizeBytes);

    const key = bundleKey(harness.organization, harness.domain, changed.planHash);
    const bytes = Buffer.from((await store.get(key)) ?? '');
    expect(sha256Of(bytes)).toBe(changed.sha256);
    const middle = Math.floor(bytes.length / 3);
    bytes[middle] = (bytes[middle] ?? 0) ^ 1;
    await store.put(key, bytes);
    await publish('Another sentence.');
    expect(await isReplayedTheSame((await exported()).jobId)).toBe('same');
  }, 300_000);
});

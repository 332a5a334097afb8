import { bundleKey, planKey, segmentKey, sidecarKey } from '#shared/contracts/stored-objects.ts';
import { joinedBundle } from '#shared/export/bundle/join-segments.ts';
import { packSegment } from '#shared/export/bundle/segment-writer.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { exportPlan } from './make-commit.ts';

/** A report with one warning about the page `a`. */
export const storedReport = {
  formatVersion: 1,
  summary: { pages: 1, failedPages: 0, errors: 0, warnings: 1, infos: 0, brokenLinks: 0 },
  byCode: [{ code: 'unknown-component', severity: 'warning', count: 1, files: 1, example: 'No such component.' }],
  failedPages: [],
  brokenLinks: [],
  site: [],
  pages: { a: [{ severity: 'warning', code: 'unknown-component', message: 'No such component.', file: 'a.mdx' }] },
};

/**
 * Stores the bundle of a completed export with its plan and its two segments, the second one with `report`. Returns the fields of the job about it.
 * `listed`: the digest of the report in the manifest.
 */
export async function storeReportedBundle(
  objectStore: ObjectStore,
  {
    organization = 'acme',
    report = JSON.stringify(storedReport),
    listed = sha256Of(report),
  }: { organization?: string; report?: string; listed?: string | undefined } = {},
) {
  const planHash = 'd'.repeat(64);
  const closingKey = sha256Of('closing');
  const manifest = JSON.stringify({ files: [{ path: '_bindery/report.json', size: report.length, sha256: listed }] });
  const segments = [
    { key: sha256Of('pages'), ...(await packSegment([{ path: 'docs/a.html', body: 'words '.repeat(9_000) }])) },
    {
      key: closingKey,
      ...(await packSegment([
        { path: 'docs/llms-full.txt', body: 'words '.repeat(90_000) },
        { path: 'docs/_bindery/report.json', body: report },
        { path: 'docs/_bindery/manifest.json', body: manifest },
      ])),
    },
  ];
  for (const { key, bytes, ...facts } of segments) {
    await objectStore.put(segmentKey(organization, key), bytes);
    const findings = key === closingKey ? { findings: { errors: 0, warnings: 1 } } : {};
    const sidecar = { version: 1, ...facts, ...findings, pages: [], diagnostics: [] };
    await objectStore.put(sidecarKey(organization, key), Buffer.from(JSON.stringify(sidecar)));
  }
  const plan = exportPlan({ closingKey, chunks: [{ kind: 'site', key: closingKey }] });
  await objectStore.put(planKey(organization, planHash), Buffer.from(JSON.stringify(plan)));
  const joined = joinedBundle(segments.map(({ bytes, ...rest }) => ({ ...rest, open: async () => bytes })));
  const bundle = {
    key: bundleKey(organization, 'docs', planHash),
    sizeBytes: joined.sizeBytes,
    sha256: await joined.sha256(),
  };
  await objectStore.putParts(bundle.key, joined.parts, { metadata: async () => ({ sha256: bundle.sha256 }) });
  return { organization, planHash, closingKey, bundle, manifestSha256: sha256Of(manifest) };
}

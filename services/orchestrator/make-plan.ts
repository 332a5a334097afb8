import { setImmediate } from 'node:timers/promises';
import type { ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import type { ExportPlan, PlanChunk } from '#shared/contracts/stored-objects.ts';
import type { FileEntry, SiteModel } from '#shared/docs/project/site-model.ts';
import { leftOutOperations } from '#shared/docs/render/left-out-operations.ts';
import { assetsKey, chunkKey, closingKey, pageKey, siteKey } from '#shared/docs/render/segment-keys.ts';
import { exportedPages, indexSite, type SiteIndex } from '#shared/docs/render/site-index.ts';
import { assetChunkLimits, cutChunks, pageChunkLimits } from '#shared/export/bundle/cut-chunks.ts';
import { canonicalJson, sha256Of } from '#shared/runtime/canonical-json.ts';

export type PlanInput = Pick<ExportJobState, 'organization' | 'domain' | 'contentVersion' | 'label' | 'options'> & {
  /** The site model of that content version. */
  model: SiteModel;
  /** Page paths that the request named; undefined: all. */
  selection?: readonly string[] | undefined;
  rendererVersion: string;
};

export type MadePlan = { plan: ExportPlan; planHash: string; text: string };

/** A slice and its hash take a quarter of a millisecond, and the lease must be renewed meanwhile. */
const pagesBetweenPauses = 50;

/**
 * The export plan: pages and files with their segments and keys. `text` is its canonical JSON, and `planHash` the SHA-256 of that. The same input
 * gives the same plan. It yields to other work of the process.
 */
export async function makePlan(input: PlanInput): Promise<MadePlan> {
  const { model, organization, domain, contentVersion, label, rendererVersion } = input;
  const { deployment, onPageError, allowTenantScripts, site } = input.options;
  const options = { deployment, onPageError, allowTenantScripts, groups: [...input.options.groups].sort() };
  const exported = exportedPages(model, options.groups, input.selection);
  const index = indexSite(model, exported);
  const chunks: PlanChunk[] = [
    { kind: 'site', key: siteKey(rendererVersion, model, { ...options, domain, site }, exported) },
    ...assetChunks(input, index),
    ...(await pageChunks(input, options, index)),
  ];
  const named = label === undefined ? {} : { label };
  const plan: ExportPlan = {
    version: 1,
    organization,
    domain,
    contentVersion,
    ...named,
    rendererVersion,
    ...options,
    ...(site === undefined ? {} : { site }),
    pageTotal: exported.length,
    chunks,
    closingKey: closingKey(
      rendererVersion,
      { domain, contentVersion, ...named, deployment },
      chunks.map(({ key }) => key),
    ),
  };
  const text = canonicalJson(plan);
  return { plan, planHash: sha256Of(text), text };
}

function assetChunks({ domain, rendererVersion, options }: PlanInput, index: SiteIndex): PlanChunk[] {
  const leftOut = leftOutOperations(index.model, options.groups);
  return cutChunks(exportedFiles(index, options.allowTenantScripts), assetChunkLimits).map((files) => ({
    kind: 'assets',
    key: assetsKey(rendererVersion, domain, files, options, leftOut),
    paths: files.map(({ path }) => path),
  }));
}

async function pageChunks(
  { domain, rendererVersion }: PlanInput,
  options: Parameters<typeof chunkKey>[2],
  index: SiteIndex,
): Promise<PlanChunk[]> {
  const pages = [...index.exported].flatMap((path) => index.pages.get(path) ?? []);
  const chunks: PlanChunk[] = [];
  let sincePause = 0;
  for (const chunk of cutChunks(pages, pageChunkLimits)) {
    const keys = chunk.map(({ path }) => pageKey(rendererVersion, index, path, options));
    chunks.push({ kind: 'pages', key: chunkKey(domain, keys, options), paths: chunk.map(({ path }) => path) });
    sincePause += chunk.length;
    if (sincePause < pagesBetweenPauses) continue;
    sincePause = 0;
    await setImmediate();
  }
  return chunks;
}

/** Files of the project in the bundle: images and other assets, style sheets, API specifications, and scripts if they are allowed. Pure. */
function exportedFiles({ model, files }: SiteIndex, allowTenantScripts: boolean): FileEntry[] {
  const scripts = new Set(model.scripts.map(({ path }) => path));
  return [...files.values()].filter(({ path }) => allowTenantScripts || !scripts.has(path));
}

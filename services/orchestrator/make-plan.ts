import { setImmediate } from 'node:timers/promises';
import type { ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import type { ExportPlan, PlanChunk } from '#shared/contracts/stored-objects.ts';
import type { FileEntry, SiteModel } from '#shared/docs/project/site-model.ts';
import { leftOutOperations } from '#shared/docs/render/left-out-operations.ts';
import { assetsKey, chunkKey, closingKey, type PageKeys, pageKeys, siteKey } from '#shared/docs/render/segment-keys.ts';
import { exportedPages, indexSite, type SiteIndex } from '#shared/docs/render/site-index.ts';
import { assetChunkLimits, cutChunks, pageChunkLimits } from '#shared/export/bundle/cut-chunks.ts';
import { canonicalJson, sha256Of } from '#shared/runtime/canonical-json.ts';

export type PlanInput = Pick<ExportJobState, 'organization' | 'domain' | 'contentVersion' | 'label' | 'options'> & {
  /** The site model of that content version. */
  model: SiteModel;
  /** Page paths that the request named; undefined: all. */
  selection?: readonly string[] | undefined;
  rendererVersion: string;
  /** Page keys of an earlier plan of the same documentation with the same options. */
  known?: PageKeys | undefined;
};

export type MadePlan = { plan: ExportPlan; planHash: string; text: string; keys: PageKeys };

/** Number of pages between pauses, in which smaller plans are made. A page takes up to a quarter of a millisecond. */
const pagesBetweenPauses = 50;

/**
 * The export plan: pages and files with their segments and keys. `text` is its canonical JSON, and `planHash` the SHA-256 of that. The same input
 * gives the same plan, with or without `known`. It yields to other work of the thread.
 */
export async function makePlan(input: PlanInput): Promise<MadePlan> {
  const { model, organization, domain, contentVersion, label, rendererVersion } = input;
  const { deployment, onPageError, allowTenantScripts, site } = input.options;
  const options = { deployment, onPageError, allowTenantScripts, groups: [...input.options.groups].sort() };
  const exported = exportedPages(model, options.groups, input.selection);
  const index = indexSite(model, exported);
  const keys = await pageKeys(rendererVersion, index, options, input.known, pauses());
  const chunks: PlanChunk[] = [
    { kind: 'site', key: siteKey(rendererVersion, model, { ...options, domain, site }, exported) },
    ...assetChunks(input, index),
    ...pageChunks(domain, keys, options, index),
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
  return { plan, planHash: sha256Of(text), text, keys };
}

function assetChunks({ domain, rendererVersion, options }: PlanInput, index: SiteIndex): PlanChunk[] {
  const leftOut = leftOutOperations(index.model, options.groups);
  return cutChunks(exportedFiles(index, options.allowTenantScripts), assetChunkLimits).map((files) => ({
    kind: 'assets',
    key: assetsKey(rendererVersion, domain, files, options, leftOut),
    paths: files.map(({ path }) => path),
  }));
}

function pageChunks(
  domain: string,
  keys: PageKeys,
  options: Parameters<typeof chunkKey>[2],
  index: SiteIndex,
): PlanChunk[] {
  const pages = [...index.exported].flatMap((path) => index.pages.get(path) ?? []);
  return cutChunks(pages, pageChunkLimits).map((chunk) => {
    const paths = chunk.map(({ path }) => path);
    const keysOfPages = paths.flatMap((path) => keys.pages.get(path)?.key ?? []);
    return { kind: 'pages', key: chunkKey(domain, keysOfPages, options), paths };
  });
}

/** A function to be called after each page, which sometimes returns a pause. */
function pauses(): () => Promise<void> | undefined {
  let count = 0;
  return () => {
    count += 1;
    return count % pagesBetweenPauses === 0 ? setImmediate() : undefined;
  };
}

/** Files of the project in the bundle: images and other assets, style sheets, API specifications, and scripts if they are allowed. Pure. */
function exportedFiles({ model, files }: SiteIndex, allowTenantScripts: boolean): FileEntry[] {
  const scripts = new Set(model.scripts.map(({ path }) => path));
  return [...files.values()].filter(({ path }) => allowTenantScripts || !scripts.has(path));
}

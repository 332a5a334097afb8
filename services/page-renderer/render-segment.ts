import type { FailedPage } from '#shared/contracts/export-facts.ts';
import type { ExportPlan, PlanChunk, SegmentSidecar } from '#shared/contracts/stored-objects.ts';
import { archivePath, type StoredFile } from '#shared/export/bundle/pack-export.ts';
import { manifestPath } from '#shared/export/bundle/verify-bundle.ts';
import { segmentsDigest, readSegmentDigest, readSidecar } from '#shared/export/export-objects.ts';
import { isIsolated } from '#shared/docs/render/isolate/isolate-file.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { retryUnavailable } from '#shared/runtime/retry.ts';
import type { RendererContext } from './context.ts';
import { isolateFiles } from './isolate-files.ts';
import type { PlannedSite } from './planned-sites.ts';
import { inFreshChild, renderPages, runChild } from './render-pages.ts';
import { existingSegment, storeAssets, storeSegment } from './store-segment.ts';

export type ChunkOutcome =
  | { kind: 'rendered'; pageCount: number; reused: boolean }
  | { kind: 'pages-failed'; failedPages: FailedPage[] };

const siteDeadlineMs = 60_000;

/** Renders and stores the segment of a chunk, if it is not stored already. Rejects when the attempt failed as a whole. */
export async function renderChunk(
  context: RendererContext,
  site: PlannedSite,
  chunk: PlanChunk,
  options: { alone: boolean; signal: AbortSignal },
): Promise<ChunkOutcome> {
  const { organization, domain } = site.plan;
  const { signal } = options;
  const place = { organization, domain, key: chunk.key };
  const pageCount = chunk.kind === 'pages' ? chunk.paths.length : 0;
  if ((await existingSegment(context, organization, chunk.key, signal, readSegmentDigest)) !== undefined) {
    return { kind: 'rendered', pageCount, reused: true };
  }
  if (chunk.kind === 'pages') {
    const { files, pages, failedPages } = await renderPages(context, site, chunk.paths, options);
    if (failedPages.length > 0) return { kind: 'pages-failed', failedPages };
    await storeSegment(context, place, files, { pages }, signal);
  } else if (chunk.kind === 'assets') {
    await storeAssets(context, place, await filesOf(context, site, chunk.paths, signal), signal);
  } else {
    await storeSegment(context, place, await renderSite(context, site, signal), {}, signal);
  }
  return { kind: 'rendered', pageCount, reused: false };
}

async function renderSite(context: RendererContext, { plan, index, exported }: PlannedSite, signal: AbortSignal) {
  const { organization, deployment, onPageError, allowTenantScripts, groups } = plan;
  const options = { deployment, onPageError, allowTenantScripts, groups };
  const request = { kind: 'site', model: index.model, options, exported } as const;
  const { files } = await runChild(context.pool, request, {
    deadlineMs: siteDeadlineMs,
    affinity: organization,
    signal,
  });
  return files;
}

/** Files of the project; where its scripts are not allowed, with the bytes that take the place of those which could run something. */
async function filesOf(
  context: RendererContext,
  { plan, files }: PlannedSite,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<StoredFile[]> {
  const named = paths.map((path) => {
    const file = files.get(path);
    if (file === undefined) throw new Error(`the content version has no file ${path}, which the plan names`);
    return file;
  });
  if (plan.allowTenantScripts) return named;
  const isolated = await isolateFiles(
    context,
    plan.organization,
    named.filter(({ path }) => isIsolated(path)),
    signal,
  );
  return named.map((file) => ({ ...file, ...isolated.get(file.path) }));
}

export type ClosingOutcome =
  | { kind: 'rendered'; manifestSha256: string; reused: boolean }
  | { kind: 'lost'; chunks: number[] };

const sidecarsAtOnce = 8;
/** The closing segment is made from the text of all pages. A large site needs a child with more memory than pages get. */
const largeSitePages = 2_000;
const largeSiteMemoryMb = 2048;
const closingDeadlineMs = 120_000;

/** Renders and stores the files that need all pages, from the sidecars of all segments, unless they are stored. If sidecars are missing, it names their chunks. */
export async function renderClosing(
  context: RendererContext,
  { plan, index }: PlannedSite,
  signal: AbortSignal,
): Promise<ClosingOutcome> {
  const { organization, domain, closingKey } = plan;
  const existing = await existingSegment(context, organization, closingKey, signal, readSidecar);
  if (existing !== undefined)
    return { kind: 'rendered', manifestSha256: manifestSha256Of(plan, existing), reused: true };
  const sidecars = await retryUnavailable(context.retry, signal, () =>
    inParallel(plan.chunks, sidecarsAtOnce, ({ key }) => readSidecar(context.objectStore, organization, key)),
  );
  const found = sidecars.filter((sidecar) => sidecar !== undefined);
  if (found.length < plan.chunks.length) {
    return { kind: 'lost', chunks: [...plan.chunks.keys()].filter((chunk) => sidecars[chunk] === undefined) };
  }
  const { chunks: _1, pageTotal: _2, ...plainPlan } = plan;
  const request = { kind: 'closing', model: index.model, plan: plainPlan, sidecars: found } as const;
  const options = { deadlineMs: closingDeadlineMs, affinity: organization, signal };
  const { files } =
    plan.pageTotal > largeSitePages
      ? await inFreshChild(context, (pool) => runChild(pool, request, options), largeSiteMemoryMb)
      : await runChild(context.pool, request, options);
  const place = { organization, domain, key: closingKey };
  const sidecar = await storeSegment(context, place, files, { madeFrom: segmentsDigest(found) }, signal);
  return { kind: 'rendered', manifestSha256: manifestSha256Of(plan, sidecar), reused: false };
}

/** SHA-256 of the manifest, as the closing segment's sidecar says. Throws when it has none. */
function manifestSha256Of({ domain }: Pick<ExportPlan, 'domain'>, { files }: SegmentSidecar): string {
  const manifest = files.find(({ path }) => path === archivePath(domain, manifestPath));
  if (manifest === undefined) throw new Error('the closing segment has no manifest');
  return manifest.sha256;
}

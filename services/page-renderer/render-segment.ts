import type { FailedPage } from '#shared/contracts/export-facts.ts';
import type { ExportPlan, PlanChunk, SegmentSidecar } from '#shared/contracts/stored-objects.ts';
import type { RenderedFile } from '#shared/docs/render/bundle-paths.ts';
import type { RenderRequest, RenderResponse } from '#shared/docs/render/render-request.ts';
import { manifestPath } from '#shared/export/bundle/verify-bundle.ts';
import { segmentsDigest, readSegmentDigest, readSidecar } from '#shared/export/export-objects.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { retryUnavailable } from '#shared/runtime/retry.ts';
import type { RendererContext } from './context.ts';
import type { PlannedSite } from './planned-sites.ts';
import { renderPages } from './render-pages.ts';
import { existingSegment, packAssets, storeSegment } from './store-segment.ts';

export type ChunkOutcome =
  | { kind: 'rendered'; pageCount: number; reused: boolean }
  | { kind: 'pages-failed'; failedPages: FailedPage[] };

const siteDeadlineMs = 60_000;

/** Sees to it that the segment of a chunk is stored. Rejects when the attempt failed as a whole. */
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
    await packAssets(context, place, filesOf(site, chunk.paths), signal);
  } else {
    await storeSegment(context, place, await renderSite(context, site, signal), {}, signal);
  }
  return { kind: 'rendered', pageCount, reused: false };
}

async function renderSite(context: RendererContext, { plan, index, exported }: PlannedSite, signal: AbortSignal) {
  const { organization, deployment, onPageError, allowTenantScripts, groups } = plan;
  const options = { deployment, onPageError, allowTenantScripts, groups };
  const request: RenderRequest = { kind: 'site', model: index.model, options, exported };
  const response = await context.pool.run(request, { deadlineMs: siteDeadlineMs, affinity: organization, signal });
  return renderedFiles(response as RenderResponse);
}

function filesOf({ files }: PlannedSite, paths: readonly string[]) {
  return paths.map((path) => {
    const file = files.get(path);
    if (file === undefined) throw new Error(`the content version has no file ${path}, which the plan names`);
    return file;
  });
}

export type ClosingOutcome = { kind: 'rendered'; manifestSha256: string } | { kind: 'lost'; chunks: number[] };

const sidecarsAtOnce = 8;
/** It has the text of all pages in hand: those of a large site go to a child with more memory than pages get. */
const largeSitePages = 2_000;
const largeSiteMemoryMb = 2048;
const closingDeadlineMs = 120_000;

/** Renders the files that need all pages, from the sidecars of all segments. Gives the chunks whose sidecars are not there. */
export async function renderClosing(
  context: RendererContext,
  { plan, index }: PlannedSite,
  signal: AbortSignal,
): Promise<ClosingOutcome> {
  const { organization, domain } = plan;
  const sidecars = await retryUnavailable(context.retry, signal, () =>
    inParallel(plan.chunks, sidecarsAtOnce, ({ key }) => readSidecar(context.objectStore, organization, key)),
  );
  const found = sidecars.filter((sidecar) => sidecar !== undefined);
  if (found.length < plan.chunks.length) {
    return { kind: 'lost', chunks: [...plan.chunks.keys()].filter((chunk) => sidecars[chunk] === undefined) };
  }
  const { chunks: _1, pageTotal: _2, ...plainPlan } = plan;
  const request: RenderRequest = { kind: 'closing', model: index.model, plan: plainPlan, sidecars: found };
  const own = plan.pageTotal > largeSitePages ? context.freshPool(largeSiteMemoryMb) : undefined;
  const options = { deadlineMs: closingDeadlineMs, affinity: organization, signal };
  let response: unknown;
  try {
    response = await (own ?? context.pool).run(request, options);
  } finally {
    await own?.close();
  }
  const place = { organization, domain, key: plan.closingKey };
  const files = renderedFiles(response as RenderResponse);
  const sidecar = await storeSegment(context, place, files, { madeFrom: segmentsDigest(found) }, signal);
  return { kind: 'rendered', manifestSha256: manifestSha256Of(plan, sidecar) };
}

/** SHA-256 of the manifest, as the closing segment's sidecar says. Throws when it has none. */
export function manifestSha256Of({ domain }: Pick<ExportPlan, 'domain'>, { files }: SegmentSidecar): string {
  const manifest = files.find(({ path }) => path === `${domain}/${manifestPath}`);
  if (manifest === undefined) throw new Error('the closing segment has no manifest');
  return manifest.sha256;
}

/** The files of an answer that is nothing but files. Throws otherwise. */
export function renderedFiles(response: RenderResponse): RenderedFile[] {
  if (response.kind !== 'files') throw new Error(`a child answered with "${response.kind}" instead of files`);
  return response.files;
}

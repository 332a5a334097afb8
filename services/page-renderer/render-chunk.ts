import { readSegmentDigest } from '#shared/export-objects/read-sidecar.ts';
import type { FailedPage } from '#shared/contracts/failed-page.ts';
import type { PlanChunk } from '#shared/contracts/export-plan.ts';
import type { RenderRequest, RenderResponse } from '#shared/render/render-request.ts';
import type { RendererContext } from './context.ts';
import { existingSegment } from './existing-segment.ts';
import { packAssets } from './pack-assets.ts';
import type { PlannedSite } from './planned-sites.ts';
import { renderPages } from './render-pages.ts';
import { renderedFiles } from './rendered-files.ts';
import { storeSegment } from './store-segment.ts';

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

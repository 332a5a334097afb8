import type { FailedPage } from '#shared/contracts/export-facts.ts';
import type { PlanChunk } from '#shared/contracts/stored-objects.ts';
import { leftOutOperations } from '#shared/docs/render/left-out-operations.ts';
import type { StoredFile } from '#shared/export/bundle/pack-export.ts';
import { packPages } from '#shared/export/bundle/packed-segment.ts';
import { readSegmentDigest } from '#shared/export/export-objects.ts';
import type { RendererContext } from './context.ts';
import { changedFiles } from './changed-files.ts';
import type { PlannedSite } from './planned-sites.ts';
import { chunkInput, renderPages, renderTogether, runChild } from './render-pages.ts';
import { existingSegment, storeAssets, storeSegment } from './store-segment.ts';

export type ChunkOutcome =
  | { kind: 'rendered'; pageCount: number; reused: boolean }
  | { kind: 'pages-failed'; failedPages: FailedPage[] };

const siteDeadlineMs = 60_000;

/**
 * Renders and stores the segment of a chunk, if it is not stored already, or if it is to be made `anew`. Rejects when the attempt failed as a whole.
 */
export async function renderChunk(
  context: RendererContext,
  site: PlannedSite,
  chunk: PlanChunk,
  options: { alone: boolean; anew?: boolean; signal: AbortSignal },
): Promise<ChunkOutcome> {
  const { organization, domain } = site.plan;
  const { signal } = options;
  const place = { organization, domain, key: chunk.key };
  const pageCount = chunk.kind === 'pages' ? chunk.paths.length : 0;
  const known = () => existingSegment(context, organization, chunk.key, signal, readSegmentDigest);
  if (options.anew !== true && (await known()) !== undefined) {
    return { kind: 'rendered', pageCount, reused: true };
  }
  if (chunk.kind === 'pages') {
    const input = await chunkInput(context, site, chunk.paths, signal);
    let packed = options.alone ? undefined : await renderTogether(context, site.plan, input, signal);
    if (packed === undefined) {
      const { files, pages, failedPages } = await renderPages(context, organization, input, options);
      if (failedPages.length > 0) return { kind: 'pages-failed', failedPages };
      packed = await packPages(domain, files, pages);
    }
    await storeSegment(context, place, packed, signal);
  } else if (chunk.kind === 'assets') {
    await storeAssets(context, place, await filesOf(context, site, chunk.paths, signal), signal);
  } else {
    const packed = await packPages(domain, await renderSite(context, site, signal), []);
    await storeSegment(context, place, packed, signal);
  }
  return { kind: 'rendered', pageCount, reused: false };
}

async function renderSite(context: RendererContext, { plan, index, exported }: PlannedSite, signal: AbortSignal) {
  const { organization, domain, deployment, onPageError, allowTenantScripts, groups, site } = plan;
  const options = { domain, deployment, onPageError, allowTenantScripts, groups, site };
  const request = { kind: 'site', model: index.model, options, exported } as const;
  const { files } = await runChild(context.pool, request, {
    deadlineMs: siteDeadlineMs,
    affinity: organization,
    signal,
  });
  return files;
}

/** Files of the project, some with replaced bytes. */
async function filesOf(
  context: RendererContext,
  { plan, files, index }: PlannedSite,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<StoredFile[]> {
  const named = paths.map((path) => {
    const file = files.get(path);
    if (file === undefined) throw new Error(`the content version has no file ${path}, which the plan names`);
    return file;
  });
  const { organization, allowTenantScripts, groups } = plan;
  const rules = { allowTenantScripts, groups, leftOut: leftOutOperations(index.model, groups) };
  const changed = await changedFiles(context, organization, named, rules, signal);
  return named.map((file) => ({ ...file, ...changed.get(file.path) }));
}

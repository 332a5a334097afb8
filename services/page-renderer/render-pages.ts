import { blobKey } from '#shared/contracts/content-keys.ts';
import type { FailedPage } from '#shared/contracts/failed-page.ts';
import type { RenderedPage } from '#shared/contracts/segment-sidecar.ts';
import { inParallel } from '#shared/export-objects/in-parallel.ts';
import { type PageSlice, pageSlice } from '#shared/render/page-slice.ts';
import type { RenderedFile } from '#shared/render/rendered-file.ts';
import { whileUnavailable } from '#shared/task-queue/while-unavailable.ts';
import type { RendererContext } from './context.ts';
import type { PlannedSite } from './planned-sites.ts';
import { type PageOutcome, renderPage } from './render-page.ts';

export type RenderedChunk = { files: RenderedFile[]; pages: RenderedPage[]; failedPages: FailedPage[] };

const sourcesAtOnce = 8;

/**
 * Renders the pages of a chunk one after the other. A page that fails does not keep the others from being rendered: with
 * `onPageError: "report"` its files show its plain source, else it is among the failed ones. Rejects when not one page found a child that lived.
 */
export async function renderPages(
  context: RendererContext,
  site: PlannedSite,
  paths: readonly string[],
  options: { alone: boolean; signal: AbortSignal },
): Promise<RenderedChunk> {
  const { plan } = site;
  const { organization, deployment, onPageError, allowTenantScripts, groups } = plan;
  const renderOptions = { deployment, onPageError, allowTenantScripts, groups };
  const { signal } = options;
  const slices = paths.map((path) => pageSlice(site.index, path, renderOptions));
  const inputs = await whileUnavailable(context.giveUpAfterMs, signal, () =>
    inParallel(slices, sourcesAtOnce, (slice) => inputOf(context, organization, slice)),
  );
  const rendered: RenderedChunk = { files: [], pages: [], failedPages: [] };
  let dead = 0;
  for (const { slice, source, dependencies } of inputs) {
    const run = { organization, alone: options.alone, signal };
    const first = await renderPage(context, { kind: 'page', slice, source, dependencies, options: renderOptions }, run);
    const { reason = '', childDied = false } = first.kind === 'failed' ? first : {};
    if (childDied) dead += 1;
    const shown: PageOutcome =
      first.kind === 'failed' && onPageError === 'report'
        ? await renderPage(context, { kind: 'failed-page', slice, source, reason }, run)
        : first;
    if (shown.kind === 'failed') rendered.failedPages.push({ path: slice.path, reason: reason || shown.reason });
    else {
      rendered.files.push(...shown.files);
      rendered.pages.push(shown.page);
    }
  }
  if (dead === paths.length && dead > 1) throw new Error('every process that was to render a page of it died');
  return rendered;
}

async function inputOf(context: RendererContext, organization: string, slice: PageSlice) {
  const source = await context.objectStore.get(blobKey(organization, slice.sha256));
  if (source === undefined) throw new Error(`the file ${slice.file} of the content version is gone`);
  const texts = await inParallel(slice.dependencies, sourcesAtOnce, async ({ path, sha256 }) => [
    path,
    await context.texts(organization, sha256),
  ]);
  return { slice, source, dependencies: Object.fromEntries(texts) as Record<string, string> };
}

import { manifestPath } from '#shared/bundle/bundle-manifest.ts';
import type { ExportPlan } from '#shared/contracts/export-plan.ts';
import type { SegmentSidecar } from '#shared/contracts/segment-sidecar.ts';
import { inParallel } from '#shared/export-objects/in-parallel.ts';
import { madeFrom } from '#shared/export-objects/made-from.ts';
import { readSidecar } from '#shared/export-objects/read-sidecar.ts';
import type { RenderRequest, RenderResponse } from '#shared/render/render-request.ts';
import { whileUnavailable } from '#shared/task-queue/while-unavailable.ts';
import type { RendererContext } from './context.ts';
import type { PlannedSite } from './planned-sites.ts';
import { renderedFiles } from './rendered-files.ts';
import { storeSegment } from './store-segment.ts';

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
  const sidecars = await whileUnavailable(context.giveUpAfterMs, signal, () =>
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
  const sidecar = await storeSegment(context, place, files, { madeFrom: madeFrom(found) }, signal);
  return { kind: 'rendered', manifestSha256: manifestSha256Of(plan, sidecar) };
}

/** SHA-256 of the manifest, as the closing segment's sidecar says. Throws when it has none. */
export function manifestSha256Of({ domain }: Pick<ExportPlan, 'domain'>, { files }: SegmentSidecar): string {
  const manifest = files.find(({ path }) => path === `${domain}/${manifestPath}`);
  if (manifest === undefined) throw new Error('the closing segment has no manifest');
  return manifest.sha256;
}

import type { RenderedPage } from '#shared/contracts/segment-sidecar.ts';
import type { RenderedFile } from '#shared/render/rendered-file.ts';
import type { RenderRequest, RenderResponse } from '#shared/render/render-request.ts';
import { ChildDied, ChildRequestFailed, ChildTimedOut } from '#shared/sandbox/child-errors.ts';
import type { ChildPool } from '#shared/sandbox/child-pool.ts';
import type { RendererContext } from './context.ts';

export type PageOutcome =
  | { kind: 'page'; files: RenderedFile[]; page: RenderedPage }
  /** `childDied`: not a word on the page itself; it took its process with it, or no process can live here. */
  | { kind: 'failed'; reason: string; childDied: boolean };

type PageContext = Pick<RendererContext, 'pool' | 'freshPool' | 'pageDeadlineMs'>;

const maxReason = 300;

/**
 * Renders one page in a child. When the child hangs or dies, the page is tried once more in a fresh one, and then has failed. `alone`: in a
 * fresh child from the start. Rejects only with the reason of `signal`.
 */
export async function renderPage(
  context: PageContext,
  request: Extract<RenderRequest, { kind: 'page' | 'failed-page' }>,
  options: { organization: string; alone: boolean; signal: AbortSignal },
): Promise<PageOutcome> {
  const { signal } = options;
  const run = (pool: ChildPool) =>
    pool.run(request, { deadlineMs: context.pageDeadlineMs, affinity: options.organization, signal });
  let outcome = await attempt(() => (options.alone ? inFreshChild(context, run) : run(context.pool)), signal);
  if (outcome === 'hung' || outcome instanceof ChildDied) {
    outcome = await attempt(() => inFreshChild(context, run), signal);
  }
  if (outcome === 'hung') {
    return failed(`it was not rendered within ${context.pageDeadlineMs / 1000} s, twice`);
  }
  if (outcome instanceof ChildDied) return { ...failed(`${outcome.message}, twice`), childDied: true };
  return outcome;
}

/** The process hung, or died; else a word on the page. */
async function attempt(run: () => Promise<unknown>, signal: AbortSignal): Promise<PageOutcome | 'hung' | ChildDied> {
  try {
    const response = (await run()) as RenderResponse;
    if (response.kind === 'page') return response;
    return failed(response.kind === 'page-failed' ? response.reason : 'its renderer gave something else than a page');
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ChildTimedOut) return 'hung';
    if (error instanceof ChildDied) return error;
    if (error instanceof ChildRequestFailed) return failed(`our renderer failed on it: ${error.message}`);
    throw error;
  }
}

async function inFreshChild<T>(context: PageContext, run: (pool: ChildPool) => Promise<T>): Promise<T> {
  const pool = context.freshPool();
  try {
    return await run(pool);
  } finally {
    await pool.close();
  }
}

const failed = (reason: string) => ({
  kind: 'failed' as const,
  reason: reason.slice(0, maxReason).toWellFormed(),
  childDied: false,
});

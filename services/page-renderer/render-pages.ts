import type { FailedPage } from '#shared/contracts/export-facts.ts';
import type { ExportPlan, RenderedPage } from '#shared/contracts/stored-objects.ts';
import type { RenderedFile, RenderedText } from '#shared/docs/render/bundle-paths.ts';
import { mostRawBytes, mostSidecarJson } from '#shared/docs/render/check-packed.ts';
import { type PageSlice, pageSlice, type RenderOptions } from '#shared/docs/render/page-slice.ts';
import { expectedResponse, type ResponseTo } from '#shared/docs/render/expected-response.ts';
import type { RenderedPageFiles } from '#shared/docs/render/render-page.ts';
import type { RenderRequest, RenderResponse } from '#shared/docs/render/render-request.ts';
import type { ChildPool, RunOptions } from '#shared/docs/sandbox/child-pool.ts';
import { ChildDied, ChildMisbehaved, ChildRequestFailed, ChildTimedOut } from '#shared/docs/sandbox/child.ts';
import type { PackedSegment } from '#shared/export/bundle/packed-segment.ts';
import { readBlob } from '#shared/export/read-blob.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { retryUnavailable } from '#shared/runtime/retry.ts';
import type { RendererContext } from './context.ts';
import type { PlannedSite } from './planned-sites.ts';

/** The program of children that render. The parser of pages and the compiler of components are native code. */
export const renderChild = {
  entry: new URL('../../shared/docs/render/render-child.ts', import.meta.url),
  addons: true,
};

type RenderedChunk = { files: (RenderedText | RenderedFile)[]; pages: RenderedPage[]; failedPages: FailedPage[] };

const sourcesAtOnce = 8;

/** The sources of a chunk's pages, in order. */
export type ChunkInput = {
  pages: readonly { slice: PageSlice; source: Uint8Array; dependencies: Record<string, string> }[];
  options: RenderOptions;
};

/** Reads the sources from the object store. Rejects when a file is gone. */
export async function chunkInput(
  context: RendererContext,
  { plan, index }: PlannedSite,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<ChunkInput> {
  const { organization, deployment, onPageError, allowTenantScripts, groups } = plan;
  const options = { deployment, onPageError, allowTenantScripts, groups };
  const slices = paths.map((path) => pageSlice(index, path, options));
  const pages = await retryUnavailable(context.retry, signal, () =>
    inParallel(slices, sourcesAtOnce, (slice) => inputOf(context, organization, slice)),
  );
  return { pages, options };
}

/** Deadline of a whole chunk, as a share of the deadline of one page. A chunk usually takes a tenth of it, and a slower one is repeated page by page. */
const togetherShare = 1 / 4;

/**
 * Renders and packs all pages of a chunk by one request to one child. Undefined if that failed, because of a page or of the machine: then they are
 * rendered one by one, with the rules for pages that fail. Rejects only with the reason of `signal`.
 */
export async function renderTogether(
  context: Pick<RendererContext, 'pool' | 'pageDeadlineMs' | 'logger'>,
  { organization, domain }: Pick<ExportPlan, 'organization' | 'domain'>,
  { pages, options }: ChunkInput,
  signal: AbortSignal,
): Promise<PackedSegment | undefined> {
  const request = {
    kind: 'chunk',
    domain,
    pages: pages.map(({ slice, source }) => ({ slice, source })),
    texts: Object.assign({}, ...pages.map(({ dependencies }) => dependencies)) as Record<string, string>,
    options,
  } as const;
  try {
    const deadlineMs = context.pageDeadlineMs * togetherShare;
    const response = await runChild(context.pool, request, { deadlineMs, affinity: organization, signal });
    return response;
  } catch (error) {
    signal.throwIfAborted();
    context.logger.info({ err: error }, 'the pages of a chunk are rendered one by one');
    return undefined;
  }
}

/**
 * Renders the pages of a chunk one after the other. A page that fails does not stop the others: with `onPageError: "report"` its files show its plain
 * source, else it is among the failed pages. Rejects when the children of all pages died.
 */
export async function renderPages(
  context: PageContext,
  organization: string,
  { pages, options }: ChunkInput,
  how: { alone: boolean; signal: AbortSignal },
): Promise<RenderedChunk> {
  const { onPageError } = options;
  const rendered: RenderedChunk = { files: [], pages: [], failedPages: [] };
  const fits = chunkRoom();
  /** Number of killed children, by the kind of their request. */
  const hung = { page: 0, 'failed-page': 0 };
  const render = async (request: PageRequest): Promise<PageOutcome> => {
    const isShort = hung[request.kind] >= mostHung;
    const onHung = (): void => void (hung[request.kind] += 1);
    return fits(await renderPage(context, request, { organization, ...how, isShort, onHung }));
  };
  let dead = 0;
  for (const { slice, source, dependencies } of pages) {
    const first = await render({ kind: 'page', slice, source, dependencies, options });
    const { reason = '', childDied = false } = first.kind === 'failed' ? first : {};
    if (childDied) dead += 1;
    const shown: PageOutcome =
      first.kind === 'failed' && onPageError === 'report'
        ? await render({ kind: 'failed-page', slice, source, reason })
        : first;
    if (shown.kind === 'failed') rendered.failedPages.push({ path: slice.path, reason: reason || shown.reason });
    else {
      rendered.files.push(...shown.files, ...(shown.pictures ?? []));
      rendered.pages.push(shown.page);
    }
  }
  if (dead === pages.length && dead > 1) throw new Error('every process that rendered its pages died');
  return rendered;
}

/**
 * Number of children that are killed at their whole deadline for one chunk. Further pages have a part of it, in which nearly all pages are rendered,
 * and one attempt. A page that takes over its child can let it sleep, and a chunk of such pages would keep a slot from other organizations for long.
 */
const mostHung = 6;
const shortShare = 1 / 10;

/**
 * Refuses pages that exceed the size limit of a chunk. The limit bounds the memory of the renderer, and of every reader of the sidecar with their
 * facts.
 */
function chunkRoom(): (outcome: PageOutcome) => PageOutcome {
  let bytes = mostRawBytes;
  let facts = mostSidecarJson;
  return (outcome) => {
    if (outcome.kind === 'failed') return outcome;
    const { files, pictures = [], page } = outcome;
    const { search, fullText, ...others } = page;
    for (const { body } of [...files, ...pictures, { body: search }, { body: fullText }]) bytes -= body.length;
    facts -= JSON.stringify(others).length;
    return bytes >= 0 && facts >= 0
      ? outcome
      : failed('it and the pages before it in its chunk are too large together');
  };
}

async function inputOf(context: RendererContext, organization: string, slice: PageSlice) {
  const source = await readBlob(context.objectStore, organization, slice.sha256);
  if (source === undefined) throw new Error(`the file ${slice.file} of the content version is gone`);
  const texts = await inParallel(slice.dependencies, sourcesAtOnce, async ({ path, sha256 }) => [
    path,
    await context.texts(organization, sha256),
  ]);
  return { slice, source, dependencies: Object.fromEntries(texts) as Record<string, string> };
}

type PageOutcome =
  | ({ kind: 'page' } & RenderedPageFiles)
  /**
   * `childDied`: the process died, because of the page or because no process can run here. False for a child that misbehaved, which shows that
   * processes can run.
   */
  | { kind: 'failed'; reason: string; childDied: boolean };

type PageRequest = Extract<RenderRequest, { kind: 'page' | 'failed-page' }>;

type PageContext = Pick<RendererContext, 'pool' | 'freshPool' | 'pageDeadlineMs'>;

const maxReason = 300;

/**
 * Renders one page in a child. If the child hangs or dies, the page is retried once in a new one, with the slower parser unless memory ran out; then
 * it has failed. `alone`: in a new child from the start. `isShort`: a tenth of the deadline, and no retry of a page that hangs. `onHung` is called for
 * each child that was killed at its deadline. Rejects only with the reason of `signal`.
 */
export async function renderPage(
  context: PageContext,
  request: PageRequest,
  options: { organization: string; alone: boolean; signal: AbortSignal; isShort?: boolean; onHung?: () => void },
): Promise<PageOutcome> {
  const { signal, isShort = false, onHung } = options;
  const deadlineMs = context.pageDeadlineMs * (isShort ? shortShare : 1);
  const run = (pool: ChildPool, asked: typeof request = request) =>
    runChild(pool, asked, { deadlineMs, affinity: options.organization, signal });
  let outcome = await attempt(
    () => (options.alone ? inFreshChild(context, (pool) => run(pool)) : run(context.pool)),
    signal,
  );
  if (outcome === 'hung') onHung?.();
  if (outcome === 'hung' && isShort)
    return failed(
      `it was not rendered within ${deadlineMs / 1000} s, after other pages of its chunk had taken too long`,
    );
  if (outcome === 'hung' || outcome instanceof ChildDied) {
    const isOutOfMemory = outcome instanceof ChildDied && outcome.isOutOfMemory;
    const again: typeof request =
      request.kind === 'page' && !isOutOfMemory ? { ...request, parser: 'micromark' } : request;
    outcome = await attempt(() => inFreshChild(context, (pool) => run(pool, again)), signal);
  }
  if (outcome === 'hung') {
    onHung?.();
    return failed(`it was not rendered within ${deadlineMs / 1000} s, twice`);
  }
  if (outcome instanceof ChildMisbehaved) return failed(`${outcome.message}, twice`);
  if (outcome instanceof ChildDied) return { ...failed(`${outcome.message}, twice`), childDied: true };
  return outcome;
}

type PageResponse = Extract<RenderResponse, { kind: 'page' }>;
/** Renders in a child, typed by the request. Rejects as `ChildPool.run` does. */
export function runChild<R extends RenderRequest>(
  pool: ChildPool,
  request: R,
  options: Omit<RunOptions<unknown>, 'expects'>,
): Promise<ResponseTo<R>> {
  return pool.run(request, { ...options, expects: expectedResponse(request) });
}

/** The rendered page, or the way in which its process ended. */
async function attempt(
  run: () => Promise<PageResponse>,
  signal: AbortSignal,
): Promise<PageOutcome | 'hung' | ChildDied> {
  try {
    const response = await run();
    return response;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ChildTimedOut) return 'hung';
    if (error instanceof ChildDied) return error;
    if (error instanceof ChildRequestFailed) return failed(`our renderer failed on it: ${error.message}`);
    throw error;
  }
}

/** Runs in a pool of one new child. */
export async function inFreshChild<T>(
  { freshPool }: Pick<RendererContext, 'freshPool'>,
  run: (pool: ChildPool) => Promise<T>,
): Promise<T> {
  const pool = freshPool();
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

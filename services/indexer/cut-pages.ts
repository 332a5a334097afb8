import type { ChildPool, RunOptions } from '#shared/docs/sandbox/child-pool.ts';
import { ChildDied } from '#shared/docs/sandbox/child.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import type { SearchScope } from '#shared/search/search-index.ts';
import { expectedCuts } from './expected-cuts.ts';
import type { CutPage, CutRequest, CutResponse, PageToRead } from './read-page.ts';

type Asked = Pick<RunOptions<unknown>, 'affinity' | 'signal'>;
type Context = { pool: Pick<ChildPool, 'run'>; logger: Logger };

/** Deadline of a page, in processor time. */
const pageDeadlineMs = 20_000;
/** A group of pages usually takes a hundredth of that; a slower one is repeated page by page. */
const togetherDeadlineMs = pageDeadlineMs / 4;

/** The child processes that read pages. Their parser is native code. */
export const pageReader = { entry: new URL('./read-page-child.ts', import.meta.url), addons: true };

/**
 * Reads pages in child processes, in order: all by one request, and one by one if that fails, because of a page or of the machine. Undefined, with a
 * line in the log, for a page that cannot be read. Rejects only with the reason of `signal`.
 */
export async function cutPages(
  context: Context,
  scope: SearchScope,
  pages: readonly PageToRead[],
  signal: AbortSignal,
): Promise<(CutPage | undefined)[]> {
  const { organization } = scope;
  const answer = await cutTogether(context, pages, { deadlineMs: togetherDeadlineMs, affinity: organization, signal });
  const cut: (CutPage | undefined)[] = [];
  for (const [at, page] of pages.entries()) {
    const one = answer?.[at] ?? (await cutAlone(context, page, { affinity: organization, signal }));
    const failed = 'failed' in one ? one.failed : undefined;
    if (failed !== undefined) {
      context.logger.warn(
        { reason: failed, file: page.file, ...scope },
        'a page could not be read; it is found by its title only',
      );
    }
    cut.push('failed' in one ? undefined : one);
  }
  return cut;
}

async function cutTogether(
  { pool, logger }: Context,
  pages: readonly PageToRead[],
  options: Asked & { deadlineMs: number },
): Promise<CutResponse | undefined> {
  if (pages.length === 1) return undefined;
  try {
    return await pool.run(requestOf(pages), { ...options, expects: expectedCuts(pages.length) });
  } catch (error) {
    options.signal?.throwIfAborted();
    logger.info({ err: error }, 'pages are read one by one');
    return undefined;
  }
}

/**
 * Retries a page whose child was killed or died in a new process, with the slower parser unless memory ran out. A page that fails without that fails
 * the same every time.
 */
async function cutAlone({ pool }: Context, page: PageToRead, options: Asked): Promise<CutResponse[number]> {
  let { parser } = page;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const run = { ...options, deadlineMs: pageDeadlineMs, expects: expectedCuts(1) };
      const [cut] = await pool.run(requestOf([{ ...page, parser }]), run);
      return cut ?? { failed: 'the child did not answer' };
    } catch (error) {
      options.signal?.throwIfAborted();
      if (attempt === 2) return { failed: messageOf(error) };
      if (!(error instanceof ChildDied && error.isOutOfMemory)) parser = 'micromark';
    }
  }
}

/** A request contains the shared dependencies of its pages once. */
function requestOf(pages: readonly PageToRead[]): CutRequest {
  return {
    pages: pages.map((page) => ({ ...page, dependencies: Object.keys(page.dependencies) })),
    texts: Object.assign({}, ...pages.map(({ dependencies }) => dependencies)) as Record<string, string>,
  };
}

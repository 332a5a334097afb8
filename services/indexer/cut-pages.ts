import type { ChildPool } from '#shared/docs/sandbox/child-pool.ts';
import { ChildDied, ChildTimedOut } from '#shared/docs/sandbox/child.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import type { SearchScope } from '#shared/search/search-index.ts';
import { expectedCuts } from './expected-cuts.ts';
import type { Patience } from './patience.ts';
import type { CutPage, CutRequest, CutResponse, PageToRead } from './read-page.ts';

type Asked = { organization: string; signal: AbortSignal };
type Context = {
  pool: Pick<ChildPool, 'run'>;
  logger: Logger;
  /** Shortens deadlines of organizations whose pages hang. Unlimited if it is missing. */
  patience?: Patience | undefined;
};

/** Deadline of a page, in processor time. */
const pageDeadlineMs = 20_000;
/** Deadline of a group of pages, which usually takes a hundredth of `pageDeadlineMs`. A slower group is repeated page by page. */
const togetherDeadlineMs = pageDeadlineMs / 4;
/** Deadline for pages of an organization whose other pages took too long. Nearly all pages take a hundredth of that. */
const shortDeadlineMs = 1_000;

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
  const answer = await cutTogether(context, pages, { organization, signal });
  const cut: (CutPage | undefined)[] = [];
  for (const [at, page] of pages.entries()) {
    const one = answer?.[at] ?? (await cutAlone(context, page, { organization, signal }));
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
  context: Context,
  pages: readonly PageToRead[],
  asked: Asked,
): Promise<CutResponse | undefined> {
  if (pages.length === 1) return undefined;
  try {
    return await askChild(context, pages, togetherDeadlineMs, asked);
  } catch (error) {
    asked.signal.throwIfAborted();
    context.logger.info({ err: error }, 'pages are read one by one');
    return undefined;
  }
}

/**
 * Reads one page. If its child dies or is killed, the page has a second attempt in a new process, with the slower parser unless memory ran out. A page
 * that fails in a child that lives would fail in the same way again.
 */
async function cutAlone(context: Context, page: PageToRead, asked: Asked): Promise<CutResponse[number]> {
  let { parser } = page;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const [one] = await askChild(context, [{ ...page, parser }], pageDeadlineMs, asked);
      return one ?? { failed: 'the child did not answer' };
    } catch (error) {
      asked.signal.throwIfAborted();
      const isLast = attempt === 2 || (error instanceof ChildTimedOut && isSpent(context, asked));
      if (isLast) return { failed: messageOf(error) };
      if (!(error instanceof ChildDied && error.isOutOfMemory)) parser = 'micromark';
    }
  }
}

const isSpent = ({ patience }: Context, { organization }: Asked): boolean => patience?.isSpent(organization) ?? false;

/** Rejects as `ChildPool.run` does. */
async function askChild(
  context: Context,
  pages: readonly PageToRead[],
  usualDeadlineMs: number,
  asked: Asked,
): Promise<CutResponse> {
  const { organization, signal } = asked;
  const deadlineMs = isSpent(context, asked) ? shortDeadlineMs : usualDeadlineMs;
  const expects = expectedCuts(pages.length);
  try {
    return await context.pool.run(requestOf(pages), { deadlineMs, affinity: organization, signal, expects });
  } catch (error) {
    if (error instanceof ChildTimedOut) context.patience?.lost(organization, deadlineMs);
    throw error;
  }
}

/** A request contains the shared dependencies of its pages once. */
function requestOf(pages: readonly PageToRead[]): CutRequest {
  return {
    pages: pages.map((page) => ({ ...page, dependencies: Object.keys(page.dependencies) })),
    texts: Object.assign({}, ...pages.map(({ dependencies }) => dependencies)) as Record<string, string>,
  };
}

import { expect, test } from 'vitest';
import { pageSlice } from '#shared/docs/render/page-slice.ts';
import { handleRenderRequest } from '#shared/docs/render/render-request.ts';
import { indexSite } from '#shared/docs/render/site-index.ts';
import { testOptions, testProject } from '#shared/docs/render/test-project.ts';
import { ChildDied, ChildRequestFailed, ChildTimedOut } from '#shared/docs/sandbox/child.ts';
import type { ChildPool } from '#shared/docs/sandbox/child-pool.ts';
import { localChildren } from '../../test/support/local-children.ts';
import { renderPage, renderPages } from './render-pages.ts';

const { model } = await testProject({ 'a.mdx': '# A' });
const slice = pageSlice(indexSite(model), 'a', testOptions);
const request = { kind: 'page', slice, source: '# A', dependencies: {}, options: testOptions } as const;
const page = await handleRenderRequest(request, () => Promise.reject(new Error('nobody answers')));
if (page.kind !== 'page') throw new Error('the renderer made no page');
const hung = new ChildTimedOut(10_000);
const died = new ChildDied(undefined, 'SIGKILL', 'out of memory');

/** Children that give these answers in turn; records the kind of each child. */
function children(...answers: unknown[]) {
  const asked: string[] = [];
  const parsers: unknown[] = [];
  const pool = (kind: string): ChildPool =>
    localChildren((sent) => {
      asked.push(kind);
      parsers.push((sent as { parser?: string }).parser);
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer;
    });
  return { asked, parsers, pool: pool('used'), freshPool: () => pool('fresh'), pageDeadlineMs: 10_000 };
}
const options = { organization: 'acme', alone: false, signal: new AbortController().signal };

test('a page that renders', async () => {
  const context = children(page);
  expect(await renderPage(context, request, options)).toEqual(page);
  expect(context.asked).toEqual(['used']);
});

test.each([
  ['hung', hung, 'micromark'],
  ['died', new ChildDied(undefined, 'SIGSEGV'), 'micromark'],
  ['died for want of memory', died, undefined],
])('a page whose child %s is parsed anew, by micromark unless memory was short', async (_, error, parser) => {
  const context = children(error, page);
  await renderPage(context, request, options);
  expect(context.parsers).toEqual([undefined, parser]);
});

test.each([
  ['hung', hung],
  ['died', died],
])('a page whose child %s is tried once more, in a fresh one', async (_, error) => {
  const context = children(error, page);
  expect(await renderPage(context, request, options)).toEqual(page);
  expect(context.asked).toEqual(['used', 'fresh']);
});

test.each([
  [hung, hung, 'it was not rendered within 10 s, twice', false],
  [hung, died, 'its process ended with signal SIGKILL: out of memory, twice', true],
])('the second time it has failed', async (first, second, reason, childDied) => {
  const context = children(first, second);
  expect(await renderPage(context, request, options)).toEqual({ kind: 'failed', reason, childDied });
});

test('our own fault fails the page and says so', async () => {
  const context = children(new ChildRequestFailed('TypeError', 'x is undefined'));
  expect(await renderPage(context, request, options)).toMatchObject({
    reason: 'our renderer failed on it: x is undefined',
  });
});

test('alone: in a fresh child from the start', async () => {
  const context = children(page);
  await renderPage(context, request, { ...options, alone: true });
  expect(context.asked).toEqual(['fresh']);
});

test('stopping is no failure of the page', async () => {
  const stop = new AbortController();
  stop.abort(new Error('The service stops.'));
  await expect(renderPage(children(died), request, { ...options, signal: stop.signal })).rejects.toThrow('stops');
});

/** A chunk of pages with these paths. */
const chunkOf = (paths: readonly string[], onPageError: 'fail' | 'report') => ({
  pages: paths.map((path) => ({ slice: { ...slice, path }, source: Buffer.from('# A'), dependencies: {} })),
  options: { ...testOptions, onPageError },
});
/** Children whose answers are not checked. */
function unchecked(handle: (request: unknown, deadlineMs: number) => unknown): ChildPool {
  const run: ChildPool['run'] = async (request, { deadlineMs }): Promise<never> => handle(request, deadlineMs) as never;
  return { run, drain: () => Promise.resolve(), close: () => Promise.resolve() };
}
const paths = Array.from({ length: 32 }, (_, at) => `p${at}`);

test.each([
  ['fail', 90_000],
  ['report', 180_000],
] as const)('a chunk whose children all hang gives its slot back soon (%s)', async (onPageError, mostMs) => {
  let takenMs = 0;
  const pool = unchecked((_sent, deadlineMs) => {
    takenMs += deadlineMs;
    throw hung;
  });
  const context = { pool, freshPool: () => pool, pageDeadlineMs: 10_000 };
  const { failedPages } = await renderPages(context, 'acme', chunkOf(paths, onPageError), options);
  expect(takenMs).toBeLessThan(mostMs);
  expect(failedPages.map(({ path }) => path)).toEqual(paths);
  expect(failedPages.at(0)?.reason).toBe('it was not rendered within 10 s, twice');
  expect(failedPages.at(-1)?.reason).toBe(
    'it was not rendered within 1 s, after other pages of its chunk had taken too long',
  );
});

test.each(['fail', 'report'] as const)(
  'pages beside many that hang are rendered, with a shorter deadline (%s)',
  async (onPageError) => {
    const good = paths.filter((_path, at) => at % 4 === 3);
    const pool = unchecked((sent) => {
      const { slice: asked, kind } = sent as { slice: { path: string }; kind: string };
      if (kind === 'page' && !good.includes(asked.path)) throw hung;
      const failure = kind === 'failed-page' ? { failure: 'it hangs' } : {};
      return { ...page, page: { ...page.page, path: asked.path, ...failure } };
    });
    const context = { pool, freshPool: () => pool, pageDeadlineMs: 10_000 };
    const { pages, failedPages } = await renderPages(context, 'acme', chunkOf(paths, onPageError), options);
    const rendered = pages.filter(({ failure }) => failure === undefined);
    expect(rendered.map(({ path }) => path)).toEqual(good);
    expect([...pages, ...failedPages]).toHaveLength(paths.length);
  },
);

test('a few pages whose children hang leave the others of their chunk as they are', async () => {
  const pool = unchecked((sent) => {
    const { slice: asked } = sent as { slice: { path: string } };
    if (['p3', 'p7'].includes(asked.path)) throw hung;
    return { ...page, page: { ...page.page, path: asked.path } };
  });
  const context = { pool, freshPool: () => pool, pageDeadlineMs: 10_000 };
  const { pages, failedPages } = await renderPages(context, 'acme', chunkOf(paths, 'fail'), options);
  expect(failedPages.map(({ path }) => path)).toEqual(['p3', 'p7']);
  expect(pages).toHaveLength(30);
});

test.each([
  ['pictures', { pictures: [{ path: 'x', body: Buffer.alloc(100 * 1024 * 1024) }] }, 2],
  ['texts', { page: { ...page.page, fullText: 'x'.repeat(100 * 1024 * 1024) } }, 2],
  ['links', { page: { ...page.page, links: ['x'.repeat(12 * 1024 * 1024)] } }, 2],
])('a chunk takes no more %s than its service has room for', async (_what, more, fitting) => {
  const pool = unchecked(() => ({ ...page, ...more }));
  const context = { pool, freshPool: () => pool, pageDeadlineMs: 10_000 };
  const { pages, failedPages } = await renderPages(context, 'acme', chunkOf(['a', 'b', 'c'], 'fail'), options);
  expect(pages).toHaveLength(fitting);
  expect(failedPages).toEqual([
    { path: 'c', reason: 'it and the pages before it in its chunk are too large together' },
  ]);
});

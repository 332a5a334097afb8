import { availableParallelism } from 'node:os';
import { renderChild, renderPage, runChild } from '#services/page-renderer/render-pages.ts';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import { analyzeProject, projectPool } from '#shared/docs/project/analyze-project.ts';
import type { CheckedPage } from '#shared/docs/render/checked-page.ts';
import type { PageInput } from '#shared/docs/render/render-page.ts';
import { childPool } from '#shared/docs/sandbox/child-pool.ts';
import { requireNativeParser } from '#shared/docs/sandbox/native-code.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { type Checker, checkRenderOptions } from './check-folder.ts';

const organization = 'checked';
const usualDeadlineMs = 30_000;
/** Pages of one request. More would leave processes without work at the end. */
const pagesOfRequest = 16;
const never = new AbortController().signal;

type Input = Pick<PageInput, 'slice' | 'source'> & { texts: PageInput['dependencies'] };

/** Options of a checker, for tests. `pageDeadlineMs` is processor time. */
type ChildCheckerOptions = { program?: typeof renderChild; pageDeadlineMs?: number };

/** Checks in child processes, as services do: a page that hangs or ends its process is a finding. Close it in the end. */
export function childChecker({
  program = renderChild,
  pageDeadlineMs = usualDeadlineMs,
}: ChildCheckerOptions = {}): Checker & { close: () => Promise<void> } {
  requireNativeParser();
  const slots = Math.min(4, availableParallelism());
  const reader = projectPool({ slots: 1 });
  const pool = childPool({ ...program, slots, warmSpares: 0 });
  const freshPool = () => childPool({ ...program, slots: 1, warmSpares: 0 });

  async function together(inputs: readonly Input[]): Promise<CheckedPage[]> {
    const pages = inputs.map(({ slice, source }) => ({ slice, source }));
    const texts = Object.assign({}, ...inputs.map((input) => input.texts)) as Record<string, string>;
    const request = { kind: 'checked', pages, texts, options: checkRenderOptions } as const;
    try {
      return (await runChild(pool, request, { deadlineMs: pageDeadlineMs, affinity: organization })).pages;
    } catch {
      // One of the pages is the reason: each is rendered alone, with the rules of an export.
      return await inParallel(inputs, 1, alone);
    }
  }

  async function alone(input: Input): Promise<CheckedPage> {
    const { slice, source, texts: dependencies } = input;
    const request = { kind: 'page', slice, source, dependencies, options: checkRenderOptions } as const;
    const outcome = await renderPage({ pool, freshPool, pageDeadlineMs }, request, {
      ...{ organization, alone: false, signal: never },
    });
    const none = { links: [], external: [], media: [] };
    if (outcome.kind === 'failed') {
      const diagnostics = [notRendered(slice.file, `${outcome.reason}.`)];
      return { path: slice.path, anchors: [], diagnostics, hasFeed: false, htmlBytes: 0, seen: none };
    }
    // The page can be rendered after all, so the request for several pages had another reason, such as the memory of them all.
    const request2 = {
      kind: 'checked',
      pages: [{ slice, source }],
      texts: dependencies,
      options: checkRenderOptions,
    } as const;
    const again = await runChild(pool, request2, { deadlineMs: pageDeadlineMs, affinity: organization }).catch(
      () => undefined,
    );
    const { path, anchors, diagnostics, feedItems } = outcome.page;
    return again?.pages[0] ?? { path, anchors, diagnostics, hasFeed: feedItems.length > 0, htmlBytes: 0, seen: none };
  }

  return {
    known: new Map(),
    read: async (project, keep) => (await analyzeProject(reader, project, { organization, keep })).project,
    async render(inputs) {
      const batches: Input[][] = [];
      for (let at = 0; at < inputs.length; at += pagesOfRequest) batches.push(inputs.slice(at, at + pagesOfRequest));
      return (await inParallel(batches, slots, together)).flat();
    },
    async close() {
      await Promise.all([reader.close(), pool.close()]);
    },
  };
}

const notRendered = (file: string, reason: string): Diagnostic => ({
  severity: 'error',
  code: 'page-not-rendered',
  message: `The page cannot be rendered: ${reason}`,
  file,
});

import { afterAll, expect, test } from 'vitest';
import { ChildDied } from '#shared/docs/sandbox/child.ts';
import { childPool } from '#shared/docs/sandbox/child-pool.ts';
import { withSnapshot } from '#shared/docs/sandbox/child-snapshot.ts';
import { pageSlice } from '#shared/docs/render/page-slice.ts';
import { indexSite } from '#shared/docs/render/site-index.ts';
import { testOptions, testProject } from '#shared/docs/render/test-project.ts';
import { renderChild } from './render-pages.ts';
import { renderPage, runChild } from './render-pages.ts';

const mustWork = {
  info: () => undefined,
  warn(line: string) {
    throw new Error(line);
  },
};
const program = await withSnapshot(renderChild, mustWork);
const pool = childPool({ ...program, slots: 1, warmSpares: 0 });
afterAll(() => pool.close());

/**
 * Crashes the native parser with an expression that is nested too deep. The limits, which look at lines, miss it, because they take the text after
 * three backticks for a block of code.
 */
const deadly = `{\n\`\`\`\n\`, ${'['.repeat(20_000)}1${']'.repeat(20_000)}\n}\n`;

test('a page that ends the process of the native parser is shown as the other one sees it', async () => {
  const { model } = await testProject({ 'page.mdx': 'x' });
  const slice = pageSlice(indexSite(model), 'page', testOptions);
  const request = { kind: 'page', slice, source: deadly, dependencies: {}, options: testOptions } as const;
  await expect(runChild(pool, request, { deadlineMs: 20_000, affinity: 'acme' })).rejects.toThrow(ChildDied);
  const freshPool = () => childPool({ ...program, slots: 1, warmSpares: 0, requestsPerChild: 1 });
  const run = { organization: 'acme', alone: false, signal: new AbortController().signal };
  const outcome = await renderPage({ pool, freshPool, pageDeadlineMs: 20_000 }, request, run);
  expect(outcome).toMatchObject({ kind: 'page', page: { diagnostics: [{ code: 'mdx-repaired' }] } });
});

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { indexSite } from '#shared/docs/render/site-index.ts';
import { renderPage } from '#shared/docs/render/render-page.ts';
import { testOptions } from '#shared/docs/render/test-project.ts';
import { corpusFolder, localProject } from '../support/docs-projects.ts';
import { publishedProject } from '../support/published-project.ts';

describe.skipIf(!existsSync(corpusFolder))('real projects (skipped where ../shared/corpus is absent)', () => {
  test.each(['turso-docs', 'fastmcp'])(
    '%s: every page renders',
    async (name) => {
      const { model, pageInput } = await publishedProject(await localProject(join(corpusFolder, name)));
      const index = indexSite(model);
      expect(index.exported.size).toBeGreaterThan(200);
      for (const path of index.exported) {
        const { page } = renderPage(await pageInput(index, path, testOptions));
        expect(page.path).toBe(path);
      }
    },
    120_000,
  );
});

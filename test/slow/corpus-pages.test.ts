import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { readDocsProject } from '#shared/docs/project/read-docs-project.ts';
import { pageSlice } from '#shared/docs/render/page-slice.ts';
import { indexSite } from '#shared/docs/render/site-index.ts';
import { renderPage } from '#shared/docs/render/render-page.ts';
import { testOptions } from '#shared/docs/render/test-project.ts';

const corpus = new URL('../../../shared/corpus/', import.meta.url).pathname;

function projectIn(folder: string) {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
  const read = (path: string) => readFileSync(join(folder, path));
  const files = paths.map((path) => ({ path, sha256: sha256Of(read(path)), sizeBytes: read(path).length }));
  return { files, read };
}

describe.skipIf(!existsSync(corpus))('real projects (skipped where ../shared/corpus is absent)', () => {
  test.each(['turso-docs', 'fastmcp'])(
    '%s: every page renders',
    async (name) => {
      const { files, read } = projectIn(join(corpus, name));
      const project = await readDocsProject({ files, read: (path) => Promise.resolve(read(path)) });
      const index = indexSite({ ...project, contentVersion: `cv_${'0'.repeat(32)}` });
      expect(index.exported.size).toBeGreaterThan(200);
      for (const path of index.exported) {
        const slice = pageSlice(index, path, testOptions);
        const dependencies = Object.fromEntries(
          slice.dependencies.map((file) => [file.path, read(file.path).toString()]),
        );
        const { page } = renderPage({ slice, source: read(slice.file), dependencies, options: testOptions });
        expect(page.path).toBe(path);
      }
    },
    120_000,
  );
});

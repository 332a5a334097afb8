import { readDocsProject } from '#shared/docs/project/read-docs-project.ts';
import { pageFile } from '#shared/docs/render/bundle-paths.ts';
import { pageSlice, type RenderOptions } from '#shared/docs/render/page-slice.ts';
import { renderPage } from '#shared/docs/render/render-page.ts';
import { exportedPages, indexSite } from '#shared/docs/render/site-index.ts';
import { localProject } from './docs-projects.ts';

/** The HTML of every page of a project in an export for all groups, by its file. Pages that exceed a limit are left out. */
export async function exportedHtml(folder: string): Promise<Map<string, string>> {
  const files = await localProject(folder);
  const made = new Map<string, string>();
  const project = await readDocsProject(files, ({ sha256, text }) => Promise.resolve(void made.set(sha256, text)));
  const model = { ...project, contentVersion: `cv_${'0'.repeat(32)}` };
  const groups = [...new Set(model.pages.flatMap((page) => page.groups))];
  const index = indexSite(model, exportedPages(model, groups));
  const options: RenderOptions = { groups, onPageError: 'fail', allowTenantScripts: true, deployment: 'client-hosted' };
  const textOf = async ({ path, sha256 }: { path: string; sha256: string }): Promise<string> =>
    made.get(sha256) ?? Buffer.from(await files.read(path, Number.MAX_SAFE_INTEGER)).toString();
  const pages = new Map<string, string>();
  for (const path of index.exported) {
    const slice = pageSlice(index, path, options);
    const texts = slice.dependencies.map(async (file) => [file.path, await textOf(file)] as const);
    const dependencies = Object.fromEntries(await Promise.all(texts));
    const source = await textOf({ path: slice.file, sha256: slice.sha256 });
    try {
      const rendered = renderPage({ slice, source, dependencies, options });
      pages.set(pageFile(path), rendered.files[0]?.body ?? '');
    } catch {
      // The page exceeds a limit, and is shown as its source.
    }
  }
  return pages;
}

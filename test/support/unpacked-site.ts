import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RenderedPage } from '#shared/contracts/stored-objects.ts';
import type { SiteModel } from '#shared/docs/project/site-model.ts';
import type { RenderedFile } from '#shared/docs/render/bundle-paths.ts';
import { pageSlice } from '#shared/docs/render/page-slice.ts';
import { renderPage } from '#shared/docs/render/render-page.ts';
import { renderSite } from '#shared/docs/render/site/render-site.ts';
import { filesOfSite, indexSite } from '#shared/docs/render/site-index.ts';
import { closingFiles, testOptions } from '#shared/docs/render/test-project.ts';

/**
 * Renders the pages that everybody may read in this process, and writes the files of a bundle into the folder, like an unpacked one.
 * Returns what is known of the pages. `read`: bytes of a file of the project. `made`: files that
 * publication made, by hash.
 */
export async function unpackedSite(
  model: SiteModel,
  read: (path: string) => Promise<Uint8Array>,
  folder: string,
  made: ReadonlyMap<string, string> = new Map(),
): Promise<RenderedPage[]> {
  const write = ({ path, body }: RenderedFile) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), body);
  };
  const index = indexSite(model);
  const site = renderSite(model, testOptions);
  const files: RenderedFile[] = [];
  for (const { path } of filesOfSite(model).files) files.push({ path, body: await read(path) });
  const pages: RenderedPage[] = [];
  for (const path of index.exported) {
    const slice = pageSlice(index, path, testOptions);
    const dependencies: Record<string, string> = {};
    for (const { path, sha256 } of slice.dependencies)
      dependencies[path] = made.get(sha256) ?? Buffer.from(await read(path)).toString();
    const source = made.get(slice.sha256) ?? (await read(slice.file));
    const rendered = renderPage({ slice, source, dependencies, options: testOptions });
    files.push(...rendered.files);
    pages.push(rendered.page);
  }
  for (const file of [...site, ...files, ...(await closingFiles(model, pages, { domain: 'test', site, files }))])
    write(file);
  return pages;
}

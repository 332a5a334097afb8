import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RenderedPage } from '#shared/contracts/stored-objects.ts';
import type { RenderedFile, RenderedText } from '#shared/docs/render/bundle-paths.ts';
import { publishedDescription } from '#shared/docs/reference/published/published-description.ts';
import { drawCard } from '#shared/docs/render/card/draw-card.ts';
import { leftOutOperations } from '#shared/docs/render/left-out-operations.ts';
import { renderPage } from '#shared/docs/render/render-page.ts';
import { renderSite } from '#shared/docs/render/site/render-site.ts';
import { filesOfSite, indexSite } from '#shared/docs/render/site-index.ts';
import { closingFiles, testOptions } from '#shared/docs/render/test-project.ts';
import type { PublishedProject } from './published-project.ts';

/**
 * Renders, in this process, the pages that everybody may read, and writes the files of a bundle into the folder, like an unpacked one. Returns the
 * rendered pages.
 */
export async function unpackedSite(
  { model, read, pageInput }: PublishedProject,
  folder: string,
): Promise<RenderedPage[]> {
  const write = ({ path, body }: RenderedFile | RenderedText) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), body);
  };
  const index = indexSite(model);
  const site = renderSite(model, testOptions);
  const files: (RenderedFile | RenderedText)[] = [];
  const leftOut = leftOutOperations(model, []);
  for (const file of filesOfSite(model).files) {
    const body = await read(file);
    const names = leftOut.get(file.path);
    const readers = names && { groups: [], leftOut: names };
    files.push({ path: file.path, body: (readers && publishedDescription(body, file.path, readers)) ?? body });
  }
  const pages: RenderedPage[] = [];
  for (const path of index.exported) {
    const rendered = renderPage(await pageInput(index, path, testOptions));
    files.push(...rendered.files, ...(rendered.pictures ?? []));
    if (rendered.card) files.push({ path: rendered.card.path, body: await drawCard(rendered.card.svg) });
    pages.push(rendered.page);
  }
  for (const file of [...site, ...files, ...(await closingFiles(model, pages, { domain: 'test', site, files }))])
    write(file);
  return pages;
}

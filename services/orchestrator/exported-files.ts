import type { FileEntry, SiteModel } from '#shared/docs-project/site-model.ts';
import { pageFile } from '#shared/render/bundle-href.ts';

/** Everything of ours is below it. */
const ownFolder = '_bindery/';

/**
 * Files of the project that the bundle has as they are: images and other assets, style sheets, API specifications, and scripts where they are allowed.
 * A file in the place of a page's HTML or Markdown is left out: a path may be in a bundle once, and the page is what readers ask for. Pure.
 */
export function exportedFiles(
  model: Pick<SiteModel, 'assets' | 'styles' | 'scripts' | 'specs'>,
  exportedPages: readonly string[],
  allowTenantScripts: boolean,
): FileEntry[] {
  const taken = new Set(exportedPages.flatMap((path) => [pageFile(path), `${path}.md`]));
  const files = new Map<string, FileEntry>();
  for (const file of [...model.assets, ...model.styles, ...model.specs, ...(allowTenantScripts ? model.scripts : [])]) {
    if (!taken.has(file.path) && !file.path.startsWith(ownFolder)) files.set(file.path, file);
  }
  return [...files.values()];
}

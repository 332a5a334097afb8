import type { SiteModel } from '#shared/docs-project/site-model.ts';

/**
 * Paths of the pages that an export has, sorted as in the model: those without groups and those of the named groups; of them only the
 * selected ones where there is a selection. Unknown names in the selection are ignored: the gateway refuses them before.
 */
export function exportedPages(model: SiteModel, groups: readonly string[], selection?: readonly string[]): string[] {
  const wanted = selection && new Set(selection);
  return model.pages
    .filter((page) => page.groups.length === 0 || page.groups.some((group) => groups.includes(group)))
    .filter((page) => wanted === undefined || wanted.has(page.path))
    .map((page) => page.path);
}

import type { SiteModel } from '#shared/docs/project/site-model.ts';

/**
 * Operations, channels and schemas that are shown only on pages of groups that were not requested: their names, sorted, by the path of their API
 * description. A description without any has an empty list. Pure.
 */
export function leftOutOperations(model: SiteModel, groups: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>(model.specs.map(({ path }) => [path, []]));
  const isShown = new Map<string, boolean>();
  for (const page of model.pages) {
    if (page.reference === undefined) continue;
    const mayBeRead = page.groups.length === 0 || page.groups.some((group) => groups.includes(group));
    isShown.set(page.reference, isShown.get(page.reference) === true || mayBeRead);
  }
  for (const [reference, shown] of isShown) {
    const hash = reference.indexOf('#');
    if (!shown) found.get(reference.slice(0, hash))?.push(reference.slice(hash + 1));
  }
  for (const names of found.values()) names.sort();
  return found;
}

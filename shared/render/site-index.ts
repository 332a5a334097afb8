import type { FileEntry, PageEntry, SiteModel } from '#shared/docs-project/site-model.ts';
import { exportedPages } from './exported-pages.ts';
import { type NavigationPlace, navigationPlaces, type Sidebar } from './navigation-places.ts';
import { redirectTargets } from './redirect-targets.ts';

/** The site model in maps, for many slices. Holds references into the model, which must not change any more. */
export type SiteIndex = {
  model: SiteModel;
  pages: ReadonlyMap<string, PageEntry>;
  /** Pages that the export has; links to others are broken in it. */
  exported: ReadonlySet<string>;
  /** Project files that are in the bundle as they are. */
  files: ReadonlySet<string>;
  dependencies: ReadonlyMap<string, FileEntry & { dependencies?: string[] }>;
  /** Redirect source → page path or https address, loops left out. */
  redirects: ReadonlyMap<string, string>;
  places: ReadonlyMap<string, NavigationPlace>;
  /** The sidebar of pages that are nowhere in the navigation. */
  defaultPlace: NavigationPlace;
  sidebars: readonly Sidebar[];
};

/** Once per job. `exported`: the paths of the plan's pages; without it all pages that need no group. */
export function indexSite(model: SiteModel, exported: Iterable<string> = exportedPages(model, [])): SiteIndex {
  const exportedPaths = new Set(exported);
  const pages = new Map(model.pages.map((page) => [page.path, page]));
  const isShown = (path: string) => exportedPaths.has(path) && pages.get(path)?.hidden === false;
  const navigation = navigationPlaces(model.navigation, pages, isShown);
  const carried = [...model.assets, ...model.styles, ...model.scripts, ...model.specs];
  return {
    model,
    pages,
    exported: exportedPaths,
    files: new Set(carried.map((file) => file.path)),
    dependencies: new Map([...model.specs, ...model.snippets].map((file) => [file.path, file])),
    redirects: redirectTargets(model.redirects, (path) => exportedPaths.has(path)),
    ...navigation,
  };
}

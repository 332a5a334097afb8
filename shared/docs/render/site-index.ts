import { type BundledFiles, bundledFiles } from '#shared/docs/project/bundled-files.ts';
import { importedFiles, type ImportedFiles } from '#shared/docs/project/imported-files.ts';
import type { PictureSize } from '#shared/docs/project/picture-size.ts';
import type { FileEntry, PageEntry, SiteModel } from '#shared/docs/project/site-model.ts';
import { pageFile, namedPage, pagePathOfAddress } from './bundle-paths.ts';
import { type NavigationPlace, navigationPlaces, type Sidebar } from './navigation-places.ts';
import { decoded } from '#shared/docs/project/url-policy.ts';
import { stemOf } from '#shared/docs/reference/remote-files.ts';
import { type SiteRedirects, siteRedirects } from './redirects.ts';
import { usedFiles } from './used-files.ts';

/** The site model in maps, for many slices. It refers to the model, which must not change afterwards. */
export type SiteIndex = {
  model: SiteModel;
  pages: ReadonlyMap<string, PageEntry>;
  /** Pages of the export. Links to other pages are broken in the export. */
  exported: ReadonlySet<string>;
  /** Project files of the bundle by path, in the order of the model. */
  files: ReadonlyMap<string, FileEntry>;
  /** Sizes of the pictures among the files. */
  pictures: ReadonlyMap<string, PictureSize>;
  /** The copies of files that the project names by address, by their paths without extension. */
  copies: ReadonlyMap<string, string>;
  /** Files that pages need, by name. */
  dependencies: ImportedFiles;
  /** Folder that has pages but no index page → the first page in it, in the order of the navigation. */
  folders: ReadonlyMap<string, string>;
  redirects: SiteRedirects;
  places: ReadonlyMap<string, NavigationPlace>;
  /** Place of pages that are not in the navigation. */
  defaultPlace: NavigationPlace;
  sidebars: readonly Sidebar[];
  /**
   * Language codes of the navigation. The default is the first one, unless another is marked as default; it applies to pages outside the navigation.
   */
  languages: ReadonlySet<string>;
  defaultLanguage: string | undefined;
};

/** Indexes the model, once per job. `exported`: the paths of the plan's pages; by default all pages that need no group. */
export function indexSite(model: SiteModel, exported: Iterable<string> = exportedPages(model, [])): SiteIndex {
  const exportedPaths = new Set(exported);
  const pages = new Map(model.pages.map((page) => [page.path, page]));
  return indexWith(model, pages, exportedPaths, shownNavigation(model, pages, exportedPaths));
}

/**
 * Indexes all pages of a model for readers of all these groups. It takes over from `earlier`, the index of an earlier version of the site, what only
 * depends on objects that both models have: the maps of pages, if they have the same list, and their places, if they have the same navigation.
 */
export function indexAgain(model: SiteModel, groups: readonly string[], earlier: SiteIndex | undefined): SiteIndex {
  if (earlier?.model.pages !== model.pages) return indexSite(model, exportedPages(model, groups));
  takeNames(model, earlier.model);
  const listed = exportedPages(model, groups);
  const hasSame = listed.length === earlier.exported.size && listed.every((path) => earlier.exported.has(path));
  if (!hasSame) return indexSite(model, listed);
  const { pages, exported } = earlier;
  const { places, defaultPlace, sidebars } =
    earlier.model.navigation === model.navigation ? earlier : shownNavigation(model, pages, exported);
  return indexWith(model, pages, exported, { places, defaultPlace, sidebars });
}

function indexWith(
  model: SiteModel,
  pages: SiteIndex['pages'],
  exportedPaths: SiteIndex['exported'],
  navigation: Pick<SiteIndex, 'places' | 'defaultPlace' | 'sidebars'>,
): SiteIndex {
  const { files } = filesOfSite(model, exportedPaths);
  return {
    model,
    pages,
    exported: exportedPaths,
    files: new Map(files.map((file) => [file.path, file])),
    pictures: new Map(model.assets.flatMap(({ path, picture }) => (picture === undefined ? [] : [[path, picture]]))),
    copies: new Map(files.flatMap(({ path }) => copyAt(path))),
    dependencies: importedFiles(model),
    folders: foldersOf(navigation.places.keys(), exportedPaths),
    redirects: siteRedirects(model.redirects, (path) => exportedPaths.has(path)),
    ...navigation,
    ...languagesOf(model.navigation),
  };
}

function copyAt(path: string): [stem: string, path: string][] {
  const stem = stemOf(path);
  return stem === undefined ? [] : [[stem, path]];
}

/** The places of the pages of an export in the navigation. */
export function shownNavigation(
  { navigation }: Pick<SiteModel, 'navigation'>,
  pages: ReadonlyMap<string, PageEntry>,
  exported: ReadonlySet<string>,
): ReturnType<typeof navigationPlaces> {
  return navigationPlaces(navigation, pages, (path) => exported.has(path) && pages.get(path)?.hidden === false);
}

function foldersOf(ordered: Iterable<string>, pages: ReadonlySet<string>): Map<string, string> {
  const folders = new Map<string, string>();
  for (const path of ordered) {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const folder = path.slice(0, end);
      if (folders.has(folder)) break;
      if (namedPage(folder, pages) === undefined) folders.set(folder, path);
    }
  }
  return folders;
}

function languagesOf(navigation: SiteModel['navigation']): Pick<SiteIndex, 'languages' | 'defaultLanguage'> {
  const languages = navigation.filter((node) => node.kind === 'division' && node.division === 'language');
  const codes = languages.flatMap((node) => ('title' in node && node.title !== undefined ? [node.title] : []));
  const preset = languages.find((node) => 'isDefault' in node && node.isDefault);
  return {
    languages: new Set(codes),
    defaultLanguage: (preset && 'title' in preset ? preset.title : undefined) ?? codes[0],
  };
}

/**
 * Pages and files of the project that can be in a bundle, by default with all pages. Models that were published earlier may have pages and files that
 * cannot.
 */
export function filesOfSite(
  model: SiteModel,
  exported?: ReadonlySet<string>,
): Pick<BundledFiles<PageEntry, FileEntry>, 'pages' | 'files'> {
  const hasAll = exported === undefined || model.pages.every(({ path }) => exported.has(path));
  if (!hasAll) return namesOfSite(model, exported);
  const known = wholeSites.get(model) ?? namesOfSite(model);
  wholeSites.set(model, known);
  return known;
}

/** Cache, because each name costs a few microseconds, and a model is used several times. */
const wholeSites = new WeakMap<SiteModel, Pick<BundledFiles<PageEntry, FileEntry>, 'pages' | 'files'>>();

/** Assigning 50,000 names takes a tenth of a second, so a model whose files have the same names as those of an earlier one takes them over. */
function takeNames(model: SiteModel, earlier: SiteModel): void {
  const known = wholeSites.get(earlier);
  const before = new Map(allFiles(earlier).map((file) => [file.path, file]));
  const now = new Map(allFiles(model).map((file) => [file.path, file]));
  const hasSame = before.size === now.size && [...before.keys()].every((path) => now.has(path));
  if (known === undefined || known.pages.length !== model.pages.length || !hasSame) return;
  wholeSites.set(model, { pages: model.pages, files: known.files.flatMap(({ path }) => now.get(path) ?? []) });
}

const allFiles = ({ assets, styles, scripts, specs }: SiteModel): FileEntry[] => [
  ...assets,
  ...styles,
  ...scripts,
  ...specs,
];

/** Returns the pages and files of `filesOfSite`, and the names that they take in the bundle. */
export function namesOfSite(model: SiteModel, exported?: ReadonlySet<string>): BundledFiles<PageEntry, FileEntry> {
  const isUsed = exported === undefined ? () => true : usedFiles(model, exported);
  const files = allFiles(model).filter(isUsed);
  const pages = model.pages.filter(({ path }) => exported?.has(path) ?? true);
  return bundledFiles(pages, [...new Map(files.map((file) => [file.path, file])).values()]);
}

/**
 * Paths of the pages of an export, in the order of the model: pages without groups and pages of the named groups. A selection restricts them further.
 * Unknown names in the selection are ignored, because the gateway has already refused them.
 */
export function exportedPages(model: SiteModel, groups: readonly string[], selection?: readonly string[]): string[] {
  const wanted = selection && new Set(selection);
  return filesOfSite(model)
    .pages.filter((page) => page.groups.length === 0 || page.groups.some((group) => groups.includes(group)))
    .filter((page) => wanted === undefined || wanted.has(page.path))
    .map((page) => page.path);
}

/**
 * Resolves a `/`-rooted target of a page: the bundle file of a page or asset, an https address from a redirect, or null. A page may be named as
 * `/guides/x`, `/guides/x.mdx`, `/guides` for `guides/index`, or through a redirect.
 */
export function resolveTarget(index: SiteIndex, target: string): string | null {
  const path = pagePathOfAddress(decoded(target));
  if (index.files.has(path)) return path;
  const page = namedPage(path, index.exported);
  if (page !== undefined) return pageFile(page);
  if (path.endsWith('.md') && index.exported.has(path.slice(0, -3))) return path;
  const redirected = index.redirects.endOf(`/${path}`);
  if (redirected === undefined) return null;
  if (redirected.startsWith('https:')) return redirected;
  const [to = '', anchor] = redirected.split('#');
  return pageFile(to) + (anchor === undefined ? '' : `#${anchor}`);
}

/** The first page of the folder that a target names; undefined if the target is a page, file or redirect. */
export function folderPage(index: SiteIndex, target: string): string | undefined {
  return resolveTarget(index, target) === null ? index.folders.get(pagePathOfAddress(decoded(target))) : undefined;
}

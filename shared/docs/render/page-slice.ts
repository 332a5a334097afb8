import type { ExportOptions } from '#shared/contracts/stored-objects.ts';
import { isJsonObject, listOf, textOf, withoutUndefined } from '#shared/docs/project/json-values.ts';
import { reachedDigests, reachedFiles, reachedTargets } from '#shared/docs/project/imported-files.ts';
import type { PictureSize } from '#shared/docs/project/picture-size.ts';
import { fileOfSetting } from '#shared/docs/project/project-files.ts';
import { type PageMenu, readPageMenu } from '#shared/docs/project/read-page-menu.ts';
import type { PageEntry, SiteSettings } from '#shared/docs/project/site-model.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { isRemoteStem, remoteAddress, remoteStem } from '#shared/docs/reference/remote-files.ts';
import { type PageReferenceInput, pageReferenceInput } from '#shared/docs/reference/page-reference.ts';
import { type PlaygroundSettings, playgroundSettings } from '#shared/docs/reference/playground-settings.ts';
import { pageFile, siteAddress, siteBase, withoutBase } from './bundle-paths.ts';
import { type CardStyle, cardStyle } from './card/card-style.ts';
import type { DivisionChoice, NavigationPlace, PlaceGroup } from './navigation-places.ts';
import { classifyUrl, isInlineImage } from '#shared/docs/project/url-policy.ts';
import { folderPage, resolveTarget, type SiteIndex } from './site-index.ts';

/** Path and title of a page, as a link to it needs them. */
type PageLink = { path: string; title: string };

/** Everything in the site model that the bytes of one page may depend on, and nothing else. Plain JSON of a few kilobytes. */
export type PageSlice = {
  path: string;
  file: string;
  /** Hash of the page's source. */
  sha256: string;
  title: string;
  description?: string;
  tag?: string;
  language?: string;
  /** Language and version under which the search lists the page; absent on pages that belong to all. */
  searchLanguage?: string;
  searchVersion?: string;
  deprecated: boolean;
  noindex: boolean;
  /** Absolute address without extension, if the project states the address of its site. */
  canonical?: string;
  frontmatter: PageEntry['frontmatter'];
  settings: PageChrome;
  sidebar: string;
  choices: DivisionChoice[];
  /** Actions that the page's menu offers. */
  menu?: PageMenu;
  /** The same page in all languages of the site, itself included, the default language first. Empty if there are no others, or no site address. */
  translations: { language: string; path: string }[];
  groups: PlaceGroup[];
  /** Pages of the innermost group (at most 16 around this one): the sidebar of readers without scripts. */
  siblings: PageLink[];
  previous?: PageLink;
  next?: PageLink;
  /** Internal target, with a slash in front → file in the bundle or https address; null if there is no such page or file. */
  links: Record<string, string | null>;
  /** Targets among these links that are folders without a page of their own → the first page in the folder. */
  folders: Record<string, string>;
  /** Sizes of the pictures among the linked files. */
  pictures: Record<string, PictureSize>;
  /** Files whose text the renderer gets with the source, each with the hash of that text. */
  dependencies: { path: string; sha256: string }[];
  /** Present on a page that describes an operation, a schema or a channel. */
  reference?: PageReferenceInput;
  /** Settings of the playground in which a reader tries the operation of the page; absent if it has none. */
  playground?: PlaygroundSettings;
  /** The project's own style sheets and scripts, in order. The scripts are empty where tenants' scripts are not allowed. */
  styles: string[];
  scripts: string[];
};

const maxSiblings = 16;

/** Throws if the model has no page with this path. */
export function pageSlice(index: SiteIndex, path: string, options: RenderOptions): PageSlice {
  const page = pageAt(index, path);
  const needed = reachedFiles(index.dependencies, page.dependencies).sort((a, b) => (a.path < b.path ? -1 : 1));
  const dependencies = needed.map((file) => ({ path: file.path, sha256: file.sha256 }));
  return { ...ownSlice(index, page, reachedTargets(index.dependencies, page), options), dependencies };
}

/** Everything that decides a page's slice, with digests in place of everything that the page shares with others. */
export function sliceInputs(index: SiteIndex, path: string, options: RenderOptions): object {
  const page = pageAt(index, path);
  const { settings: _, ...slice } = ownSlice(index, page, page.linkTargets, options);
  const chrome = chromeDigests.get(index) ?? sha256Of(JSON.stringify(pageChrome(index)));
  chromeDigests.set(index, chrome);
  return { slice, chrome, imported: importedDigest(index, page) };
}

/**
 * Everything of a model that decides slices, except the entry of the page and the files that it imports. If it is equal for two models, their slices
 * are equal for all pages whose entries and imports are equal.
 */
export function sharedInputs(
  index: SiteIndex,
  { allowTenantScripts }: Pick<RenderOptions, 'allowTenantScripts'>,
): Record<
  'settings' | 'navigation' | 'redirects' | 'styles' | 'scripts' | 'pages' | 'exported' | 'files' | 'pictures',
  unknown
> {
  const { settings, navigation, redirects, pages, styles, scripts } = index.model;
  return {
    settings,
    navigation,
    redirects,
    styles: styles.map(({ path }) => path),
    scripts: allowTenantScripts ? scripts.map(({ path }) => path) : [],
    pages: pages.map(({ path, title, sidebarTitle, icon, tag, hidden }) => [
      path,
      title,
      sidebarTitle,
      icon,
      tag,
      hidden,
    ]),
    exported: [...index.exported],
    files: [...index.files.keys()],
    pictures: [...index.pictures],
  };
}

/** Digest of the files that a page imports, directly or indirectly, and of the places to which their links lead. */
export function importedDigest(index: SiteIndex, { dependencies }: Pick<PageEntry, 'dependencies'>): string {
  const digestOf = importDigests.get(index) ?? importDigestsOf(index);
  importDigests.set(index, digestOf);
  return digestOf(dependencies);
}

const chromeDigests = new WeakMap<SiteIndex, string>();
const importDigests = new WeakMap<SiteIndex, ReturnType<typeof reachedDigests>>();

const importDigestsOf = (index: SiteIndex): ReturnType<typeof reachedDigests> =>
  reachedDigests(index.dependencies, ({ path, sha256, linkTargets = [] }) =>
    JSON.stringify([path, sha256, linksTo(index, linkTargets)]),
  );

function pageAt(index: SiteIndex, path: string): PageEntry {
  const page = index.pages.get(path);
  if (page) return page;
  throw new Error(`there is no page ${JSON.stringify(path)} in content version ${index.model.contentVersion}`);
}

/** Links to these targets, in the form of a slice. */
function linksTo(index: SiteIndex, written: Iterable<string>): Pick<PageSlice, 'links' | 'folders' | 'pictures'> {
  const siteUrl = siteBase(index.model.settings);
  const targets: string[] = [];
  const copies: [string, string][] = [];
  for (const target of written) {
    const copy = index.copies.get(target.slice(1));
    if (copy !== undefined) copies.push([target, copy]);
    else if (!isRemoteStem(target)) targets.push(...otherNames(target, siteUrl));
  }
  const links = Object.fromEntries([
    ...targets.map((target) => [target, resolveTarget(index, target)] as const),
    ...copies,
  ]);
  const folders = targets.flatMap((target) => {
    const first = folderPage(index, target);
    return first === undefined ? [] : [[target, first] as const];
  });
  return { links, folders: Object.fromEntries(folders), pictures: picturesAmong(index, Object.values(links)) };
}

/** The slice of a page with links to these targets, and without the files that it needs. */
function ownSlice(
  index: SiteIndex,
  page: PageEntry,
  targets: Iterable<string>,
  options: RenderOptions,
): Omit<PageSlice, 'dependencies'> {
  const { path } = page;
  const { settings } = index.model;
  const place = index.places.get(path) ?? index.defaultPlace;
  const language = page.language ?? languageOfPath(index, path);
  const reference = pageReferenceInput(page, settings.api);
  return {
    path,
    file: page.file,
    sha256: page.sha256,
    title: page.title,
    deprecated: page.deprecated,
    noindex: page.noindex,
    frontmatter: page.frontmatter,
    settings: pageChrome(index),
    sidebar: place.sidebar,
    choices: choicesFor(index, page, place),
    translations: translationsOf(index, page, place),
    groups: place.groups,
    siblings: nearest(place.siblings, path).map((sibling) => pageLink(index, sibling)),
    ...linksTo(index, targets),
    styles: index.model.styles.map((file) => file.path),
    scripts: options.allowTenantScripts ? index.model.scripts.map((file) => file.path) : [],
    ...withoutUndefined({
      description: page.description,
      tag: page.tag,
      language: language !== undefined && isLanguageCode(language) ? language : undefined,
      searchLanguage: page.language,
      searchVersion: page.version,
      canonical: siteAddress(settings, path),
      menu: readPageMenu(page.frontmatter['contextual'] ?? settings.contextual, path),
      previous: place.previous === undefined ? undefined : pageLink(index, place.previous),
      next: place.next === undefined ? undefined : pageLink(index, place.next),
      reference,
      playground: reference && playgroundSettings(page.frontmatter, settings.api),
    }),
  };
}

/** Other names under which a link may refer to a page: its source file, and its address below the base path of the site. */
function otherNames(target: string, siteUrl: string | undefined): string[] {
  const names = [target, withoutBase(target, siteUrl) ?? target];
  return [...new Set(names.flatMap((name) => (/\.md$/i.test(name) ? [name, name.slice(0, -3)] : [name])))];
}

function picturesAmong({ pictures }: SiteIndex, files: readonly (string | null)[]): PageSlice['pictures'] {
  const sized = [...new Set(files)].flatMap((file) => {
    const size = file === null ? undefined : pictures.get(file);
    return file === null || size === undefined ? [] : [[file, size] as const];
  });
  return Object.fromEntries(sized);
}

const pageLink = (index: SiteIndex, path: string): PageLink => {
  const page = index.pages.get(path);
  return { path, title: page?.sidebarTitle ?? page?.title ?? path };
};

function nearest(siblings: readonly string[], path: string): readonly string[] {
  if (siblings.length <= maxSiblings) return siblings;
  const start = Math.max(0, Math.min(siblings.indexOf(path) - maxSiblings / 2, siblings.length - maxSiblings));
  return siblings.slice(start, start + maxSiblings);
}

/**
 * The choices of a page. Options of languages and versions lead to the same page there, if it exists: `es/quickstart` for `quickstart`. Addresses of
 * options are resolved like other links of the frame.
 */
function choicesFor(index: SiteIndex, page: PageEntry, place: NavigationPlace): DivisionChoice[] {
  return place.choices.map((choice) => {
    const hasTwins = choice.division === 'language' || choice.division === 'version';
    const options = choice.options.map((option, position) => {
      const twin = hasTwins ? twinOf(index, page, choice, position) : undefined;
      if (twin !== undefined) return { ...option, page: twin };
      const { href: written, ...others } = option;
      return written === undefined ? option : { ...others, ...withoutLabel(chromeLink(index, option.title, written)) };
    });
    return { ...choice, options };
  });
}

const withoutLabel = ({ label: _, ...address }: ChromeLink = { label: '' }) => address;

/** The counterpart of a page in another option of a choice: the page with the same path in that option's folder. */
function twinOf(index: SiteIndex, page: PageEntry, choice: DivisionChoice, position: number): string | undefined {
  const folders = foldersOf(choice);
  const [own = '', prefix] = [folders[choice.current], folders[position]];
  if (prefix === undefined || (own !== '' && !page.path.startsWith(`${own}/`))) return undefined;
  const rest = own === '' ? page.path : page.path.slice(own.length + 1);
  const twin = prefix === '' ? rest : `${prefix}/${rest}`;
  return index.exported.has(twin) && index.places.has(twin) ? twin : undefined;
}

/** Folders of the options of a choice. Thousands of pages have the same options. */
function foldersOf({ division, options }: DivisionChoice): (string | undefined)[] {
  const folders = optionFolders.get(options) ?? options.map(({ page }) => folderOf(division, page));
  optionFolders.set(options, folders);
  return folders;
}

const optionFolders = new WeakMap<DivisionChoice['options'], (string | undefined)[]>();

/** The pages that are this page in other languages, for crawlers. Empty unless the address of the site is known. */
function translationsOf(index: SiteIndex, page: PageEntry, place: NavigationPlace): PageSlice['translations'] {
  const choice = place.choices.find(({ division }) => division === 'language');
  const own = choice?.options[choice.current];
  if (choice === undefined || own === undefined || siteBase(index.model.settings) === undefined) return [];
  const found = choice.options.flatMap(({ title }, position) => {
    const path = position === choice.current ? page.path : twinOf(index, page, choice, position);
    return path === undefined || !isLanguageCode(title) ? [] : [{ language: title, path }];
  });
  return found.length < 2 ? [] : found.sort((a, b) => Number(isDefault(b)) - Number(isDefault(a)));

  function isDefault({ language }: { language: string }): boolean {
    return language === index.defaultLanguage;
  }
}

const isLanguageCode = (code: string): boolean => /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/.test(code);

/** Language of a page that is not in the navigation, taken from its folder if that is a language of the site. */
function languageOfPath(index: SiteIndex, path: string): string | undefined {
  const [folder = ''] = path.split('/');
  return path.includes('/') && index.languages.has(folder) ? folder : index.defaultLanguage;
}

/** The folder of a language or version: the first part of its first page's path, if that is a language code or a version number. */
function folderOf(division: DivisionChoice['division'], page: string | undefined): string | undefined {
  if (page === undefined) return undefined;
  const first = page.split('/')[0] ?? '';
  const isFolder = division === 'language' ? /^[a-z]{2}(-[A-Za-z]{2,4})?$/ : /^v?\d/;
  return page.includes('/') && isFolder.test(first) ? first : '';
}

/** The options of an export that may change bytes; they are part of an export plan. The deployment type changes only `_bindery/config.js`. */
export type RenderOptions = Pick<ExportOptions, 'onPageError' | 'allowTenantScripts' | 'deployment'> & {
  groups: readonly string[];
};

/** Options that determine the site segment. The bytes of pages do not depend on `domain` or `site`. */
export type SiteRenderOptions = RenderOptions & { domain: string; site?: ExportOptions['site'] };

/** A link of the header or footer, resolved to a file of the bundle or an external address. */
export type ChromeLink = { label: string; file?: string; hash?: string; href?: string; icon?: string; type?: string };

/** `seo.organization` of docs.json; fields that it does not have are absent. */
type Organization = Partial<Record<'id' | 'name' | 'legalName' | 'url' | 'logo', string>> & {
  sameAs?: string[];
};

/** Settings of docs.json that every page shows. */
type PageChrome = {
  name: string;
  theme: string;
  iconLibrary: SiteSettings['iconLibrary'];
  appearance: SiteSettings['appearance'];
  eyebrows: SiteSettings['styling']['eyebrows'];
  latex?: boolean;
  logo?: { light: string; dark: string };
  home: ChromeLink;
  favicon?: { light: string; dark: string };
  /** Font files that every page needs, in their most compact format. */
  fonts?: string[];
  links: ChromeLink[];
  primary?: ChromeLink;
  socials: ChromeLink[];
  footer: { header?: string; items: ChromeLink[] }[];
  banner?: SiteSettings['banner'];
  metatags: Record<string, string>;
  /** Address of the site, if the project states it. */
  siteUrl?: string;
  /** The publisher of the site. */
  organization?: Organization;
  /** Placeholder of the search field. */
  searchPrompt?: string;
  /** Style of the preview images that social networks show for links to pages; absent if the site has none. */
  card?: CardStyle;
  /** True if pages show the date of their last change. */
  timestamp: boolean;
  variables: Record<string, string>;
};

const remembered = new WeakMap<SiteIndex, PageChrome>();

function pageChrome(index: SiteIndex): PageChrome {
  const settings = remembered.get(index) ?? makeChrome(index);
  remembered.set(index, settings);
  return settings;
}

function makeChrome(index: SiteIndex): PageChrome {
  const { settings } = index.model;
  const home = chromeLink(index, settings.name, settings.logo?.href ?? '/');
  const { primary } = settings.navbar;
  const primaryLink = primary && chromeLink(index, primary.label, primary.href);
  return {
    name: settings.name,
    theme: settings.theme,
    iconLibrary: settings.iconLibrary,
    appearance: settings.appearance,
    eyebrows: settings.styling.eyebrows,
    home: home ?? { label: settings.name, file: 'index.html' },
    links: settings.navbar.links.flatMap((link) => {
      const made = chromeLink(index, link.label, link.href);
      if (!made) return [];
      return [{ ...made, ...(link.icon && { icon: link.icon }), ...(link.type && { type: link.type }) }];
    }),
    socials: Object.entries(settings.footer.socials).flatMap(([name, href]) => {
      const made = chromeLink(index, name, href);
      return made ? [{ ...made, icon: name }] : [];
    }),
    footer: settings.footer.links.map((column) => ({
      ...(column.header !== undefined && { header: column.header }),
      items: column.items.flatMap((item) => chromeLink(index, item.label, item.href) ?? []),
    })),
    metatags: settings.seo.metatags,
    timestamp: settings.timestamp,
    variables: settings.variables,
    ...withoutUndefined({
      logo: pictures(index, settings.logo),
      favicon: pictures(index, settings.favicon),
      fonts: fontFiles(index, settings.fonts),
      primary: primaryLink && { ...primaryLink, ...(primary.type && { type: primary.type }) },
      banner: settings.banner,
      siteUrl: siteBase(settings),
      card: cardStyle(settings),
      organization: organizationOf(settings.seo.organization),
      latex: settings.styling.latex,
      searchPrompt: settings.searchPrompt,
    }),
  };
}

function fontFiles(index: SiteIndex, fonts: SiteSettings['fonts']): string[] | undefined {
  const files = [fonts?.body, fonts?.heading].flatMap((font) => font?.file ?? font?.faces?.find(isLatin) ?? []);
  const small = files.flatMap(({ path, format }) => (format === 'woff2' && index.files.has(path) ? [path] : []));
  return small.length === 0 ? undefined : [...new Set(small)];
}

/** True for the file of a family that has the letters of English. */
const isLatin = ({ range }: { range?: string | undefined }): boolean =>
  range === undefined || /U\+0{0,4}-0{0,2}FF\b/i.test(range);

function organizationOf(written: SiteSettings['seo']['organization']): Organization | undefined {
  if (!isJsonObject(written)) return undefined;
  const address = (value: unknown): string | undefined => {
    const url = typeof value === 'string' ? classifyUrl(value) : undefined;
    return url?.kind === 'external' && /^https?:/.test(url.href) ? url.href : undefined;
  };
  return withoutUndefined({
    id: address(written['id']),
    name: textOf(written['name']),
    legalName: textOf(written['legalName']),
    url: address(written['url']),
    logo: address(written['logo']),
    sameAs: listOf(written['sameAs']).flatMap((item) => address(item) ?? []),
  });
}

/** A link of the header or footer; undefined if its address must not be in a page. */
function chromeLink(index: SiteIndex, label: string, written: string): ChromeLink | undefined {
  const url = classifyUrl(written);
  if (url.kind === 'external') return { label, href: url.href };
  if (url.kind !== 'path') return undefined;
  const folder = folderPage(index, url.path);
  const resolved = folder === undefined ? resolveTarget(index, url.path) : pageFile(folder);
  if (resolved?.startsWith('https:')) return { label, href: resolved };
  const file = resolved ?? (/^\/?$/.test(url.path) ? 'index.html' : undefined);
  if (file === undefined) return { label, href: `/${url.path.replace(/^\/+/, '')}${url.query}${url.hash}` };
  return { label, file, ...(url.hash !== '' && { hash: url.hash }) };
}

/** The light and dark picture of a setting, each a file of the project or an address. Missing pictures are left out. */
function pictures(index: SiteIndex, written: { light: string; dark: string } | undefined) {
  const [light, dark] = [picture(index, written?.light), picture(index, written?.dark)];
  const any = light ?? dark;
  return any === undefined ? undefined : { light: light ?? any, dark: dark ?? any };
}

function picture(index: SiteIndex, written: string | undefined): string | undefined {
  if (written === undefined) return undefined;
  if (isInlineImage(written)) return written;
  const url = classifyUrl(written);
  if (url.kind === 'external') {
    const copy = index.copies.size === 0 ? undefined : index.copies.get(remoteStem(remoteAddress(url.href) ?? ''));
    return copy ?? (url.href.startsWith('https:') ? url.href : undefined);
  }
  return url.kind === 'path' ? fileOfSetting(url.path, (path) => index.files.has(path)) : undefined;
}

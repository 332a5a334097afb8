import type { SiteSettings } from '#shared/docs/project/site-model.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';

/** File of a page inside the bundle's top folder: `guides/x` → `guides/x.html`. */
export function pageFile(path: string): string {
  return `${path}.html`;
}

const islandsFolder = '_bindery/islands/';

/** File of the components of a page that run in the reader's browser. */
export const islandsFile = (path: string): string => `${islandsFolder}${sha256Of(path).slice(0, 16)}.js`;

const stylesFolder = '_bindery/styles/';
const picturesFolder = '_bindery/pictures/';
const cardsFolder = '_bindery/cards/';

/** File of the styles that a page defines in its source. */
export const stylesFile = (path: string): string => `${stylesFolder}${sha256Of(path).slice(0, 16)}.css`;

/** File of the preview image that social networks show for a link to the page. */
export const cardFile = (path: string): string => `${cardsFolder}${sha256Of(path).slice(0, 16)}.png`;

/** Folder of the pictures that are embedded in the source of a page. */
export const picturesFolderOf = (path: string): string => `${picturesFolder}${sha256Of(path).slice(0, 16)}`;

/** True for files in folders that hold only files of pages. */
export const isOfPages = (file: string): boolean =>
  [islandsFolder, stylesFolder, picturesFolder, cardsFolder].some((folder) => file.startsWith(folder));

const pictureName = /^\/[0-9a-f]{32}\.(?:png|jpg|gif|webp|avif|svg)$/;

/** True if the file is one that this page may have in addition to its HTML and Markdown. */
export function isOfPage(file: string, page: string): boolean {
  if (!isOfPages(file)) return false;
  if ([islandsFile, stylesFile, cardFile].some((fileOf) => file === fileOf(page))) return true;
  const folder = picturesFolderOf(page);
  return file.startsWith(folder) && pictureName.test(file.slice(folder.length));
}

/** Page paths that a target inside the site may refer to, the likeliest first: `guides/x.mdx` is `guides/x`, `guides` may be `guides/index`. */
export function pageNames(path: string): string[] {
  return [path, `${path}/index`, path.replace(/\.(mdx|html)$/, ''), path.replace(/\/(index|README)$/, '')];
}

/** The page that a target inside the site refers to; undefined if there is none. */
export const namedPage = (path: string, pages: { has(path: string): boolean }): string | undefined =>
  pages.has(path) ? path : pageNames(path).find((name) => pages.has(name));

/** Page path of an address: `/guides/x/` → `guides/x`; `/` → `index`. */
export function pagePathOfAddress(address: string): string {
  return withoutSlashes(address) || 'index';
}

/** Removes slashes at both ends of a path. */
export function withoutSlashes(path: string): string {
  let begin = 0;
  let end = path.length;
  while (begin < end && path[begin] === '/') begin += 1;
  while (end > begin && path[end - 1] === '/') end -= 1;
  return path.slice(begin, end);
}

/** Address of a page on a server, without extension: `guides/x` → `/guides/x`, `index` → `/`, `guides/index` → `/guides`. */
export function pageAddress(path: string): string {
  const trimmed = path === 'index' ? '' : path.replace(/\/index$/, '');
  return `/${encodePath(trimmed)}`;
}

/** Relative address from a page's file to another file of the bundle: from `guides/x` to `a/b.html` is `../a/b.html`. */
export function relativeHref(fromPage: string, toFile: string): string {
  return `${pathToTop(fromPage)}${encodePath(toFile)}`;
}

/** Relative address from a page to another page. */
export function pageHref(fromPage: string, toPage: string): string {
  return relativeHref(fromPage, pageFile(toPage));
}

/** Address of a picture from the settings as a page links it: a relative path to a file of the bundle, or an absolute address unchanged. */
export function pictureHref(fromPage: string, picture: string): string {
  return /^(https|data):/.test(picture) ? picture : relativeHref(fromPage, picture);
}

/** One `../` for each folder above the page; `./` at the top, so that a name with a colon does not look like a protocol. */
export function pathToTop(fromPage: string): string {
  // Cached, because it is called many times for each page.
  if (fromPage !== lastPage) {
    const depth = fromPage.split('/').length - 1;
    lastPage = fromPage;
    lastTop = depth === 0 ? './' : '../'.repeat(depth);
  }
  return lastTop;
}

let [lastPage, lastTop] = ['', './'];

/** Fast path: nearly all paths do not change when they are encoded, and a page has hundreds. */
const plainPath = /^[\w./!~*'()@+,-]*$/;

/** Percent-encodes a path, part by part; letters outside ASCII are encoded too. */
export function encodePath(path: string): string {
  if (plainPath.test(path)) return path;
  return path
    .toWellFormed()
    .split('/')
    .map((part) => encodeURIComponent(part).replace(/%40/g, '@').replace(/%2B/g, '+').replace(/%2C/g, ','))
    .join('/');
}

/** A file of the bundle: path inside its top folder (`guides/x.html`), and its bytes. */
export type RenderedFile = { path: string; body: Uint8Array };

/** A file of the bundle whose bytes are this text in UTF-8. */
export type RenderedText = { path: string; body: string };

/** Address of the site, without a slash at the end. It is known only if docs.json has `seo.metatags.canonical`. */
export function siteBase(settings: SiteSettings): string | undefined {
  const written = settings.seo.metatags.canonical;
  if (written === undefined || !/^https?:\/\//i.test(written)) return undefined;
  try {
    const url = new URL(written);
    return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
  } catch {
    return undefined;
  }
}

/** Absolute address of a page, without extension; undefined if the project does not state the address of its site. */
export function siteAddress(settings: SiteSettings, path: string): string | undefined {
  const base = siteBase(settings);
  return base === undefined ? undefined : base + pageAddress(path);
}

/** Removes the base path at which the site is served from a rooted target: `/docs/x` becomes `/x` for `https://a.example/docs`. */
export function withoutBase(target: string, siteUrl: string | undefined): string | undefined {
  const base = siteUrl === undefined ? '/' : new URL(siteUrl).pathname;
  return base !== '/' && target.startsWith(`${base}/`) ? target.slice(base.length) : undefined;
}

/** File of a page inside the bundle's top folder: `guides/x` → `guides/x.html`. */
export function pageFile(path: string): string {
  return `${path}.html`;
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

/** `../` as often as the page is deep; `./` at the top, so that a name with a colon is not taken for a protocol. */
export function pathToTop(fromPage: string): string {
  const depth = fromPage.split('/').length - 1;
  return depth === 0 ? './' : '../'.repeat(depth);
}

/** Percent-encodes what has a meaning in addresses, part by part; letters of all languages are encoded too. */
export function encodePath(path: string): string {
  return path
    .toWellFormed()
    .split('/')
    .map((part) => encodeURIComponent(part).replace(/%40/g, '@').replace(/%2B/g, '+').replace(/%2C/g, ','))
    .join('/');
}

/** Address of a page or section within its site: `guides/x` and `install` → `/guides/x#install`; the start page is `/`. */
export function pageUrl(path: string, anchor: string): string {
  const page = path === 'index' ? '/' : `/${path}`;
  const fragment = anchor === '' ? '' : `#${anchor}`;
  return encodeURI(page).replaceAll(/[?#()]/g, percent) + encodeURI(fragment).replaceAll(/[()]/g, percent);
}

/** Page path of what a client calls the current page: `/guides/x`, `guides/x.html#a`, or an address of the site. Undefined for none. */
export function pagePathOf(currentPath: string | null | undefined): string | undefined {
  if (currentPath === null || currentPath === undefined || currentPath.trim() === '') return undefined;
  const parsed = URL.parse(currentPath.trim(), 'http://site/');
  if (!parsed) return undefined;
  let path: string;
  try {
    path = decodeURIComponent(parsed.pathname);
  } catch {
    path = parsed.pathname;
  }
  path = path.replaceAll(/^\/+|\/+$/g, '').replace(/\.(html|md)$/, '');
  return path === '' ? 'index' : path;
}

/** Parentheses end links in Markdown, so they are encoded too. */
const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

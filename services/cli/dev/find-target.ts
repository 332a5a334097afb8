import { isOfPage, isOfPages, pageFile } from '#shared/docs/render/bundle-paths.ts';
import type { Redirection } from '#shared/docs/render/redirects.ts';
import type { SiteIndex } from '#shared/docs/render/site-index.ts';
import type { SiteAnswer } from './site-questions.ts';

/** The target of an address. `page` names a page and one of its files. */
export type FoundTarget =
  | { kind: 'page'; path: string; page: string }
  | Extract<SiteAnswer, { kind: 'file' | 'redirect' | 'refused' }>
  | { kind: 'made'; path: string }
  | { kind: 'missing' };

/** The parts of a site that are needed to look up addresses. */
export type TargetSite = {
  index: Pick<SiteIndex, 'exported' | 'files'>;
  wildcard: (path: string) => Redirection | undefined;
  /** Files of the site itself, with one page for each redirect. */
  files: () => Pick<ReadonlyMap<string, Uint8Array>, 'get' | 'has'>;
};

/**
 * Looks up a request target, such as `/guides/x?from=mail`. Pages are answered at the addresses of their files in a bundle, to which their links lead;
 * the addresses without extension that a documentation host has lead there. Addresses are looked up in the site and are never paths of the file
 * system.
 */
export function findTarget(target: string, site: TargetSite): FoundTarget {
  const [written = '', query] = target.split('?', 2);
  const path = pathIn(written);
  if (path === undefined) return { kind: 'refused', reason: 'The address is not a path of the site.' };
  if (path === '') return fileAt('index.html', site) ?? { kind: 'missing' };
  const name = path.replace(/\/+$/, '');
  const found = path.endsWith('/') ? undefined : (fileAt(path, site) ?? fileAt(pageFile(path), site));
  if (found !== undefined) return found;
  for (const page of [`${name}/index`, name])
    if (site.index.exported.has(page)) return { kind: 'redirect', to: withQuery(`/${encoded(pageFile(page))}`, query) };
  if (path.endsWith('/') && site.files().has(pageFile(name)))
    return fileAt(pageFile(name), site) ?? { kind: 'missing' };
  const redirected = site.wildcard(`/${name}`);
  return redirected === undefined ? { kind: 'missing' } : { kind: 'redirect', to: redirected.to };
}

/** The decoded path without its first slash; undefined if it is ambiguous. */
function pathIn(written: string): string | undefined {
  if (!written.startsWith('/') || written.length > 4_096 || /%2f|%5c|%00|\\/i.test(written)) return undefined;
  try {
    const path = decodeURIComponent(written).slice(1);
    const isPlain = !/[\u0000-\u001f\u007f]/.test(path) && !/(^|\/)\.{1,2}(\/|$)/.test(path) && !path.includes('//');
    return isPlain && !path.startsWith('/') ? path : undefined;
  } catch {
    return undefined;
  }
}

function fileAt(path: string, { index, files }: TargetSite): FoundTarget | undefined {
  if (path === '404.html') return undefined;
  const page = pageWith(path, index.exported);
  if (page !== undefined) return { kind: 'page', path, page };
  if (index.files.has(path)) return { kind: 'file', path };
  const body = files().get(path);
  if (body === undefined) return undefined;
  const to = path.endsWith('.html') ? refreshIn(body) : undefined;
  return to === undefined ? { kind: 'made', path } : { kind: 'redirect', to: besideFile(to, path) };
}

/** The page that makes this file. */
function pageWith(path: string, pages: ReadonlySet<string>): string | undefined {
  for (const ending of ['.html', '.md', '/rss.xml']) {
    const page = path.slice(0, -ending.length);
    if (path.endsWith(ending) && pages.has(page)) return page;
  }
  if (!isOfPages(path)) return undefined;
  for (const page of pages) if (isOfPage(path, page)) return page;
  return undefined;
}

/** The address to which a page of a redirect leads. */
function refreshIn(body: Uint8Array): string | undefined {
  const found = /<meta http-equiv="refresh" content="0; url=([^"]*)">/.exec(Buffer.from(body).toString());
  return found?.[1]?.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replaceAll('&quot;', '"');
}

/** An address of a page of the bundle, from the root of the site. */
function besideFile(to: string, file: string): string {
  const base = 'http://site.invalid';
  const url = new URL(to, `${base}/${encoded(file)}`);
  return url.origin === base ? url.href.slice(base.length) : url.href;
}

const withQuery = (address: string, query: string | undefined): string =>
  query === undefined ? address : `${address}?${query}`;

const encoded = (path: string): string =>
  path
    .split('/')
    .map((part) => encodeURIComponent(part))
    .join('/');

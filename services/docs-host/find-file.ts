import { decoded } from '#shared/docs/project/url-policy.ts';
import { pageAddress } from '#shared/docs/render/bundle-paths.ts';
import type { Redirection } from '#shared/docs/render/redirects.ts';

/** The result of looking up a requested address. */
export type Asked =
  | { kind: 'refused'; reason: string }
  /** A file of one version: its bytes never change under this address. */
  | { kind: 'versioned'; digest: string; path: string }
  | { kind: 'file'; path: string }
  | { kind: 'redirect'; to: string; permanent: boolean }
  | { kind: 'missing' };

/** The parts of a version that are needed to look up addresses. */
export type SiteMap = {
  base: string;
  has: (path: string) => boolean;
  /** Redirect of a page address: `/old`. */
  redirect: (source: string) => Redirection | undefined;
  /** Redirect of a path without a page. */
  wildcard: (path: string) => Redirection | undefined;
};

const longestTarget = 4_096;

/**
 * Looks up a request target (`/docs/guides/x?from=mail`). The address is looked up in the list of the version and never used as a path of the file
 * system; ambiguous addresses are refused. `site`: the active version. Pure.
 */
export function findFile(target: string, site: SiteMap): Asked {
  if (target.length > longestTarget) return refused('The address is too long.');
  const [written = '', ...rest] = target.split('?');
  const query = rest.length === 0 ? '' : `?${rest.join('?')}`;
  if (!written.startsWith('/')) return refused('The address must be a path.');
  if (/%2f|%5c|%00|\\|[\u0000-\u0020\u007f]/i.test(written))
    return refused('The address has an encoded slash, a backslash or a control character.');
  let path: string;
  try {
    path = decodeURIComponent(written);
  } catch {
    return refused('The address is not valid UTF-8.');
  }
  if (/[\u0000-\u001f\u007f]/.test(path)) return refused('The address has a control character.');
  if (path.split('/').some((part) => part === '.' || part === '..')) return refused('The address has a "." or "..".');
  const { base } = site;
  if (base !== '' && path !== base && !path.startsWith(`${base}/`))
    return path === '/' ? { kind: 'redirect', to: `${base}${query}`, permanent: false } : { kind: 'missing' };
  const below = path.slice(base.length);
  const versioned = /^\/_bindery\/@([0-9a-f]{16})\/(.+)$/.exec(below);
  if (versioned !== null) return { kind: 'versioned', digest: versioned[1] ?? '', path: versioned[2] ?? '' };
  if (below.includes('//')) return { kind: 'missing' };
  const to = (address: string, permanent = true): Asked => ({
    kind: 'redirect',
    to: withBase(base, address) + query,
    permanent,
  });
  if (below === '' || below === '/') {
    if (base !== '' && below === '/') return to('/');
    return pageAt('');
  }
  if (below.endsWith('/')) {
    const page = below.slice(1, -1);
    return pageAt(page).kind === 'missing' ? redirected(page) : to(encoded(`/${page}`));
  }
  if (below.endsWith('.html')) {
    const page = below.slice(1, -'.html'.length);
    if (site.has(below.slice(1)) && page !== '404') return to(pageAddress(page));
    if (site.redirect(`/${page}`) !== undefined) return pageAt(page);
    return redirected(below.slice(1));
  }
  const name = below.slice(1);
  if (site.has(name)) return { kind: 'file', path: name };
  if (/(^|\/)index$/.test(name) && site.has(`${name}.html`)) return to(pageAddress(name));
  const found = pageAt(name);
  return found.kind === 'missing' ? redirected(name) : found;

  function redirected(page: string): Asked {
    const found = page === '404' ? undefined : site.wildcard(`/${page}`);
    if (found === undefined) return { kind: 'missing' };
    const [path = '', hash] = found.to.split('#');
    const isOwn = path.startsWith('/');
    const next = decoded(path.split('?')[0] ?? '');
    // A redirect to a path that is redirected again may never end.
    if (isOwn && pageAt(next.slice(1)).kind === 'missing' && site.wildcard(next) !== undefined)
      return { kind: 'missing' };
    const whole = `${path}${path.includes('?') ? '' : query}${hash === undefined ? '' : `#${hash}`}`;
    return { kind: 'redirect', to: isOwn ? withBase(base, whole) : whole, permanent: found.permanent };
  }

  function pageAt(page: string): Asked {
    // The page that is shown instead of missing pages has no address of its own.
    if (page === '404') return { kind: 'missing' };
    for (const path of page === '' ? ['index'] : [page, `${page}/index`]) {
      if (site.has(`${path}.html`)) return { kind: 'file', path: `${path}.html` };
      const found = site.redirect(`/${path}`);
      if (found !== undefined) return { kind: 'redirect', ...found };
    }
    return { kind: 'missing' };
  }
}

const refused = (reason: string): Asked => ({ kind: 'refused', reason });

const withBase = (base: string, address: string): string => (address === '/' && base !== '' ? base : base + address);

const encoded = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

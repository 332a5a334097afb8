import type { WildcardRedirect } from '#shared/contracts/stored-objects.ts';
import type { SiteModel } from '#shared/docs/project/site-model.ts';
import { classifyUrl, decoded } from '#shared/docs/project/url-policy.ts';
import { pagePathOfAddress, withoutSlashes } from './bundle-paths.ts';

/** The redirects of a site, as links of its pages follow them. */
export type SiteRedirects = {
  /** Source of each redirect without wildcards → page path or https address at its end. */
  named: ReadonlyMap<string, string>;
  /** The end of the redirects of a decoded path without a page (`/old/a`): a page path or an https address. */
  endOf(path: string): string | undefined;
};

const maxHops = 10;

/**
 * Follows redirects to their ends. Redirects that form a cycle, have no target or hide a page are left out. Redirects without wildcards have
 * precedence over those with wildcards; among the latter the first match counts.
 */
export function siteRedirects(redirects: SiteModel['redirects'], isPage: (path: string) => boolean): SiteRedirects {
  const next = new Map<string, string>();
  for (const { source, destination } of redirects) {
    if (!/[*:]/.test(source)) next.set(rooted(source), destination);
  }
  const wildcard = firstOfFew(withWildcards(redirects));

  function follow(from: string): string | undefined {
    let at = from;
    for (let hops = 0; hops < maxHops; hops += 1) {
      const url = classifyUrl(next.get(at) ?? asWritten(wildcard(at) ?? ''));
      if (url.kind === 'external') return url.href.startsWith('https:') ? url.href : undefined;
      if (url.kind !== 'path') return undefined;
      at = rooted(url.path);
      const path = pagePathOfAddress(at);
      // The page of a folder is its index.
      const page = [path, `${path}/index`].find(isPage);
      if (page !== undefined) return page + url.hash;
    }
    return undefined;
  }

  const named = new Map<string, string>();
  for (const source of next.keys()) {
    const end = isPage(pagePathOfAddress(source)) ? undefined : follow(source);
    if (end !== undefined) named.set(source, end);
  }
  // Cache, because pages link to the same places.
  const found = new Map<string, string | undefined>();
  return {
    named,
    endOf(path) {
      const known = named.get(path);
      if (known !== undefined || next.has(path)) return known;
      if (!found.has(path)) found.set(path, follow(path));
      return found.get(path);
    },
  };
}

/** A path as it is written in `docs.json`; external addresses stay encoded. */
const asWritten = (to: string): string => (to.startsWith('/') ? decoded(to) : to);

const rooted = (path: string): string => `/${withoutSlashes(path)}`;

/** Redirects with wildcards that a host or a link can follow: from a path to a path or an https address. */
export const withWildcards = (redirects: SiteModel['redirects']): WildcardRedirect[] =>
  redirects.flatMap(({ source, destination, permanent }) => {
    const isOutside = /^https:\/\/[^/:*]+(:[0-9]+)?(\/|$)/.test(destination);
    const isFit = /[*:]/.test(source) && /^\/(?![/\\])/.test(source) && (isOutside || /^\/(?![/\\])/.test(destination));
    return isFit ? [{ source, destination, permanent }] : [];
  });

/** Limit of redirects that are compared with one link. A project may have thousands of both, and comparing all of them would take long. */
const mostComparedWith = 200;

/**
 * Returns a function that finds the target of the first redirect that matches a path, among the first 200 whose first part equals that of the path or
 * has a wildcard.
 */
function firstOfFew(redirects: readonly WildcardRedirect[]): (path: string) => string | undefined {
  const byPart = Map.groupBy(redirects.keys(), (at) => firstPart(redirects[at]?.source ?? ''));
  const ofAll = [...byPart].flatMap(([part, places]) => (/[*:]/.test(part) ? places : []));
  const compiled = new Map<string, ReturnType<typeof wildcardRedirects>>();
  return (path) => {
    const part = byPart.has(firstPart(path)) ? firstPart(path) : '';
    let follow = compiled.get(part);
    if (follow === undefined) {
      const few = [...new Set([...(byPart.get(part) ?? []), ...ofAll])]
        .sort((a, b) => a - b)
        .slice(0, mostComparedWith);
      follow = wildcardRedirects(few.flatMap((at) => redirects[at] ?? []));
      compiled.set(part, follow);
    }
    return follow(path)?.to;
  };
}

const firstPart = (path: string): string => path.split('/', 2)[1] ?? '';

/** Target of an address without a page. `to`: an external address, or a path of the site without its base path. */
export type Redirection = { to: string; permanent: boolean };

/** Limit of names in a source. With more of them, comparing takes long. */
const mostNames = 4;
/** Limit of wildcards in one part of a path. With more, the time grows with the third power of the length. */
const mostInPart = 2;
/** Limit of the characters that a wildcard matches if its part has two of them. */
const mostCharacters = 200;

/**
 * Compiles the redirects of a project that have wildcards into a function from a decoded path (`/old/a/b`) to its target; the first match counts.
 * `:name` stands for one part, `:name*` and `*` for any number of parts, once in a source. Sources with other syntax match nothing. Pure.
 */
export function wildcardRedirects(redirects: readonly WildcardRedirect[]): (path: string) => Redirection | undefined {
  const rules = redirects.flatMap((redirect) => {
    const source = compiled(redirect.source);
    return source === undefined ? [] : [{ ...redirect, source }];
  });
  return (path) => {
    for (const { source, destination, permanent } of rules) {
      const found = source.exec(path);
      const to = found === null ? undefined : filled(destination, found.groups ?? {});
      if (to !== undefined) return { to, permanent };
    }
    return undefined;
  };
}

const wildcard = /:([A-Za-z_][A-Za-z0-9_]*)(\*?)|\*/g;
/** Name of a `*`, which has none in the source. */
const unnamed = 'rest';

function compiled(source: string): RegExp | undefined {
  const names: string[] = [];
  let stars = 0;
  let pattern = '';
  let at = 0;
  const ofParts = source.split('/').map((part) => [...part.matchAll(wildcard)].length);
  const longest = ofParts.some((many) => many > 1) ? `{1,${mostCharacters}}` : '+';
  for (const found of source.matchAll(wildcard)) {
    const [whole, name = unnamed, star = '*'] = found;
    pattern += escaped(source.slice(at, found.index));
    pattern += star === '*' ? `(?<${name}>.*)` : `(?<${name}>[^/]${longest})`;
    if (star === '*') stars += 1;
    names.push(name);
    at = found.index + whole.length;
  }
  pattern += escaped(source.slice(at).replace(/\/$/, ''));
  // With two stars the time would grow with the square of the address's length.
  if (stars > 1 || names.length > mostNames || new Set(names).size < names.length) return undefined;
  if (ofParts.some((many) => many > mostInPart)) return undefined;
  return new RegExp(`^${pattern}$`, 's');
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/**
 * Fills the matches of wildcards into a destination. A path stays a path of this site, and an external address stays on its server, whatever the
 * wildcards matched; undefined if that is impossible.
 */
function filled(destination: string, values: Readonly<Record<string, string>>): string | undefined {
  const to = destination.replace(wildcard, (whole, name: string = unnamed) =>
    values[name] === undefined ? whole : values[name].split('/').map(encodeURIComponent).join('/'),
  );
  // A `Location` header requires this encoding.
  const written = to.toWellFormed().replaceAll(/[^\u0021-\u007e]/gu, encodeURIComponent);
  const server = /^https?:\/\/([^/?#]*)/i.exec(destination)?.[1];
  if (server === undefined) return `/${written.replace(/^[/\\]+/, '')}`;
  return isOfServer(written, server) ? written : undefined;
}

/** True if the host of an address equals `server`, or ends with the part of `server` after its last wildcard. */
function isOfServer(address: string, server: string): boolean {
  const host = URL.parse(address)?.host;
  const last = [...server.matchAll(wildcard)].at(-1);
  if (host === undefined) return false;
  if (last === undefined) return true;
  const after = server.slice(last.index + last[0].length).toLowerCase();
  return after.startsWith('.') ? host.endsWith(after) : host === server.slice(0, last.index).toLowerCase();
}

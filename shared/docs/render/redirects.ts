import type { WildcardRedirect } from '#shared/contracts/stored-objects.ts';
import type { SiteModel } from '#shared/docs/project/site-model.ts';
import { classifyUrl, decoded } from '#shared/docs/project/url-policy.ts';
import { pagePathOfAddress, withoutSlashes } from './bundle-paths.ts';

/** The redirects of a site, as links of its pages follow them. */
export type SiteRedirects = {
  /** Source of each redirect without wildcards → page path or https address where it ends. */
  named: ReadonlyMap<string, string>;
  /** Where a decoded path without a page (`/old/a`) ends: a page path or an https address. */
  endOf(path: string): string | undefined;
};

const maxHops = 10;

/**
 * Follows redirects to where they end. Those that loop, end nowhere or hide a page are left out. A redirect without wildcards counts before those
 * with some, of which the first that fits counts.
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
      // A folder's own page is its index.
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
  // Pages link to the same places.
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

/** A path as it is in `docs.json`; addresses elsewhere stay encoded. */
const asWritten = (to: string): string => (to.startsWith('/') ? decoded(to) : to);

const rooted = (path: string): string => `/${withoutSlashes(path)}`;

/** Redirects with wildcards that a host or a link can follow: from a path to a path, or to an https address. */
export const withWildcards = (redirects: SiteModel['redirects']): WildcardRedirect[] =>
  redirects.flatMap(({ source, destination, permanent }) => {
    const isOutside = /^https:\/\/[^/:*]+(:[0-9]+)?(\/|$)/.test(destination);
    const isFit = /[*:]/.test(source) && /^\/(?![/\\])/.test(source) && (isOutside || /^\/(?![/\\])/.test(destination));
    return isFit ? [{ source, destination, permanent }] : [];
  });

/** More of them would make each link of a site take long: a project may have thousands of both. */
const mostComparedWith = 200;

/** Where the first redirect leads that fits a path, among the first 200 whose first part is that of the path or has a wildcard. */
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

/** Where an address without a page leads. `to`: an address elsewhere, or a path of the site without its base path. */
export type Redirection = { to: string; permanent: boolean };

/** More of them make a source that takes long to compare. */
const mostNames = 4;
/** More of them in one part of a path take time with the third power of its length. */
const mostInPart = 2;
/** Of what one of two wildcards in a part stands for. */
const mostCharacters = 200;

/**
 * The redirects of a project with wildcards, as a function from a decoded path (`/old/a/b`) to where it leads; the first that fits counts.
 * `:name` stands for one part, `:name*` and `*` for all that follows or stands between, once in a source. What is written in another way fits
 * nothing. Pure.
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
/** The name of a `*` without one. */
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
 * A destination with what the wildcards stood for. A path stays one of this site, and an address elsewhere one of its server, whatever they
 * stood for: undefined when that cannot be.
 */
function filled(destination: string, values: Readonly<Record<string, string>>): string | undefined {
  const to = destination.replace(wildcard, (whole, name: string = unnamed) =>
    values[name] === undefined ? whole : values[name].split('/').map(encodeURIComponent).join('/'),
  );
  // As a header has it.
  const written = to.toWellFormed().replaceAll(/[^\u0021-\u007e]/gu, encodeURIComponent);
  const server = /^https?:\/\/([^/?#]*)/i.exec(destination)?.[1];
  if (server === undefined) return `/${written.replace(/^[/\\]+/, '')}`;
  return isOfServer(written, server) ? written : undefined;
}

/** Whether the host of an address is that of `server`, or ends as `server` ends after its last wildcard. */
function isOfServer(address: string, server: string): boolean {
  const host = URL.parse(address)?.host;
  const last = [...server.matchAll(wildcard)].at(-1);
  if (host === undefined) return false;
  if (last === undefined) return true;
  const after = server.slice(last.index + last[0].length).toLowerCase();
  return after.startsWith('.') ? host.endsWith(after) : host === server.slice(0, last.index).toLowerCase();
}

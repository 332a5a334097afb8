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
  const wildcard = wildcardRedirects(withWildcards(redirects));

  function follow(from: string): string | undefined {
    let at = from;
    for (let hops = 0; hops < maxHops; hops += 1) {
      const url = classifyUrl(next.get(at) ?? asWritten(wildcard(at)?.to ?? ''));
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

/** Target of an address without a page. `to`: an external address, or a path of the site without its base path. */
export type Redirection = { to: string; permanent: boolean };

/** Limit of names in a source. With more of them, comparing takes long. */
const mostNames = 4;
/** Limit of wildcards in one part of a path. With more, the time grows with the third power of the length. */
const mostInPart = 2;
/** Limit of the characters that a wildcard matches if its part has two of them. */
const mostCharacters = 200;

/**
 * Limit of redirects whose patterns are compared with one path. A tenant may have ten thousand, and paths that match none of them would keep readers of
 * other sites waiting.
 */
const mostCompared = 500;

/** Limit of parts by which redirects are found. Each may have a wildcard or not, so a path is looked up in at most 2⁴ + 2³ + … places. */
const indexedParts = 4;

/**
 * Compiles the redirects of a project that have wildcards into a function from a decoded path (`/old/a/b`) to its target; the first match counts.
 * `:name` stands for one part, `:name*` and `*` for any number of parts, once in a source. Sources with other syntax match nothing. Redirects are found
 * by their first parts; of those that also begin and end as the path does, 500 are compared with it. Pure.
 */
export function wildcardRedirects(redirects: readonly WildcardRedirect[]): (path: string) => Redirection | undefined {
  const rules = redirects.map(ruleOf);
  const root: Place = { rules: [] };
  for (const [at, { source }] of redirects.entries()) placeOf(root, source).rules.push(at);
  return (path) => {
    const found = placesOf(root, path);
    const places = found.length === 1 ? (found[0] ?? []) : found.flat().sort((a, b) => a - b);
    let compared = 0;
    for (const at of places) {
      const rule = rules[at];
      if (rule === undefined || !path.startsWith(rule.start) || !path.endsWith(rule.end)) continue;
      const values = rule.match(path);
      const to = values && filled(rule.destination, values);
      if (to !== undefined) return { to, permanent: rule.permanent };
      compared += 1;
      if (compared === mostCompared) return undefined;
    }
    return undefined;
  };
}

/** A node of the index: all redirects with the same first parts. */
type Place = {
  /** Numbers of the redirects that continue with a `*`, end here, or have as many parts as are indexed; ascending. */
  rules: number[];
  /** Redirects that continue with a literal part, by its text. */
  named?: Map<string, Place>;
  /** Redirects that continue with a part that has wildcards. */
  any?: Place;
};

const partsOf = (path: string): string[] => path.split('/', indexedParts + 1).slice(1);

function placeOf(root: Place, source: string): Place {
  let place = root;
  for (const part of partsOf(source.replace(/\/$/, ''))) {
    const wildcards = [...part.matchAll(wildcard)];
    if (wildcards.some(([, name, star]) => name === undefined || star === '*')) return place;
    if (wildcards.length > 0) place = place.any ??= { rules: [] };
    else {
      place.named ??= new Map();
      const next = place.named.get(part) ?? { rules: [] };
      place.named.set(part, next);
      place = next;
    }
  }
  return place;
}

/** The numbers of the redirects that may match a path, by their places. */
function placesOf(root: Place, path: string): number[][] {
  const found: number[][] = [];
  let places = [root];
  for (const part of [...partsOf(path), undefined]) {
    for (const { rules } of places) if (rules.length > 0) found.push(rules);
    if (part === undefined) break;
    places = places.flatMap(({ named, any }) => [named?.get(part), any].filter((each) => each !== undefined));
  }
  return found;
}

type Rule = Pick<WildcardRedirect, 'destination' | 'permanent'> & {
  /** Each path that matches begins and ends with these texts. */
  start: string;
  end: string;
  /** The values of the wildcards; undefined if the path does not match. */
  match(path: string): Readonly<Record<string, string>> | undefined;
};

function ruleOf({ source, destination, permanent }: WildcardRedirect): Rule {
  const wildcards = [...source.matchAll(wildcard)];
  const last = wildcards.at(-1);
  // The pattern is made when it is needed: most redirects of a list are compared with no path while the list is in memory.
  let pattern: RegExp | undefined;
  let isMade = false;
  return {
    ...{ destination, permanent },
    start: source.slice(0, wildcards[0]?.index),
    end: last === undefined ? '' : source.slice(last.index + last[0].length).replace(/\/$/, ''),
    match(path) {
      if (!isMade) pattern = compiled(source);
      isMade = true;
      const found = pattern?.exec(path);
      return found ? (found.groups ?? {}) : undefined;
    },
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

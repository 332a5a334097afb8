import type { WildcardRedirect } from '#shared/contracts/stored-objects.ts';

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

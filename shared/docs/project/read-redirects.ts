import type { FindingCode } from '#shared/docs/findings/finding-texts.ts';
import { quoted, type Report } from './diagnostics.ts';
import { segmentMatch } from './ignore-rules.ts';
import { type JsonValue, objectsOf, textOf } from './json-values.ts';
import { decoded, isExternalHref, isSafeHref } from './url-policy.ts';

export type Redirect = { source: string; destination: string; permanent: boolean };

const maxRedirects = 20_000;
const maxHops = 20;
const maxPatterns = 500;

/**
 * Reads `redirects` of docs.json. Sources are decoded paths (`/a b`, whether a project writes the space or `%20`). A redirect is reported and left
 * out if its source is not a path, its target is neither a path nor an http(s) address, it is part of a cycle, or it hides a page. The first redirect
 * from a source takes precedence.
 */
export function readRedirects(
  value: JsonValue | undefined,
  file: string,
  isPage: (path: string) => boolean,
  report: Report,
): Redirect[] {
  const bySource = new Map<string, Redirect>();
  const refuse = (code: FindingCode, source: string, why: string): void => {
    report({ severity: 'warning', code, message: `The redirect from ${quoted(source)} is left out: ${why}.`, file });
  };
  for (const entry of objectsOf(value).slice(0, maxRedirects)) {
    const source = rooted(plainly(textOf(entry['source']) ?? ''));
    const destination = textOf(entry['destination']) ?? '';
    if (source === '' || /[?#\\\p{Cc}]|^\/\//u.test(source))
      refuse(
        'bad-redirect',
        source,
        String.raw`its source must be a path without "?", "#", "\" and control characters`,
      );
    else if (!isTarget(destination))
      refuse('bad-redirect', source, `${quoted(destination)} is neither a path nor an address with https`);
    else if (bySource.has(source)) refuse('duplicate-redirect', source, 'there is another one before it');
    else if (isPage(source.slice(1) || 'index')) refuse('redirect-hides-page', source, 'there is a page at this path');
    else {
      const target = isExternalHref(destination) ? destination : rooted(destination);
      bySource.set(source, { source, destination: target, permanent: entry['permanent'] !== false });
    }
  }
  const circular = circles(bySource);
  for (const source of circular)
    refuse('redirect-loop', source, `it forms a loop through ${quoted(bySource.get(source)?.destination ?? '')}`);
  return [...bySource.values()].filter((redirect) => !circular.has(redirect.source));
}

/** Decodes an address part by part. A part whose escapes stand for separators or pattern characters stays as written. */
const plainly = (path: string): string =>
  path
    .split('/')
    .map((part) => {
      const plain = decoded(part);
      return /[/?#\\:*\p{Cc}]/u.test(plain) ? part : plain;
    })
    .join('/');

const rooted = (path: string): string => (path === '' || path.startsWith('/') ? path : `/${path}`);

function isTarget(destination: string): boolean {
  if (destination === '' || destination.includes('\\') || destination.startsWith('//')) return false;
  return isSafeHref(destination) && (!isExternalHref(destination) || /^https?:\/\//i.test(destination));
}

/** Sources of redirects that form a loop. */
function circles(bySource: ReadonlyMap<string, Redirect>): Set<string> {
  const patterns = [...bySource.values()].filter(({ source }) => isPattern(source)).slice(0, maxPatterns);
  const circular = new Set<string>();
  const next = (path: string): Redirect | undefined =>
    bySource.get(path) ?? patterns.find(({ source }) => matches(source, path));
  for (const start of bySource.values()) {
    const seen = new Set([start.source]);
    let at: Redirect | undefined = start;
    for (let hops = 0; at && hops < maxHops; hops += 1) {
      const path: string = at.destination.split(/[?#]/, 1)[0] ?? '';
      // A destination with a captured part (`/b/:x*`) is looked up as written, so its fixed part decides.
      at = isExternalHref(path) ? undefined : next(path);
      if (at && seen.has(at.source)) {
        circular.add(start.source);
        break;
      }
      if (at) seen.add(at.source);
    }
  }
  return circular;
}

const isPattern = (source: string): boolean => /[:*]/.test(source);

function matches(pattern: string, path: string): boolean {
  const segments = path.split('/');
  for (const [index, part] of pattern.split('/').entries()) {
    if (/^:[\w-]+\*$/.test(part) || part === '*') return true;
    const segment = segments[index];
    if (segment === undefined || !segmentMatch(part.replaceAll(/:[\w-]+\*?/g, '*'), segment)) return false;
  }
  return segments.length === pattern.split('/').length;
}

import { pageAddress, pathToTop, relativeHref } from '../bundle-href.ts';
import { firstPage } from '../navigation-places.ts';
import { pagePathOf } from '../redirect-targets.ts';
import { html } from '../shell/html.ts';
import { siteBase } from '../site-address.ts';
import type { SiteIndex } from '../site-index.ts';

/**
 * A page per redirect, since a folder of files can redirect no other way; those with wildcards are for the host. Targets are pages of the
 * export, or what docs.json itself names with https. A site without a start page gets one that leads to its first page.
 */
export function redirectPages(index: SiteIndex): [string, string][] {
  const made: [string, string][] = [];
  // Where names differ by case only, the first one stands: on many disks the second would overwrite it.
  const taken = new Set([...index.exported].map(sameName));
  for (const [source, target] of index.redirects) {
    const path = pagePathOf(source);
    if (!isSafePath(path) || index.files.has(`${path}.html`) || taken.has(sameName(path))) continue;
    taken.add(sameName(path));
    made.push([`${path}.html`, redirectPage(index, path, target)]);
  }
  if (!index.exported.has('index') && !made.some(([path]) => path === 'index.html')) {
    const shown = (path: string) => index.exported.has(path) && index.pages.get(path)?.hidden === false;
    const first = firstPage(index.model.navigation, shown) ?? [...index.exported][0];
    if (first !== undefined) made.push(['index.html', redirectPage(index, 'index', first)]);
  }
  return made;
}

const sameName = (path: string): string => path.normalize('NFC').toLowerCase();

/** Names that can be a file on every system, inside of the bundle. */
const isSafePath = (path: string): boolean =>
  path.length <= 400 &&
  /^[\p{L}\p{N}_.~@+ -]+(\/[\p{L}\p{N}_.~@+ -]+)*$/u.test(path) &&
  !/(^|\/)(\.|_bindery(\/|$))/.test(path);

function redirectPage(index: SiteIndex, from: string, target: string): string {
  const [page = '', anchor] = target.split('#');
  const isOutside = target.startsWith('https:');
  const href = isOutside ? target : relativeHref(from, `${page}.html`) + (anchor === undefined ? '' : `#${anchor}`);
  const base = siteBase(index.model.settings);
  const canonical = isOutside ? target : base === undefined ? undefined : base + pageAddress(page);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Moved</title>
<meta name="robots" content="noindex">
${canonical !== undefined && html`<link rel="canonical" href="${canonical}">\n`}<meta http-equiv="refresh" content="0; url=${href}">
<link rel="stylesheet" href="${pathToTop(from)}_bindery/theme.css">
</head>
<body>
<main class="not-found"><p>This page is now <a href="${href}">here</a>.</p></main>
</body>
</html>
`.text;
}

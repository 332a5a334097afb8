import { encodePath } from '../bundle-href.ts';
import { html, SafeHtml } from '../shell/html.ts';
import { themeName } from '../shell/page-shell.ts';
import type { SiteIndex } from '../site-index.ts';
import { isInSitemap } from '../visibility.ts';
import { ownFile } from './own-file.ts';

const SCRIPT = new SafeHtml(ownFile('not-found.js'));
/** Until the theme is found, and where scripts are off. */
const STYLE = new SafeHtml(
  'body{margin:0;font:16px/28px system-ui,sans-serif}.not-found{display:grid;place-content:center;min-height:70vh;padding:24px;text-align:center}ul{list-style:none;padding:0}',
);

/** `404.html`: works under whatever address it is shown. Without scripts its links start at the root of the host. */
export function notFoundPage(index: SiteIndex): string {
  const { settings, pages } = index.model;
  const { title, description } = settings.notFound;
  const suggestions = pages
    .filter(
      (page) =>
        index.exported.has(page.path) && isInSitemap(page, settings.seo.indexing) && index.places.has(page.path),
    )
    .slice(0, 3);
  const item = (file: string, label: string) =>
    html`<li><a data-file="${encodePath(file)}" href="/${encodePath(file)}">${label}</a></li>\n`;
  return html`<!doctype html>
<html lang="en" class="theme-${themeName(settings.theme)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title ?? 'Page not found'} - ${settings.name}</title>
<meta name="robots" content="noindex">
<style>${STYLE}</style>
</head>
<body>
<main class="not-found">
<p class="code">404</p>
<h1>${title ?? 'Page not found'}</h1>
<p>${description ?? 'There is no page at this address. It may have moved.'}</p>
<ul>
${item('index.html', `${settings.name}: start page`)}${suggestions.map((page) => item(`${page.path}.html`, page.title))}</ul>
</main>
<script>${SCRIPT}</script>
</body>
</html>
`.text;
}

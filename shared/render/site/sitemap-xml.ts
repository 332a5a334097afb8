import { pageAddress } from '../bundle-href.ts';
import { escapeHtml } from '../shell/html.ts';
import { siteBase } from '../site-address.ts';
import type { SiteIndex } from '../site-index.ts';
import { isInSitemap } from '../visibility.ts';

/**
 * Addresses without extension. Where the project does not say where it will be (`seo.metatags.canonical`), they start with a slash: the host
 * puts its own in front when it serves the file.
 */
export function sitemapXml(index: SiteIndex): string {
  const { settings, pages } = index.model;
  const base = siteBase(settings) ?? '';
  const urls = pages
    .filter((page) => index.exported.has(page.path) && isInSitemap(page, settings.seo.indexing))
    .map((page) => `<url><loc>${escapeHtml(base + pageAddress(page.path))}</loc></url>\n`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls.join('')}</urlset>\n`;
}

import type { SiteSettings } from '#shared/docs-project/site-settings.ts';
import { siteBase } from '../site-address.ts';

/** The sitemap is named only where its address is known: robots.txt takes absolute ones alone. */
export function robotsText(settings: SiteSettings): string {
  const base = siteBase(settings);
  const sitemap = base === undefined ? '' : `\nSitemap: ${base}/sitemap.xml\n`;
  return `User-agent: *\nContent-Signal: ai-train=yes, search=yes, ai-input=yes\nAllow: /\n${sitemap}`;
}

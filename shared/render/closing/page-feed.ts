import type { RenderedPage } from '#shared/contracts/segment-sidecar.ts';
import type { SiteModel } from '#shared/docs-project/site-model.ts';
import { pageAddress } from '../bundle-href.ts';
import { escapeHtml } from '../shell/html.ts';
import { siteBase } from '../site-address.ts';

const MAX_ITEMS = 100;

/** RSS of a page with updates, newest as the page has them; undefined for a page without. No dates: the page's labels are in the titles. */
export function pageFeed(model: SiteModel, page: RenderedPage): string | undefined {
  if (page.feedItems.length === 0) return undefined;
  const base = siteBase(model.settings) ?? '';
  const address = base + pageAddress(page.path);
  const tag = (name: string, text: string) => `<${name}>${escapeHtml(text)}</${name}>`;
  const items = page.feedItems.slice(0, MAX_ITEMS).map((item) => {
    const link = `${address}#${encodeURIComponent(item.anchor)}`;
    const categories = item.tags.map((name) => tag('category', name)).join('');
    return `<item>${tag('title', item.title)}${tag('link', link)}<guid isPermaLink="false">${escapeHtml(link)}</guid>${tag('description', item.text)}${categories}</item>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0">
<channel>
${tag('title', `${model.settings.name} - ${page.title}`)}
${tag('link', address)}
${tag('description', page.description ?? page.title)}
${items.join('')}</channel>
</rss>
`;
}

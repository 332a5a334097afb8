import type { RenderedPage } from '#shared/contracts/segment-sidecar.ts';
import type { SiteModel } from '#shared/docs-project/site-model.ts';
import { pageAddress } from '../bundle-href.ts';
import { siteBase } from '../site-address.ts';
import { isInLlms } from '../visibility.ts';

/** `llms-full.txt`: every listed page with its address and Markdown, in the order of the bundle. */
export function fullText(model: SiteModel, pages: readonly RenderedPage[]): string {
  const base = siteBase(model.settings) ?? '';
  const entries = new Map(model.pages.map((page) => [page.path, page]));
  const parts = pages.flatMap((page) => {
    const entry = entries.get(page.path);
    if (entry === undefined || !isInLlms(entry, model.settings.seo.indexing)) return [];
    const [heading = '', ...rest] = page.markdown.split('\n');
    return [`${heading}\nSource: ${base}${pageAddress(page.path)}\n${rest.join('\n').trimEnd()}\n`];
  });
  return parts.join('\n\n');
}

import { relativeHref } from '../bundle-href.ts';
import type { PageSlice } from '../page-slice.ts';
import { html, type SafeHtml } from './html.ts';

/** The page's own group: what readers without scripts have; with scripts the whole sidebar takes its place before it is seen. */
export function fallbackSidebar({ path, groups, siblings }: PageSlice): SafeHtml | undefined {
  if (siblings.length === 0) return undefined;
  const title = groups.at(-1);
  return html`<div class="sidebar-group">${title !== undefined && html`<p class="sidebar-group-header">${title}</p>`}<ul class="sidebar-list">${siblings.map(
    (page) =>
      html`<li><a class="sidebar-link" href="${relativeHref(path, `${page.path}.html`)}"${page.path === path && html` aria-current="page"`}>${page.title}</a></li>`,
  )}</ul></div>`;
}

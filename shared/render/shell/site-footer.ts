import type { PageSlice } from '../page-slice.ts';
import { html, type SafeHtml } from './html.ts';
import { shapeSvg } from './shape-svg.ts';
import { linkAttributes } from './shared-link.ts';

/** Socials as icons, columns of links, nothing else. */
export function siteFooter(
  { path, settings }: PageSlice,
  id: (name: string) => SafeHtml | undefined,
): SafeHtml | undefined {
  const { socials, footer } = settings;
  if (socials.length === 0 && footer.length === 0) return undefined;
  return html`<footer${id('footer')} class="footer">
${footer.length > 0 && html`<div class="footer-columns">${footer.map((column) => html`<div class="footer-column">${column.header !== undefined && html`<p class="footer-header">${column.header}</p>`}<ul>${column.items.map((item) => html`<li><a ${linkAttributes(path, item)}>${item.label}</a></li>`)}</ul></div>`)}</div>`}
${socials.length > 0 && html`<div class="socials">${socials.map((social) => html`<a class="social" ${linkAttributes(path, social)}>${shapeSvg(social.icon ?? '', '') ?? html`<span>${social.label}</span>`}<span class="sr-only">${social.label}</span></a>`)}</div>`}
</footer>`;
}

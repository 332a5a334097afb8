import { relativeHref } from '../bundle-href.ts';
import type { SharedLink } from '../shared-settings.ts';
import { html, type SafeHtml } from './html.ts';

/** Address of a link of header or footer as seen from a page. */
export function sharedHref(from: string, link: SharedLink): string {
  if (link.file !== undefined) return relativeHref(from, link.file) + (link.hash ?? '');
  return link.href ?? '#';
}

/** Attributes of such a link: those that leave the site open a new tab and tell it nothing. */
export function linkAttributes(from: string, link: SharedLink): SafeHtml {
  const leaves = link.href !== undefined && /^https?:/.test(link.href);
  return html`href="${sharedHref(from, link)}"${leaves && html` target="_blank" rel="noopener noreferrer"`}`;
}

import { icon } from '#shared/docs/render/content/icon.ts';
import { writeContent } from '../content/write-content.ts';
import { encodePath, relativeHref } from '../bundle-paths.ts';
import { html, type SafeHtml } from '../html.ts';
import { filled, type InterfaceTexts } from '../interface-texts/interface-texts.ts';
import type { PageMenuItem } from '#shared/docs/project/read-page-menu.ts';
import type { PageSlice } from '../page-slice.ts';

/**
 * The entries of a page's menu, as a list. Entries that need a script, or an address that the site does not state, are hidden until `menus.js` has
 * made them work.
 */
export function menuList(
  slice: PageSlice,
  texts: InterfaceTexts,
  writtenIcon: (slice: PageSlice, name: string | undefined) => SafeHtml | undefined,
): SafeHtml {
  const markdown = relativeHref(slice.path, `${slice.path}.md`);
  const entry = (item: PageMenuItem): SafeHtml => {
    switch (item.kind) {
      case 'copy':
        return html`<li hidden><button type="button" data-menu="copy">${sign('copy')}<span>${texts.page.copy}</span></button></li>`;
      case 'view':
        return html`<li><a href="${markdown}">${sign('file-text')}<span>${texts.page.view}</span></a></li>`;
      case 'assistant':
        return html`<li hidden><button type="button" data-menu="assistant">${sign('sparkles')}<span>${texts.scripts.assistant.ask}</span></button></li>`;
      case 'service': {
        const { siteUrl } = slice.settings;
        const address = siteUrl === undefined ? undefined : `${siteUrl}/${encodePath(slice.path)}.md`;
        const asked = (page: string) => encodeURIComponent(filled(question, { address: page }));
        // Without scripts the entry works if the site states its address.
        return html`<li${address === undefined && html` hidden`}><a href="${item.base}${address === undefined ? '' : asked(address)}" target="_blank" rel="noopener noreferrer" data-menu="service" data-base="${item.base}" data-question="${question}">${sign('message-circle')}<span>${filled(texts.page.openIn, { name: item.name })}</span></a></li>`;
      }
      case 'mcp': {
        const { client } = item;
        if (client === 'address' || client === 'command')
          return html`<li hidden><button type="button" data-menu="mcp" data-client="${client}">${sign('copy')}<span>${client === 'address' ? 'MCP' : 'npx add-mcp'}</span></button></li>`;
        const name = `${client === 'cursor' ? 'Cursor' : 'VS Code'} (MCP)`;
        return html`<li hidden><a href="#" data-menu="mcp" data-client="${client}">${sign('external-link')}<span>${filled(texts.page.openIn, { name })}</span></a></li>`;
      }
      case 'link':
        return html`<li><a href="${item.href}" target="_blank" rel="noopener noreferrer" data-menu="link">${writtenIcon(slice, item.icon) ?? sign('external-link')}<span>${item.title}${item.description !== undefined && html`<small>${item.description}</small>`}</span></a></li>`;
    }
  };
  return html`<ul>${(slice.menu?.items ?? []).map(entry)}</ul>`;
}

/** Question for external assistants; they understand it in any language of the page. */
const question = 'Read {address} so that I can ask questions about it.';

const sign = (name: string): SafeHtml => writeContent([icon(name, '')]).html;

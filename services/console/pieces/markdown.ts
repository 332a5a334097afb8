import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { html, type SafeHtml } from '#shared/docs/render/html.ts';

/**
 * Limits of a text, beyond which it is shown as it is written: readers choose what a model repeats, and the parser takes a minute for 10 KB of lists or
 * emphasis inside each other, during which the console answers nobody.
 */
const longest = 20_000;
const mostMarks = 1_000;
/** Marks of emphasis and links. Underscores inside words are none. */
const marks = /[*~]+|(?<!\w)_+|_+(?!\w)|[[\]]/g;
/** A line with more quotations and lists inside each other than a person writes. */
const deep = /^(?:[ \t]*(?:>|[*+-]|[0-9]{1,9}[.)])){13}/m;

/**
 * Markdown of a model or an author as HTML. Tags are shown as text, pictures as their words, and only links with `http` or `https` lead somewhere.
 * `site`: the address of the site, for links without a host. Pure.
 */
export function markdownHtml(markdown: string, site?: string): SafeHtml {
  const written = html`<pre tabindex="0">${markdown}</pre>`;
  if (markdown.length > longest || deep.test(markdown)) return written;
  if ((markdown.match(marks)?.length ?? 0) > mostMarks) return written;
  const root = fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  return html`${root.children.map((node) => nodeHtml(node, site))}`;
}

/** An address that leads to a page of the web; undefined if there is none. Pure. */
export function webAddress(url: string, site?: string): string | undefined {
  const address = URL.parse(url, site);
  return address?.protocol === 'https:' || address?.protocol === 'http:' ? address.href : undefined;
}

/** A link to another site, in a new tab, or its words if it leads nowhere. Pure. */
export function webLink(words: SafeHtml | string, url: string, site?: string): SafeHtml {
  const address = webAddress(url, site);
  return address === undefined
    ? html`${words}`
    : html`<a href="${address}" target="_blank" rel="noopener noreferrer">${words}</a>`;
}

function nodeHtml(node: Nodes, site: string | undefined): SafeHtml {
  const inside = (): SafeHtml => html`${'children' in node ? node.children.map((child) => nodeHtml(child, site)) : ''}`;
  switch (node.type) {
    case 'text':
    case 'html':
      return html`${node.value}`;
    case 'paragraph':
      return html`<p>${inside()}</p>`;
    case 'heading':
      return html`<p><strong>${inside()}</strong></p>`;
    case 'emphasis':
      return html`<em>${inside()}</em>`;
    case 'strong':
      return html`<strong>${inside()}</strong>`;
    case 'delete':
      return html`<s>${inside()}</s>`;
    case 'inlineCode':
      return html`<code>${node.value}</code>`;
    case 'code':
      return html`<pre tabindex="0"><code>${node.value}</code></pre>`;
    case 'blockquote':
      return html`<blockquote>${inside()}</blockquote>`;
    case 'list':
      return node.ordered === true ? html`<ol start="${node.start ?? 1}">${inside()}</ol>` : html`<ul>${inside()}</ul>`;
    case 'listItem':
      return html`<li>${inside()}</li>`;
    case 'break':
      return html`<br>`;
    case 'thematicBreak':
      return html`<hr>`;
    case 'link':
      return webLink(inside(), node.url, site);
    case 'image':
      return html`${node.alt ?? ''}`;
    case 'table':
      return html`<div class="wide"><table>${inside()}</table></div>`;
    case 'tableRow':
      return html`<tr>${inside()}</tr>`;
    case 'tableCell':
      return html`<td>${inside()}</td>`;
    default:
      return inside();
  }
}

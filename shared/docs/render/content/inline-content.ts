import type { Root } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { languageOf } from '../interface-texts/language.ts';
import type { PageSlice } from '../page-slice.ts';
import { escapeHtmlText, SafeHtml } from '../html.ts';
import { pageAddresses } from './page-addresses.ts';
import { toContent } from './to-content.ts';
import { writeContent } from './write-content.ts';

/** What makes a text more than one line of words: in such a line a number or a hash starts no list or heading. */
const off =
  'list headingAtx setextUnderline thematicBreak blockQuote codeIndented codeFenced definition htmlFlow'.split(' ');
const longest = 5000;
/** Without one of these a line is only words, as most descriptions are. To parse one takes some 0.4 ms. */
const marks = /[\\`*_[<&\n\r\0]/;

/** Its internal targets each start with a slash. */
export type InlineContent = { html: SafeHtml; text: string; links: readonly string[] };

/**
 * A line of Markdown from settings or frontmatter. It is rendered like content, so the same rules apply. Its tags are left out, or shown as
 * they are written. `ids`: what it may link to in the page that it stands on.
 */
export function inlineContent(
  markdown: string,
  slice: PageSlice,
  tags: 'left out' | 'shown',
  ids: ReadonlySet<string> = new Set(),
): InlineContent {
  const line = markdown.slice(0, longest).toWellFormed().trim();
  if (!marks.test(line)) return { html: new SafeHtml(escapeHtmlText(line)), text: oneLine(line), links: [] };
  const disabled = tags === 'shown' ? [...off, 'htmlText'] : off;
  const parsed = fromMarkdown(line, {
    extensions: [{ disable: { null: disabled } }],
  });
  const lines = parsed.children.map((node) => (node.type === 'paragraph' ? node.children : []));
  const inline = lines.flatMap((words, at) => [...(at === 0 ? [] : [{ type: 'text' as const, value: ' ' }]), ...words]);
  const shown = inline.filter((node) => node.type !== 'html');
  // Between blocks of a page there are line breaks; inside of a paragraph there are none.
  const paragraph: Root = { type: 'root', children: [{ type: 'paragraph', children: shown }] };
  const { main } = toContent(paragraph, () => undefined, languageOf(slice.language).texts);
  const made = main.flatMap((child) => (child.type === 'element' ? child.children : []));
  const addresses = pageAddresses(slice, ids, () => undefined);
  const { html, sections } = writeContent(made, { addresses });
  return { html, text: oneLine(sections[0]?.text ?? ''), links: [...addresses.links.keys()] };
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

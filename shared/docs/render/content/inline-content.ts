import type { Root } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { languageOf } from '../interface-texts/language.ts';
import type { PageSlice } from '../page-slice.ts';
import { escapeHtmlText, SafeHtml } from '../html.ts';
import { pageAddresses } from './page-addresses.ts';
import { toContent } from './to-content.ts';
import { writeContent } from './write-content.ts';

/** Block constructs of Markdown that are disabled, because in a single line a number or a hash does not start a list or heading. */
const off =
  'list headingAtx setextUnderline thematicBreak blockQuote codeIndented codeFenced definition htmlFlow'.split(' ');
const longest = 5000;
/** A line without any of these characters is plain text, as most descriptions are. Parsing takes some 0.4 ms. */
const marks = /[\\`*_[<&\n\r\0]/;

/** A rendered line. `links`: the internal targets, each with a slash in front. */
export type InlineContent = { html: SafeHtml; text: string; links: readonly string[] };

/**
 * Renders a line of Markdown from settings or frontmatter like content, by the same rules. Tags are left out, or shown as text. `ids`: the ids of the
 * page that shows the line, for its links.
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
  // Line breaks belong between blocks of a page, so the content is put into one paragraph.
  const paragraph: Root = { type: 'root', children: [{ type: 'paragraph', children: shown }] };
  const { main } = toContent(paragraph, () => undefined, languageOf(slice.language).texts);
  const made = main.flatMap((child) => (child.type === 'element' ? child.children : []));
  const addresses = pageAddresses(slice, ids, () => undefined);
  const { html, sections } = writeContent(made, { addresses });
  return { html, text: oneLine(sections[0]?.text ?? ''), links: [...addresses.links.keys()] };
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

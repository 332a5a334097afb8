import type { Root as HtmlRoot } from 'hast';
import type { Root } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { languageOf } from '../interface-texts/language.ts';
import type { PageSlice } from '../page-slice.ts';
import { sanitizeContent } from '../sanitize/sanitize-content.ts';
import { resolveAddresses } from './resolve-addresses.ts';
import { toContent } from './to-content.ts';

/** What makes a text more than one line of words: in such a line a number or a hash starts no list or heading. */
const off =
  'list headingAtx setextUnderline thematicBreak blockQuote codeIndented codeFenced definition htmlFlow'.split(' ');
const longest = 5000;
/** Without one of these a line is only words, as most descriptions are. To parse one takes some 0.4 ms. */
const marks = /[\\`*_[<&\n\r\0]/;

/**
 * A line of Markdown from settings or frontmatter. It is rendered like content, so the same rules apply. Its tags are left out, or shown as
 * they are written. `links`: its internal targets, each starting with a slash.
 */
export function inlineContent(
  markdown: string,
  slice: PageSlice,
  tags: 'left out' | 'shown',
): { tree: HtmlRoot; links: ReadonlyMap<string, number> } {
  const line = markdown.slice(0, longest).toWellFormed().trim();
  if (!marks.test(line)) return { tree: { type: 'root', children: [{ type: 'text', value: line }] }, links: new Map() };
  const disabled = tags === 'shown' ? [...off, 'htmlText'] : off;
  const parsed = fromMarkdown(line, {
    extensions: [{ disable: { null: disabled } }],
  });
  const lines = parsed.children.map((node) => (node.type === 'paragraph' ? node.children : []));
  const inline = lines.flatMap((words, at) => [...(at === 0 ? [] : [{ type: 'text' as const, value: ' ' }]), ...words]);
  const shown = inline.filter((node) => node.type !== 'html');
  // Between blocks of a page there are line breaks; inside of a paragraph there are none.
  const paragraph: Root = { type: 'root', children: [{ type: 'paragraph', children: shown }] };
  const { tree } = toContent(paragraph, () => undefined, languageOf(slice.language).texts);
  const made: HtmlRoot = {
    type: 'root',
    children: tree.children.flatMap((child) => (child.type === 'element' ? child.children : [])),
  };
  const links = resolveAddresses([made], slice, () => undefined);
  return { tree: sanitizeContent(made), links };
}

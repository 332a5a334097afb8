import type { Root } from 'mdast';
import { fromMarkdown, type Options } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { mdxFromMarkdown } from 'mdast-util-mdx';
import { cjkFriendlyExtension } from 'micromark-extension-cjk-friendly';
import { gfmSyntax } from './gfm-syntax.ts';
import { lenientElements } from './lenient/lenient-elements.ts';
import { lenientMdx, strictMdx } from './lenient/lenient-syntax.ts';
import { mathBlocks, mathFromMarkdown, mathSyntax } from './math-syntax.ts';
import { pageParser, type ToTree } from './page-parser.ts';
import type { PageParser } from './parse-page.ts';
import { fencedLines } from './prepare-source.ts';
import { type BrokenLimit, endsOfLists, inlineParts, ParserLimit } from './source-limits.ts';

/** micromark with CommonMark, emphasis in Chinese, Japanese and Korean, GFM, MDX and math. */
export const micromarkTree: ToTree = (text, format, math, repairs): Root => {
  const limit = limitOf(text);
  if (limit) throw new ParserLimit(limit);
  const mathExtensions = math ? [mathSyntax(mathBlocks(text))] : [];
  const mathTrees = math ? [mathFromMarkdown()] : [];
  const markdown = [gfmSyntax, cjkFriendlyExtension()];
  if (format === 'mdx') {
    return fromMarkdown(text, {
      extensions: [...markdown, repairs ? lenientMdx(repairs) : strictMdx(text), ...mathExtensions],
      mdastExtensions: [
        gfmFromMarkdown(),
        mdxFromMarkdown(),
        ...(repairs ? [lenientElements(repairs)] : []),
        ...mathTrees,
      ],
    });
  }
  return fromMarkdown(text, {
    extensions: [...markdown, ...(format === 'plain' ? [mdxWithoutElements] : []), ...mathExtensions],
    mdastExtensions: [gfmFromMarkdown(), ...mathTrees],
  });
};

function limitOf(text: string): BrokenLimit | undefined {
  if (text.length < leastToCheck) return undefined;
  const lines = text.split('\n');
  const fenced = fencedLines(lines);
  return inlineParts(lines, fenced) ?? endsOfLists(lines, fenced);
}

/** Length from which a text is checked. A shorter one, such as a paragraph of a page, is within the limits. */
const leastToCheck = 40_000;

/** `PageParser` on micromark, the reference for other parsers. */
export const micromarkPageParser: PageParser = pageParser(micromarkTree);

type Extension = NonNullable<Options['extensions']>[number];

/** The Markdown of MDX without tags and expressions. It has no HTML, no `<autolinks>` and no indented code. */
const mdxWithoutElements: Extension = {
  disable: { null: ['autolink', 'codeIndented', 'htmlFlow', 'htmlText'] },
};

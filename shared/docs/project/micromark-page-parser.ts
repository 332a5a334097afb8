import type { Root } from 'mdast';
import { fromMarkdown, type Options } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { mdxFromMarkdown } from 'mdast-util-mdx';
import { gfm } from 'micromark-extension-gfm';
import { cjkFriendlyExtension } from 'micromark-extension-cjk-friendly';
import { lenientElements } from './lenient/lenient-elements.ts';
import { lenientMdx, strictMdx } from './lenient/lenient-syntax.ts';
import { mathBlocks, mathFromMarkdown, mathSyntax } from './math-syntax.ts';
import { pageParser, type ToTree } from './page-parser.ts';
import type { PageParser } from './parse-page.ts';

/** micromark with CommonMark, emphasis in Chinese, Japanese and Korean, GFM, MDX and math. */
export const micromarkTree: ToTree = (text, format, math, repairs): Root => {
  const mathExtensions = math ? [mathSyntax(mathBlocks(text))] : [];
  const mathTrees = math ? [mathFromMarkdown()] : [];
  const markdown = [gfm(), cjkFriendlyExtension()];
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

/** `PageParser` on micromark, the reference for other parsers. */
export const micromarkPageParser: PageParser = pageParser(micromarkTree);

type Extension = NonNullable<Options['extensions']>[number];

/** The Markdown of MDX without tags and expressions: no HTML, no `<autolinks>`, no indented code. */
const mdxWithoutElements: Extension = {
  disable: { null: ['autolink', 'codeIndented', 'htmlFlow', 'htmlText'] },
};

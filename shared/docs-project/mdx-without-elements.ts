import type { Options } from 'mdast-util-from-markdown';

type Extension = NonNullable<Options['extensions']>[number];

/** Markdown as MDX has it, without its tags and expressions: no HTML, no `<autolinks>`, no code by indentation. */
export const mdxWithoutElements: Extension = {
  disable: { null: ['autolink', 'codeIndented', 'htmlFlow', 'htmlText'] },
};

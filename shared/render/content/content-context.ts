import type { ElementContent } from 'hast';
import type { Nodes } from 'mdast';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import type { Anchors } from './anchors.ts';

/** An entry of "On this page". */
export type TocEntry = { anchor: string; title: string; depth: 2 | 3 };

export type FeedItem = { anchor: string; title: string; text: string; tags: string[] };

/** What the parts of a page's content share while they become HTML. */
export type ContentContext = {
  anchors: Anchors;
  toc: TocEntry[];
  feedItems: FeedItem[];
  /** Content for the column beside the text: request and response examples, panels. */
  aside: ElementContent[];
  /** Coloured code by slot; see `codeBlock`. */
  codes: { html: string; text: string }[];
  /** Content of an element as HTML tree. */
  children(nodes: readonly Nodes[]): ElementContent[];
  /** A line of Markdown that an author wrote in an attribute. */
  inlineMarkdown(text: string): ElementContent[];
  report(code: string, message: string, node?: Pick<Nodes, 'position'>, severity?: Diagnostic['severity']): void;
};

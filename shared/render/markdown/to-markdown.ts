import type { Nodes, Root } from 'mdast';
import { gfmToMarkdown } from 'mdast-util-gfm';
import { toMarkdown } from 'mdast-util-to-markdown';
import { asMarkdown } from './as-markdown.ts';

type PageHead = { title: string; description?: string | undefined };

/** Markdown twin of a page: title, description, and its content with components brought to what Markdown can say. */
export function pageMarkdown({ title, description }: PageHead, tree: Root): string {
  const heading = `# ${title.replace(/\s+/g, ' ').trim()}\n`;
  const lead =
    description === undefined || description.trim() === ''
      ? ''
      : `\n> ${description.trim().replace(/\s*\n\s*/g, '\n> ')}\n`;
  const body = markdownOf(tree.children).trim();
  return body === '' ? heading + lead : `${heading}${lead}\n${body}\n`;
}

/** Markdown of static nodes. */
export function markdownOf(nodes: readonly Nodes[]): string {
  const root: Root = { type: 'root', children: asMarkdown(nodes) };
  return toMarkdown(root, {
    bullet: '-',
    emphasis: '_',
    rule: '-',
    fences: true,
    incrementListMarker: true,
    listItemIndent: 'one',
    extensions: [gfmToMarkdown({ tableCellPadding: false, tablePipeAlign: false })],
    handlers: {
      math: (node: { value: string }) => `$$\n${node.value}\n$$`,
      inlineMath: (node: { value: string }) => `$${node.value}$`,
    },
  });
}

import type { Nodes, Root } from 'mdast';
import type {} from 'mdast-util-mdx';
import { toString as textOf } from 'mdast-util-to-string';
import { headingAnchor } from './heading-anchor.ts';
import { isInvisible, shownAttributes } from './element-text.ts';
import type { PageSection } from './page-section.ts';

/**
 * What a reader of the page sees, by section. Not there: comments, imports, expressions, and elements that are hidden from readers,
 * so that nobody finds or is told what the page does not show.
 */
export function pageSections(tree: Root): PageSection[] {
  const sections: PageSection[] = [{ anchor: '', headings: [], text: '' }];
  const anchors = new Map<string, number>();
  const open: { depth: number; title: string }[] = [];

  const addText = (text: string): void => {
    const section = sections.at(-1);
    if (section && text.trim() !== '') section.text += `${section.text === '' ? '' : '\n\n'}${text.trim()}`;
  };
  const addHeading = (depth: number, title: string, id: string | undefined): void => {
    while ((open.at(-1)?.depth ?? 0) >= depth) open.pop();
    open.push({ depth, title });
    sections.push({
      anchor: headingAnchor(title, id, anchors),
      headings: open.map((heading) => heading.title),
      text: '',
    });
  };

  const visit = (node: Nodes): void => {
    if (node.type === 'heading') return addHeading(node.depth, textOf(node), node.data?.id);
    if (node.type === 'mdxJsxFlowElement') {
      if (isInvisible(node)) return;
      const level = /^h([1-6])$/i.exec(node.name ?? '')?.[1];
      if (level !== undefined) return addHeading(Number(level), textOf(node), undefined);
      addText(shownAttributes(node).join(': '));
      for (const child of node.children) visit(child);
      return;
    }
    if (node.type === 'root' || node.type === 'blockquote' || node.type === 'footnoteDefinition') {
      for (const child of node.children) visit(child);
      return;
    }
    if ((node.type === 'list' || node.type === 'listItem') && holdsBlocks(node)) {
      for (const child of node.children) visit(child);
      return;
    }
    addText(blockText(node));
  };
  visit(tree);
  return sections.filter((section) => section.text !== '' || section.anchor !== '');
}

/** Lists whose items have elements, headings or code are read block by block. */
const holdsBlocks = (node: Nodes): boolean =>
  'children' in node &&
  node.children.some(
    (child) =>
      ['mdxJsxFlowElement', 'heading', 'code'].includes(child.type) ||
      (child.type === 'listItem' && holdsBlocks(child)),
  );

function blockText(node: Nodes): string {
  switch (node.type) {
    case 'text':
    case 'inlineCode':
    case 'code':
    case 'inlineMath':
    case 'math':
      return node.value;
    case 'break':
      return '\n';
    case 'html':
      return '';
    case 'table':
      return node.children.map((row) => row.children.map((cell) => blockText(cell)).join(' | ')).join('\n');
    case 'list':
      return node.children
        .map((item, at) => `${node.ordered ? `${(node.start ?? 1) + at}.` : '-'} ${blockText(item)}`)
        .join('\n');
    case 'listItem':
      return node.children.map(blockText).join('\n');
    case 'mdxTextExpression':
    case 'mdxFlowExpression':
      return literalText(node.value);
    case 'mdxJsxTextElement':
    case 'mdxJsxFlowElement': {
      if (isInvisible(node)) return '';
      if (node.name === 'br') return '\n';
      return [...shownAttributes(node), node.children.map(blockText).join('')].filter((text) => text !== '').join(' ');
    }
    default:
      return 'children' in node ? node.children.map(blockText).join('') : '';
  }
}

/** `{"text"}` and `{' '}` are text; whatever needs evaluation is the renderer's. */
const literalText = (expression: string): string =>
  /^\s*(["'`])((?:(?!\1|\\|\$\{).)*)\1\s*$/s.exec(expression)?.[2] ?? '';

import type { Element, ElementContent, Root as HtmlRoot } from 'hast';
import { h } from 'hastscript';
import type { Code, Emphasis, Heading, Root, Table } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { defaultHandlers, type Handler, type State, toHast } from 'mdast-util-to-hast';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import type { BlockMath, InlineMath } from '#shared/docs-project/parse-page.ts';
import { componentRegistry } from '../components/registry.ts';
import type { StaticElement, StaticFragment } from '../evaluate/static-tree.ts';
import { PageFailed } from '../page-failed.ts';
import { Anchors } from './anchors.ts';
import { codeBlock } from './code-block.ts';
import type { ContentContext } from './content-context.ts';
import { htmlElement } from './html-element.ts';
import { toText } from './to-text.ts';

export type Content = Pick<ContentContext, 'anchors' | 'toc' | 'feedItems' | 'codes'> & {
  tree: HtmlRoot;
  aside: HtmlRoot;
};

const MAX_HEADINGS_IN_TOC = 300;
const MAX_DEPTH = 250;

/** HTML tree of a static page: components rendered, headings with their ids, code coloured. Not sanitized yet. */
export function toContent(tree: Root, report: (diagnostic: Omit<Diagnostic, 'file'>) => void): Content {
  let depth = 0;
  let state: State | undefined;
  const context: ContentContext = {
    anchors: new Anchors(),
    toc: [],
    feedItems: [],
    aside: [],
    codes: [],
    children: () => [],
    inlineMarkdown(text) {
      const parsed = fromMarkdown(text.slice(0, 5000));
      const blocks = parsed.children.filter((node) => node.type !== 'html');
      return blocks.flatMap((node) =>
        node.type === 'paragraph' ? context.children(node.children) : context.children([node]),
      );
    },
    report(code, message, node, severity = 'warning') {
      const start = node?.position?.start;
      report({
        severity,
        code,
        message: message.slice(0, 500),
        ...(start && { line: start.line, column: start.column }),
      });
    },
  };

  const component: Handler = (pageState, element: StaticElement) => {
    state = pageState;
    depth += 1;
    try {
      if (depth > MAX_DEPTH) throw new PageFailed('nesting-too-deep', 'its components are nested too deep');
      const known = componentRegistry.get(element.name);
      return known ? known(element, context) : htmlElement(element, context);
    } finally {
      depth -= 1;
    }
  };
  const fragment: Handler = (pageState, node: StaticFragment) => {
    state = pageState;
    return context.children(node.children);
  };
  const code: Handler = (_state, node: Code) =>
    codeBlock({ code: node.value, language: node.lang, meta: node.meta }, context);
  const heading: Handler = (pageState, node: Heading) => {
    const children = pageState.all(node);
    return headingElement(node.depth, children, node.data?.id, context, false);
  };
  const table: Handler = (pageState, node: Table) => {
    const made = defaultHandlers.table(pageState, node);
    return h('div', { className: ['table-wrap'], tabIndex: 0 }, made);
  };
  const math: Handler = (_state, node: InlineMath | BlockMath) =>
    node.type === 'math'
      ? h('div', { className: ['math', 'math-block'] }, h('code', node.value))
      : h('code', { className: ['math'] }, node.value);

  // The state of the whole page, so that definitions and footnotes count everywhere; without the line breaks that blocks of a root get.
  context.children = (nodes) => state?.all({ type: 'emphasis', children: [...nodes] as Emphasis['children'] }) ?? [];
  const options = {
    handlers: { staticElement: component, staticFragment: fragment, code, heading, table, math, inlineMath: math },
    clobberPrefix: 'note-',
  };
  const made = toHast(tree, options);
  const root: HtmlRoot = made.type === 'root' ? made : { type: 'root', children: [made] };
  context.toc.splice(MAX_HEADINGS_IN_TOC);
  const { anchors, toc, feedItems, codes, aside } = context;
  return { tree: root, aside: { type: 'root', children: aside }, anchors, toc, feedItems, codes };
}

/** A heading with its id and a link to itself; of the second and third level in the table of contents too. */
export function headingElement(
  depth: number,
  children: ElementContent[],
  writtenId: string | undefined,
  context: ContentContext,
  noAnchor: boolean,
): Element {
  const text = toText(children).trim();
  const id = writtenId === undefined ? context.anchors.claim(text) : context.anchors.claimWritten(writtenId);
  if ((depth === 2 || depth === 3) && text !== '') context.toc.push({ anchor: id, title: text.slice(0, 300), depth });
  const link = noAnchor
    ? []
    : [h('a', { className: ['heading-anchor'], href: `#${id}`, ariaLabel: `Link to this section` })];
  return h(`h${depth}`, { id }, [...children, ...link]);
}

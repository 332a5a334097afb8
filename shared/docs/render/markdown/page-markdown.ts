import type { BlockContent, Nodes, PhrasingContent, Root } from 'mdast';
import { gfmToMarkdown } from 'mdast-util-gfm';
import { toMarkdown } from 'mdast-util-to-markdown';
import { type MarkdownWriter, plainText, textProp } from '#shared/docs/render/components/component.ts';
import { componentRegistry } from '#shared/docs/render/components/registry.ts';
import type { StaticElement } from '#shared/docs/render/evaluate/static-tree.ts';

type PageHead = { title: string; description?: string | undefined };

/** Markdown twin of a page: title, description, and its content with components turned into plain Markdown. */
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

const PHRASING = new Set(
  'text emphasis strong delete inlineCode break link image linkReference imageReference footnoteReference inlineMath'.split(
    ' ',
  ),
);

/** Static nodes as blocks of plain Markdown: lines of text that stand by themselves become paragraphs. */
function asMarkdown(nodes: readonly Nodes[]): BlockContent[] {
  const blocks: BlockContent[] = [];
  let line: PhrasingContent[] = [];
  const endLine = () => {
    if (line.some((node) => node.type !== 'text' || node.value.trim() !== ''))
      blocks.push({ type: 'paragraph', children: trimmed(line) });
    line = [];
  };
  for (const node of nodes.flatMap(plain)) {
    if (PHRASING.has(node.type)) line.push(node as PhrasingContent);
    else {
      endLine();
      blocks.push(node as BlockContent);
    }
  }
  endLine();
  return blocks;
}

/** Static nodes as a line of text; blocks among them give their text. */
function asLine(nodes: readonly Nodes[]): PhrasingContent[] {
  return nodes.flatMap(plain).flatMap((node): PhrasingContent[] => {
    if (PHRASING.has(node.type)) return [node as PhrasingContent];
    if (node.type === 'paragraph' || node.type === 'heading') return node.children;
    if ('children' in node) return asLine(node.children);
    return 'value' in node ? [{ type: 'inlineCode', value: node.value.replace(/\s+/g, ' ') }] : [];
  });
}

/** One node as plain Markdown. */
function plain(node: Nodes): Nodes[] {
  switch (node.type) {
    case 'staticFragment':
      return node.children.flatMap(plain);
    case 'staticElement':
      return elementMarkdown(node);
    case 'paragraph': {
      const children = node.children.flatMap(plain);
      return children.every((child) => PHRASING.has(child.type))
        ? [{ ...node, children: children as PhrasingContent[] }]
        : asMarkdown(children);
    }
    case 'heading':
    case 'emphasis':
    case 'strong':
    case 'delete':
    case 'link':
    case 'linkReference':
    case 'tableCell':
      return [{ ...node, children: asLine(node.children) }];
    case 'blockquote':
    case 'listItem':
    case 'footnoteDefinition':
      return [{ ...node, children: asMarkdown(node.children) }];
    case 'html':
      return [];
    default:
      return 'children' in node ? [{ ...node, children: node.children.flatMap(plain) } as Nodes] : [node];
  }
}

const writer: MarkdownWriter = { blocks: asMarkdown, line: asLine };

function elementMarkdown(element: StaticElement): Nodes[] {
  const { name, props, children } = element;
  const known = componentRegistry.get(name);
  if (known) return known.markdown?.(element, writer) ?? asMarkdown(children);
  switch (name) {
    case 'a': {
      const url = textProp(props, 'href');
      return url === undefined ? children.flatMap(plain) : [{ type: 'link', url, children: asLine(children) }];
    }
    case 'img': {
      const url = textProp(props, 'src');
      return url === undefined ? [] : [{ type: 'image', url, alt: textProp(props, 'alt') ?? '' }];
    }
    case 'br':
      return [{ type: 'break' }];
    case 'hr':
      return [{ type: 'thematicBreak' }];
    case 'b':
    case 'strong':
      return [{ type: 'strong', children: asLine(children) }];
    case 'i':
    case 'em':
      return [{ type: 'emphasis', children: asLine(children) }];
    case 'code':
    case 'kbd':
    case 'samp':
      return [{ type: 'inlineCode', value: plainText(children) }];
    case 'pre':
      return [{ type: 'code', value: plainText(children) }];
    case 'h1':
    case 'h2':
    case 'h3':
    case 'h4':
    case 'h5':
    case 'h6':
      return [{ type: 'heading', depth: Number(name[1]) as 1 | 2 | 3 | 4 | 5 | 6, children: asLine(children) }];
    case 'ul':
    case 'ol':
      return [
        {
          type: 'list',
          ordered: name === 'ol',
          spread: false,
          children: children
            .filter((child): child is StaticElement => child.type === 'staticElement' && child.name === 'li')
            .map((item) => ({
              type: 'listItem',
              spread: false,
              children: asMarkdown(item.children),
            })),
        },
      ];
    case 'blockquote':
      return [{ type: 'blockquote', children: asMarkdown(children) }];
    case 'table':
      return tableMarkdown(element);
    case 'iframe':
    case 'video':
    case 'audio': {
      const url = textProp(props, 'src');
      const label = textProp(props, 'title') ?? name;
      return url === undefined
        ? []
        : [{ type: 'paragraph', children: [{ type: 'link', url, children: [{ type: 'text', value: label }] }] }];
    }
    case 'svg':
    case 'script':
    case 'style':
      return [];
    default:
      return INLINE.has(name) ? children.flatMap(plain) : asMarkdown(children);
  }
}

const INLINE = new Set(
  'span sup sub small mark u s del ins abbr cite q time var label button picture source'.split(' '),
);

function tableMarkdown(table: StaticElement): Nodes[] {
  const rows = descendants(table.children, 'tr').map((row) => ({
    type: 'tableRow' as const,
    children: row.children
      .filter(
        (cell): cell is StaticElement => cell.type === 'staticElement' && (cell.name === 'td' || cell.name === 'th'),
      )
      .map((cell) => ({ type: 'tableCell' as const, children: asLine(cell.children) })),
  }));
  return rows.length === 0 ? [] : [{ type: 'table', children: rows }];
}

function descendants(nodes: readonly Nodes[], name: string): StaticElement[] {
  return nodes.flatMap((node): StaticElement[] => {
    if (node.type === 'staticElement' && node.name === name) return [node];
    return 'children' in node ? descendants(node.children, name) : [];
  });
}

function trimmed(line: PhrasingContent[]): PhrasingContent[] {
  const [first, last] = [line[0], line.at(-1)];
  if (first?.type === 'text') line[0] = { ...first, value: first.value.trimStart() };
  const end = line.at(-1);
  if (last?.type === 'text' && end?.type === 'text') line[line.length - 1] = { ...end, value: end.value.trimEnd() };
  return line;
}

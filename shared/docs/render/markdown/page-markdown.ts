import type {
  BlockContent,
  Code,
  Heading,
  List,
  ListItem,
  Nodes,
  Paragraph,
  PhrasingContent,
  Root,
  Strong,
} from 'mdast';
import { gfmToMarkdown } from 'mdast-util-gfm';
import { defaultHandlers, type Handle, toMarkdown } from 'mdast-util-to-markdown';
import { type MarkdownWriter, plainText, textProp } from '#shared/docs/render/components/component.ts';
import { componentRegistry } from '#shared/docs/render/components/registry.ts';
import type { StaticElement } from '#shared/docs/render/evaluate/static-tree.ts';
import { plainBlocks } from './plain-blocks.ts';

/** An evaluated page, with its source if it is known. */
type Page = {
  tree: Root;
  source?: { text: string; nodes: ReadonlySet<Nodes> };
  /** Generated nodes of the tree, from an API description, above and below the author's content. */
  added?: { above: readonly Nodes[]; below: readonly Nodes[] };
};
type PageHead = { title: string; description?: string | undefined };

/**
 * Markdown twin of a page: title, description, and its content with components converted to plain Markdown. Blocks in which nothing was evaluated are
 * copied from the source.
 */
export function pageMarkdown({ title, description }: PageHead, { tree, source, added }: Page): string {
  const heading = `# ${title.replace(/\s+/g, ' ').trim()}\n`;
  const lead =
    description === undefined || description.trim() === ''
      ? ''
      : `\n> ${description.trim().replace(/\s*\n\s*/g, '\n> ')}\n`;
  const { above = [], below = [] } = added ?? {};
  const own = tree.children.slice(above.length, tree.children.length - below.length);
  const written = source === undefined ? markdownOf(own) : bodyFrom(source, own);
  const body = [addedMarkdown(above), written, addedMarkdown(below)]
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join('\n\n');
  return body === '' ? heading + lead : `${heading}${lead}\n${body}\n`;
}

/** Copies consecutive unchanged nodes from the source together, with the text between them. */
function bodyFrom({ text, nodes }: NonNullable<Page['source']>, children: readonly Nodes[]): string {
  const order = new Map([...nodes].map((node, at) => [node, at]));
  const parts: string[] = [];
  for (let at = 0; at < children.length; ) {
    const first = at;
    const place = placeOf(children[at]);
    do at += 1;
    while (
      at < children.length &&
      (place === undefined ? placeOf(children[at]) === undefined : placeOf(children[at]) === place + at - first)
    );
    const run = children.slice(first, at);
    const [start, end] = [run[0]?.position?.start.offset, run.at(-1)?.position?.end.offset];
    const part = (place === undefined ? markdownOf(run) : text.slice(start, end)).trim();
    if (part === '') continue;
    // Without a separator, two lists would become one.
    if (children[first - 1]?.type === 'list' && /^(?:[-*+]|\d{1,9}[.)])\s/.test(part)) parts.push('<!-- -->');
    parts.push(part);
  }
  return parts.join('\n\n');

  /** Index of a node in the source; undefined if it was changed or does not start its line. */
  function placeOf(node: Nodes | undefined): number | undefined {
    if (node === undefined || node.position?.start.column !== 1) return undefined;
    return order.get(node);
  }
}

/**
 * Markdown of nodes whose text is already Markdown, such as descriptions. Searching it for characters to escape would take most of a page's time.
 * Simple nodes are written here in the same way as the library would.
 */
const addedMarkdown = (nodes: readonly Nodes[]): string =>
  markdownOf(nodes, {
    text: addedText,
    inlineCode: addedCode,
    paragraph: addedParagraph,
    heading: addedHeading,
    code: addedFence,
    list: fieldList,
  });

const addedText = ({ value }: { value: string }): string => value;
const addedCode = ({ value }: { value: string }): string =>
  value.includes('`') ? `\`\` ${value} \`\`` : `\`${value}\``;

const addedParagraph: Handle = (node: Paragraph, parent, state, info) => {
  let line = '';
  for (const [at, child] of node.children.entries()) {
    const text = child.type === 'strong' && at === 0 ? addedStrong(child, node.children[1]) : addedWords(child);
    if (text === undefined) return defaultHandlers.paragraph(node, parent, state, info);
    line += text;
  }
  return line;
};

const addedWords = (node: PhrasingContent): string | undefined =>
  node.type === 'text' ? addedText(node) : node.type === 'inlineCode' ? addedCode(node) : undefined;

/** Markdown of bold words at the start of a line, followed by a space or nothing; undefined for others. */
function addedStrong({ children: [only, other] }: Strong, next: PhrasingContent | undefined): string | undefined {
  if (next !== undefined && !(next.type === 'text' && next.value.startsWith(' '))) return undefined;
  const text = only === undefined || other !== undefined ? undefined : addedWords(only);
  return text === undefined || /^\s|[*_]|\s$|^$/.test(text) ? undefined : `**${text}**`;
}

const addedHeading: Handle = (node: Heading, parent, state, info) => {
  const [only, other] = node.children;
  return only?.type === 'text' && other === undefined && /^[^\s].*$/.test(only.value)
    ? `${'#'.repeat(node.depth)} ${only.value}`
    : defaultHandlers.heading(node, parent, state, info);
};

const plainInfo = /^[A-Za-z0-9 ="',.+#-]+$/;

const addedFence: Handle = (node: Code, parent, state, info) => {
  const { lang, meta, value } = node;
  if (!plainInfo.test(lang ?? '') || !plainInfo.test(meta ?? '') || value === '' || value.includes('```'))
    return defaultHandlers.code(node, parent, state, info);
  return `\`\`\`${lang} ${meta}\n${value}\n\`\`\``;
};

/** Cache of the text of list items that several pages share. Items begin with a paragraph, so the list before them does not change their text. */
const itemTexts = new WeakMap<ListItem, string>();

/**
 * Writes a list of fields in the same way as any list. The library also tracks line and column of each word for every surrounding list, which is not
 * needed here.
 */
const fieldList: Handle = (node: List, parent, state, info) => {
  if (node.data?.isOfFields !== true) return defaultHandlers.list(node, parent, state, info);
  const exit = state.enter('list');
  const bullet = state.bulletLastUsed === '-' ? '*' : '-';
  const items = node.children.map((item) => {
    const known = itemTexts.get(item);
    if (known !== undefined) return `${bullet} ${known}`;
    const exitItem = state.enter('listItem');
    const blocks = item.children.map((child) => {
      const block = state.handle(child, item, state, info);
      if (child.type !== 'list') state.bulletLastUsed = undefined;
      return block;
    });
    state.bulletLastUsed = undefined;
    exitItem();
    const text = blocks.join('\n\n').replaceAll(/(\r?\n|\r)(?=[^\r\n])/g, '$1  ');
    if (item.data?.isRepeated === true) itemTexts.set(item, text);
    return `${bullet} ${text}`;
  });
  state.bulletLastUsed = bullet;
  exit();
  return items.join('\n\n');
};

type Handlers = NonNullable<NonNullable<Parameters<typeof toMarkdown>[1]>['handlers']>;

/** Markdown of static nodes. `handlers` replace the writers of some node types. */
export function markdownOf(nodes: readonly Nodes[], handlers?: Partial<Handlers>): string {
  const blocks = asMarkdown(nodes);
  const plain = handlers === undefined ? plainBlocks(blocks, oneBlock) : undefined;
  if (plain === undefined) return anyMarkdown(blocks, handlers);
  return /^$|[\r\n]$/.test(plain) ? plain : `${plain}\n`;
}

/** Markdown of a block, written before another one, so that its own trailing line break is kept. */
export const oneBlock = (block: Root['children'][number]): string =>
  anyMarkdown([block, { type: 'thematicBreak' }]).slice(0, -'\n\n---\n'.length);

const extensions = [gfmToMarkdown({ tableCellPadding: false, tablePipeAlign: false })];

/** Markdown of any blocks, written by the library. */
export function anyMarkdown(children: Root['children'], handlers?: Partial<Handlers>): string {
  return toMarkdown(
    { type: 'root', children },
    {
      bullet: '-',
      emphasis: '_',
      rule: '-',
      fences: true,
      incrementListMarker: true,
      listItemIndent: 'one',
      extensions,
      handlers: {
        math: (node: { value: string }) => `$$\n${node.value}\n$$`,
        inlineMath: (node: { value: string }) => `$${node.value}$`,
        ...handlers,
      },
    },
  );
}

const phrasing = new Set(
  'text emphasis strong delete inlineCode break link image linkReference imageReference footnoteReference inlineMath'.split(
    ' ',
  ),
);

/** Static nodes as blocks of plain Markdown. Consecutive inline nodes become a paragraph. */
function asMarkdown(nodes: readonly Nodes[]): BlockContent[] {
  const blocks: BlockContent[] = [];
  let line: PhrasingContent[] = [];
  const endLine = () => {
    if (line.some((node) => node.type !== 'text' || node.value.trim() !== ''))
      blocks.push({ type: 'paragraph', children: trimmed(line) });
    line = [];
  };
  for (const node of nodes.flatMap(plain)) {
    if (phrasing.has(node.type)) line.push(node as PhrasingContent);
    else {
      endLine();
      const before = blocks.at(-1);
      if (node.type === 'list' && node.data?.isOfFields && before?.type === 'list' && before.data?.isOfFields)
        before.children.push(...node.children);
      else blocks.push(node as BlockContent);
    }
  }
  endLine();
  return blocks;
}

/** Static nodes as inline nodes; blocks among them contribute their text. */
function asLine(nodes: readonly Nodes[]): PhrasingContent[] {
  return nodes.flatMap(plain).flatMap((node): PhrasingContent[] => {
    if (phrasing.has(node.type)) return [node as PhrasingContent];
    if (node.type === 'paragraph' || node.type === 'heading') return node.children;
    if ('children' in node) return asLine(node.children);
    return 'value' in node ? [{ type: 'inlineCode', value: node.value.replace(/\s+/g, ' ') }] : [];
  });
}

/** One node as plain Markdown. */
function plain(node: Nodes): Nodes[] {
  switch (node.type) {
    case 'staticIsland':
    case 'staticSlot':
      return node.isInline ? node.children.flatMap(plain) : asMarkdown(node.children);
    case 'staticFragment':
      return node.children.flatMap(plain);
    case 'staticElement':
      return elementMarkdown(node);
    case 'paragraph': {
      const children = node.children.flatMap(plain);
      return children.every((child) => phrasing.has(child.type))
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
  const { name, children } = element;
  const known = componentRegistry.get(name);
  if (known) return known.markdown?.(element, writer) ?? asMarkdown(children);
  const html = htmlMarkdown.get(name);
  if (html) return html(element);
  return inline.has(name) ? children.flatMap(plain) : asMarkdown(children);
}

type ToMarkdown = (element: StaticElement) => Nodes[];

const strong: ToMarkdown = ({ children }) => [{ type: 'strong', children: asLine(children) }];
const emphasis: ToMarkdown = ({ children }) => [{ type: 'emphasis', children: asLine(children) }];
const inlineCode: ToMarkdown = ({ children }) => [{ type: 'inlineCode', value: plainText(children) }];
const nothing: ToMarkdown = () => [];

const heading: ToMarkdown = ({ name, children }) => [
  { type: 'heading', depth: Number(name[1]) as 1 | 2 | 3 | 4 | 5 | 6, children: asLine(children) },
];

const list: ToMarkdown = ({ name, children }) => {
  const items = children
    .filter((child): child is StaticElement => child.type === 'staticElement' && child.name === 'li')
    .map((item) => ({ type: 'listItem' as const, spread: false, children: asMarkdown(item.children) }));
  return [{ type: 'list', ordered: name === 'ol', spread: false, children: items }];
};

/** Writes a link in place of media that Markdown cannot show. */
const media: ToMarkdown = ({ name, props }) => {
  const url = textProp(props, 'src');
  if (url === undefined) return [];
  const label = { type: 'text' as const, value: textProp(props, 'title') ?? name };
  return [{ type: 'paragraph', children: [{ type: 'link', url, children: [label] }] }];
};

const table: ToMarkdown = ({ children }) => {
  const rows = descendants(children, 'tr').map((row) => ({
    type: 'tableRow' as const,
    children: row.children
      .filter((cell): cell is StaticElement => cell.type === 'staticElement' && /^t[dh]$/.test(cell.name))
      .map((cell) => ({ type: 'tableCell' as const, children: asLine(cell.children) })),
  }));
  return rows.length === 0 ? [] : [{ type: 'table', children: rows }];
};

const htmlMarkdown: ReadonlyMap<string, ToMarkdown> = new Map<string, ToMarkdown>([
  [
    'a',
    ({ props, children }) => {
      const url = textProp(props, 'href');
      return url === undefined ? children.flatMap(plain) : [{ type: 'link', url, children: asLine(children) }];
    },
  ],
  [
    'img',
    ({ props }) => {
      const url = textProp(props, 'src');
      return url === undefined ? [] : [{ type: 'image', url, alt: textProp(props, 'alt') ?? '' }];
    },
  ],
  ['br', () => [{ type: 'break' }]],
  ['hr', () => [{ type: 'thematicBreak' }]],
  ['pre', ({ children }) => [{ type: 'code', value: plainText(children) }]],
  ['blockquote', ({ children }) => [{ type: 'blockquote', children: asMarkdown(children) }]],
  ['table', table],
  ...named(['b', 'strong'], strong),
  ...named(['i', 'em'], emphasis),
  ...named(['code', 'kbd', 'samp'], inlineCode),
  ...named(['h1', 'h2', 'h3', 'h4', 'h5', 'h6'], heading),
  ...named(['ul', 'ol'], list),
  ...named(['iframe', 'video', 'audio'], media),
  ...named(['svg', 'script', 'style'], nothing),
]);

function named(names: readonly string[], write: ToMarkdown): [string, ToMarkdown][] {
  return names.map((name) => [name, write]);
}

const inline = new Set(
  'span sup sub small mark u s del ins abbr cite q time var label button picture source'.split(' '),
);

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

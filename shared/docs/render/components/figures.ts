import type { ElementContent } from 'hast';
import { h } from '#shared/docs/render/content/content-tree.ts';
import type { List, Nodes } from 'mdast';
import { diagram } from '#shared/docs/render/code/code-block.ts';
import { icon } from '#shared/docs/render/content/icon.ts';
import type { ContentContext } from '#shared/docs/render/content/content-context.ts';
import type { StaticElement, StaticValue } from '#shared/docs/render/evaluate/static-tree.ts';
import {
  colorValue,
  type Component,
  type Components,
  contentProp,
  elementsNamed,
  flagProp,
  paragraph,
  plainText,
  text,
  textProp,
  titledMarkdown,
} from './component.ts';

const frame: Component = {
  html({ props, children }, context) {
    const caption = textProp(props, 'caption') || undefined;
    const hint = textProp(props, 'hint');
    return [
      ...(hint === undefined ? [] : [h('p', { className: ['frame-hint'] }, context.inlineMarkdown(hint))]),
      h('figure', { className: ['frame'] }, [
        h('div', { className: ['frame-content'] }, context.children(children)),
        caption === undefined ? null : h('figcaption', context.inlineMarkdown(caption)),
      ]),
    ];
  },
  markdown({ props, children }, write) {
    const caption = textProp(props, 'caption');
    const content = write.blocks(children);
    return caption ? [...content, paragraph({ type: 'emphasis', children: [text(caption)] })] : content;
  },
};

const diagramSource = ({ props, children }: StaticElement): string =>
  textProp(props, 'chart', 'code') ?? plainText(children);

const mermaid: Component = {
  html: (element, context) => [
    diagram(diagramSource(element), context, {
      ...(element.props.has('actions') && { actions: flagProp(element.props, 'actions') }),
      placement: textProp(element.props, 'placement') ?? '',
    }),
  ],
  markdown: (element) => [{ type: 'code', lang: 'mermaid', value: diagramSource(element) }],
};

/** `Color` with its items, and its rows of items. */
const color: Component = {
  html({ props, children }, context) {
    const variant = textProp(props, 'variant') === 'table' ? 'table' : 'compact';
    return [
      h('div', { className: ['colors', variant] }, [
        itemsIn(children, context),
        elementsNamed(children, 'Color.Row').map((row) => rowOf(row, context)),
      ]),
    ];
  },
};

const rowOf = ({ props, children }: StaticElement, context: ContentContext): ElementContent =>
  h('div', { className: ['color-row'] }, [
    h('p', { className: ['color-row-title'] }, contentProp(props.get('title'), context)),
    itemsIn(children, context),
  ]);

const itemsIn = (nodes: readonly Nodes[], context: ContentContext): ElementContent[] =>
  elementsNamed(nodes, 'Color.Item').flatMap((item) => colorItem.html(item, context));

/** A row outside a `Color`, which is shown like one. */
const colorRow: Component = {
  html: (element, context) => [h('div', { className: ['colors', 'compact'] }, [rowOf(element, context)])],
  markdown: titledMarkdown,
};

/** An item of a `Color`, which has two colours if light and dark differ. */
const colorItem: Component = {
  html({ props }, context) {
    const colors = colorsOf(props.get('value'));
    return [
      h('div', { className: ['color-item'] }, [
        colors.map((shade) => h('span', { className: ['color-swatch'], style: `background: ${shade}` })),
        h('span', { className: ['color-name'] }, contentProp(props.get('name'), context)),
        h('code', colors.join(' / ')),
      ]),
    ];
  },
  markdown: ({ props }) => [
    paragraph(text(`${textProp(props, 'name') ?? ''} `), {
      type: 'inlineCode',
      value: textProp(props, 'value') ?? colorsOf(props.get('value')).join(' / '),
    }),
  ],
};

function colorsOf(value: StaticValue): string[] {
  const shades = value instanceof Map ? [value.get('light'), value.get('dark')] : [value];
  return shades.flatMap((shade) => colorValue(shade) ?? []);
}

const treeEntries = ['Tree.Folder', 'Tree.File', 'FileTree.Folder', 'FileTree.File'];

/** `Tree` or `FileTree`, made of folder and file elements, or of a nested list in which a trailing slash marks a folder. */
const tree: Component = {
  html: ({ children }) => [h('div', { className: ['tree'] }, [list(entriesOf(children))])],
  markdown({ children }, write) {
    const made = treeList(children);
    return made.children.length > 0 ? [made] : write.blocks(children);
  },
};

/** A folder or file outside of a tree. */
const treeEntry: Component = {
  html: (element) => [h('div', { className: ['tree'] }, [list(entriesOf([element]))])],
  markdown: (element) => [treeList([element])],
};

function treeList(nodes: readonly Nodes[]): List {
  const items = elementsNamed(nodes, ...treeEntries).map(({ name, props, children }) => {
    const label = (textProp(props, 'name') ?? '') + (name.endsWith('.Folder') ? '/' : '');
    const inner = treeList(children);
    const content = [paragraph(text(label)), ...(inner.children.length > 0 ? [inner] : [])];
    return { type: 'listItem' as const, spread: false, children: content };
  });
  return { type: 'list', ordered: false, spread: false, children: items };
}

type Entry = { name: string; isFolder: boolean; open: boolean; highlighted: boolean; children: Entry[] };

function entriesOf(nodes: readonly Nodes[]): Entry[] {
  return nodes.flatMap((node): Entry[] => {
    if (node.type === 'list') return entriesOfList(node);
    if (node.type === 'staticFragment' || node.type === 'paragraph') return entriesOf(node.children);
    return node.type === 'staticElement' ? entryOf(node) : [];
  });
}

function entryOf(element: StaticElement): Entry[] {
  const { name, props, children } = element;
  const label = textProp(props, 'name') ?? plainText(children).trim();
  const highlighted = flagProp(props, 'highlight');
  if (name.endsWith('.File')) return [{ name: label, isFolder: false, open: false, highlighted, children: [] }];
  if (!name.endsWith('.Folder')) return entriesOf(children);
  const open = flagProp(props, 'defaultOpen') || props.get('openable') === false;
  return [{ name: label, isFolder: true, open, highlighted, children: entriesOf(children) }];
}

function entriesOfList(node: List): Entry[] {
  return node.children.map((item): Entry => {
    const inner = item.children.filter((child) => child.type === 'list').flatMap((child) => entriesOfList(child));
    const written = plainText(item.children.filter((child) => child.type !== 'list')).trim();
    const name = written.replace(/\/$/, '');
    const isFolder = written.endsWith('/') || inner.length > 0;
    return { name, isFolder, open: true, highlighted: false, children: inner };
  });
}

function list(entries: readonly Entry[]): ElementContent {
  return h('ul', { className: ['tree-list'] }, entries.map(item));
}

function item(entry: Entry): ElementContent {
  const classes = entry.highlighted ? ['tree-item', 'highlighted'] : ['tree-item'];
  const label = h('span', { className: ['tree-name'] }, entry.name);
  if (!entry.isFolder)
    return h('li', { className: classes }, [
      h('span', { className: ['tree-row'] }, [icon('file', 'tree-icon'), label]),
    ]);
  const row = [icon('chevron-right', 'chevron'), icon('folder', 'tree-icon'), label];
  if (entry.children.length === 0)
    return h('li', { className: classes }, [h('span', { className: ['tree-row', 'empty'] }, row)]);
  return h('li', { className: classes }, [
    h('details', entry.open ? { open: true } : {}, [
      h('summary', { className: ['tree-row'] }, row),
      list(entry.children),
    ]),
  ]);
}

export const figures: Components = {
  Frame: frame,
  Mermaid: mermaid,
  Color: color,
  'Color.Row': colorRow,
  'Color.Item': colorItem,
  Tree: tree,
  FileTree: tree,
  ...Object.fromEntries(treeEntries.map((name) => [name, treeEntry])),
};

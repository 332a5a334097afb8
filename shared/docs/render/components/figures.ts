import type { ElementContent } from 'hast';
import { h } from 'hastscript';
import type { List, Nodes } from 'mdast';
import { icon } from '#shared/docs/render/content/icon.ts';
import type { StaticElement } from '#shared/docs/render/evaluate/static-tree.ts';
import { colorValue, type Component, contentProp, elementsNamed, flagProp, textProp } from './component.ts';
import { plainText } from './tabs.ts';

export const frame: Component = ({ props, children }, context) => {
  const caption = textProp(props, 'caption');
  const hint = textProp(props, 'hint');
  return [
    ...(hint === undefined ? [] : [h('p', { className: ['frame-hint'] }, context.inlineMarkdown(hint))]),
    h('figure', { className: ['frame'] }, [
      h('div', { className: ['frame-content'] }, context.children(children)),
      ...(caption === undefined || caption === '' ? [] : [h('figcaption', context.inlineMarkdown(caption))]),
    ]),
  ];
};

export const mermaid: Component = ({ props, children }) => {
  const source = textProp(props, 'chart', 'code') ?? plainText(children);
  return [
    h('figure', { className: ['mermaid'] }, [
      h('pre', { tabIndex: 0 }, [h('code', { className: ['language-mermaid'] }, source)]),
    ]),
  ];
};

/** `Color` with its items; two values where light and dark differ. */
export const color: Component = ({ props, children }, context) => {
  const rows = elementsNamed(children, 'Color.Row');
  const items = elementsNamed(children, 'Color.Item').map((item) => colorItem(item, context));
  return [
    h('div', { className: ['colors', textProp(props, 'variant') === 'table' ? 'table' : 'compact'] }, [
      ...items.flat(),
      ...rows.map((row) =>
        h('div', { className: ['color-row'] }, [
          h('p', { className: ['color-row-title'] }, contentProp(row.props.get('title'), context)),
          ...elementsNamed(row.children, 'Color.Item').flatMap((item) => colorItem(item, context)),
        ]),
      ),
    ]),
  ];
};

export const colorItem: Component = ({ props }, context) => {
  const value = props.get('value');
  const shades = value instanceof Map ? [value.get('light'), value.get('dark')] : [value];
  const colors = shades.flatMap((shade) => colorValue(shade) ?? []);
  return [
    h('div', { className: ['color-item'] }, [
      ...colors.map((shade) => h('span', { className: ['color-swatch'], style: `background: ${shade}` })),
      h('span', { className: ['color-name'] }, contentProp(props.get('name'), context)),
      h('code', colors.join(' / ')),
    ]),
  ];
};

type Entry = { name: string; isFolder: boolean; open: boolean; highlighted: boolean; children: Entry[] };

/** `Tree` or `FileTree`: of folders and files, or of a nested list in which a slash at the end says folder. */
export const tree: Component = ({ children }) => [h('div', { className: ['tree'] }, [list(entriesOf(children))])];

/** A folder or file outside of a tree. */
export const treeEntry: Component = (element) => [h('div', { className: ['tree'] }, [list(entriesOf([element]))])];

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
    return {
      name,
      isFolder: written.endsWith('/') || inner.length > 0,
      open: true,
      highlighted: false,
      children: inner,
    };
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
      h('span', { className: ['tree-row'] }, [...icon('file', 'tree-icon'), label]),
    ]);
  const row = [...icon('chevron-right', 'chevron'), ...icon('folder', 'tree-icon'), label];
  if (entry.children.length === 0)
    return h('li', { className: classes }, [h('span', { className: ['tree-row', 'empty'] }, row)]);
  return h('li', { className: classes }, [
    h('details', entry.open ? { open: true } : {}, [
      h('summary', { className: ['tree-row'] }, row),
      list(entry.children),
    ]),
  ]);
}

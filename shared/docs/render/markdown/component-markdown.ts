import type { BlockContent, List, Nodes, PhrasingContent } from 'mdast';
import {
  contentNodes,
  elementsNamed,
  flagProp,
  textProp,
  textsProp,
} from '#shared/docs/render/components/component.ts';
import { codesIn } from '#shared/docs/render/components/tabs.ts';
import type { StaticElement } from '#shared/docs/render/evaluate/static-tree.ts';
import { asLine, asMarkdown } from './page-markdown.ts';

type ToMarkdown = (element: StaticElement) => Nodes[];

const text = (value: string): PhrasingContent => ({ type: 'text', value });
const strong = (children: PhrasingContent[]): PhrasingContent => ({ type: 'strong', children });
const line = (...children: PhrasingContent[]): Nodes => ({ type: 'paragraph', children });
const titleOf = (element: StaticElement): PhrasingContent[] => asLine(contentNodes(element.props.get('title')));

const callout =
  (label: string): ToMarkdown =>
  (element) => {
    const title = titleOf(element);
    const head = title.length > 0 ? title : [text(label)];
    return [{ type: 'blockquote', children: [line(strong(head)), ...asMarkdown(element.children)] as BlockContent[] }];
  };

/** A title in bold, then the content. */
const titled: ToMarkdown = (element) => {
  const title = titleOf(element);
  return [...(title.length > 0 ? [line(strong(title))] : []), ...asMarkdown(element.children)];
};

const content: ToMarkdown = ({ children }) => asMarkdown(children);

const card: ToMarkdown = (element) => {
  const { props, children } = element;
  const href = textProp(props, 'href');
  const title = titleOf(element);
  const label = title.length > 0 ? title : [text(textProp(props, 'cta') ?? href ?? '')];
  const head: PhrasingContent[] = href === undefined ? [strong(label)] : [{ type: 'link', url: href, children: label }];
  return [line(...head), ...asMarkdown(contentNodes(props.get('description'))), ...asMarkdown(children)];
};

const steps: ToMarkdown = ({ children }) => {
  const items = elementsNamed(children, 'Step');
  if (items.length === 0) return asMarkdown(children);
  const list: List = {
    type: 'list',
    ordered: true,
    start: 1,
    spread: true,
    children: items.map((item) => ({ type: 'listItem', spread: true, children: titled(item) as BlockContent[] })),
  };
  return [list];
};

const field: ToMarkdown = (element) => {
  const { props, children } = element;
  const name = textProp(props, 'name', 'path', 'query', 'body', 'header') ?? '';
  const facts = [
    ...asLine(contentNodes(props.get('type'))).map((node) => ('value' in node ? node.value : '')),
    ...(flagProp(props, 'required') ? ['required'] : []),
    ...(flagProp(props, 'deprecated') ? ['deprecated'] : []),
    ...(textProp(props, 'default') === undefined ? [] : [`default: ${textProp(props, 'default')}`]),
  ].filter((fact) => fact !== '');
  const head = line({ type: 'inlineCode', value: name }, text(facts.length > 0 ? ` (${facts.join(', ')})` : ''));
  const item = { type: 'listItem' as const, spread: true, children: [head, ...asMarkdown(children)] as BlockContent[] };
  return [{ type: 'list', ordered: false, spread: true, children: [item] }];
};

const codes: ToMarkdown = (element) => {
  const found = codesIn([element]);
  return found.length > 0 ? found : asMarkdown(element.children);
};

const update: ToMarkdown = (element) => {
  const { props, children } = element;
  const tags = textsProp(props, 'tags');
  const description = textProp(props, 'description');
  return [
    { type: 'heading', depth: 2, children: [text(textProp(props, 'label') ?? 'Update')] },
    ...(description === undefined ? [] : [line(text(description))]),
    ...(tags.length === 0 ? [] : [line(text(`Tags: ${tags.join(', ')}`))]),
    ...asMarkdown(children),
  ];
};

const heading: ToMarkdown = ({ props, children }) => {
  const level = Math.min(6, Math.max(1, Number(textProp(props, 'level') ?? 2) || 2)) as 1 | 2 | 3 | 4 | 5 | 6;
  return [{ type: 'heading', depth: level, children: asLine(children) }];
};

const link: ToMarkdown = ({ props, children }) => [
  { type: 'link', url: textProp(props, 'href', 'to') ?? '#', children: asLine(children) },
];

const image: ToMarkdown = ({ props }) => [
  { type: 'image', url: textProp(props, 'src') ?? '', alt: textProp(props, 'alt') ?? '' },
];

const frame: ToMarkdown = ({ props, children }) => {
  const caption = textProp(props, 'caption');
  return [...asMarkdown(children), ...(caption ? [line({ type: 'emphasis', children: [text(caption)] })] : [])];
};

const tree: ToMarkdown = ({ children }) => {
  const list = treeList(children);
  return list.children.length > 0 ? [list] : asMarkdown(children);
};

function treeList(nodes: readonly Nodes[]): List {
  const items = elementsNamed(nodes, 'Tree.Folder', 'Tree.File', 'FileTree.Folder', 'FileTree.File');
  return {
    type: 'list',
    ordered: false,
    spread: false,
    children: items.map(({ name, props, children }) => {
      const label = (textProp(props, 'name') ?? '') + (name.endsWith('.Folder') ? '/' : '');
      const inner = treeList(children);
      return {
        type: 'listItem',
        spread: false,
        children: [line(text(label)), ...(inner.children.length > 0 ? [inner] : [])] as BlockContent[],
      };
    }),
  };
}

const color: ToMarkdown = ({ props }) => {
  const value = textProp(props, 'value');
  return [line(text(`${textProp(props, 'name') ?? ''} `), { type: 'inlineCode', value: value ?? '' })];
};

/** What the Markdown of a page has for each built-in component; those that are not here give their content. */
export const componentMarkdown: ReadonlyMap<string, ToMarkdown> = new Map<string, ToMarkdown>([
  ['Note', callout('Note')],
  ['Info', callout('Info')],
  ['Tip', callout('Tip')],
  ['Check', callout('Check')],
  ['Warning', callout('Warning')],
  ['Danger', callout('Danger')],
  ['Callout', callout('Note')],
  ['Card', card],
  ['Tile', card],
  ['Tab', titled],
  ['View', titled],
  ['Accordion', titled],
  ['Expandable', titled],
  ['Step', titled],
  ['Steps', steps],
  ['Param', field],
  ['ParamField', field],
  ['ResponseField', field],
  ['CodeGroup', codes],
  ['CodeBlock', codes],
  ['RequestExample', codes],
  ['ResponseExample', codes],
  ['Update', update],
  ['Heading', heading],
  ['Link', link],
  ['Image', image],
  ['Frame', frame],
  ['Icon', () => []],
  ['Badge', ({ children }) => asLine(children)],
  ['Tooltip', ({ children }) => asLine(children)],
  ['Visibility', ({ props, children }) => (textProp(props, 'for') === 'humans' ? [] : asMarkdown(children))],
  [
    'Mermaid',
    ({ props, children }) => [
      {
        type: 'code',
        lang: 'mermaid',
        value:
          textProp(props, 'chart') ??
          asLine(children)
            .map((node) => ('value' in node ? node.value : ''))
            .join(''),
      },
    ],
  ],
  ['Tree', tree],
  ['FileTree', tree],
  ['Color.Item', color],
  [
    'GitHub.Repo',
    ({ props }) => [
      line(text(`https://github.com/${(textProp(props, 'repo') ?? '').replace(/^https:\/\/github\.com\//, '')}`)),
    ],
  ],
  ...[
    'CardGroup',
    'Columns',
    'Column',
    'Tabs',
    'AccordionGroup',
    'Panel',
    'Prompt',
    'Snippet',
    'Color',
    'Color.Row',
  ].map((name) => [name, content] as const),
]);

import type { Element, ElementContent } from 'hast';
import { h } from '#shared/docs/render/content/content-tree.ts';
import type { Code, Nodes } from 'mdast';
import { codeBlock, codeFacts } from '#shared/docs/render/code/code-block.ts';
import type { ContentContext } from '#shared/docs/render/content/content-context.ts';
import type { StaticElement } from '#shared/docs/render/evaluate/static-tree.ts';
import {
  type Component,
  type Components,
  elementsNamed,
  iconProp,
  numberProp,
  plainText,
  textProp,
  textsProp,
  titledMarkdown,
} from './component.ts';

type Panel = { title: string; id: string; icon: ElementContent[]; children: ElementContent[] };

/** `Tabs` with its `Tab`s. Other content is shown before them. Other generators name tabs in `items` of `Tabs`, and write `Tabs.Tab`. */
const tabs: Component = {
  html({ props, children: written }, context) {
    const children = withTitles(written, textsProp(props, 'items'));
    const panels = elementsNamed(children, 'Tab').map((tab): Panel => {
      const title = textProp(tab.props, 'title', 'label', 'name') ?? context.texts.tab;
      return {
        title,
        id: context.anchors.claim(title, textProp(tab.props, 'id')),
        icon: iconProp(tab, 'tab-icon', context),
        children: context.children(tab.children),
      };
    });
    if (panels.length === 0) return context.children(children);
    const others = children.filter((node) => elementsNamed([node], 'Tab').length === 0);
    const chosen = Math.min(panels.length - 1, Math.max(0, numberProp(props, 'defaultTabIndex') ?? 0));
    return [
      ...context.children(others),
      tabSet(panels, chosen, ['tabs'], props.get('sync') === false ? {} : { dataSync: '' }),
    ];
  },
  markdown: ({ props, children }, write) => write.blocks(withTitles(children, textsProp(props, 'items'))),
};

/** Content in which each `Tabs.Tab` is a `Tab`, and the nth tab gets the nth of these titles if it has none. */
function withTitles(children: readonly Nodes[], titles: readonly string[]): Nodes[] {
  let position = 0;
  const titled = (node: Nodes): Nodes => {
    if (node.type === 'staticFragment' || node.type === 'paragraph')
      return { ...node, children: node.children.map(titled) } as Nodes;
    if (node.type !== 'staticElement' || (node.name !== 'Tab' && node.name !== 'Tabs.Tab')) return node;
    const title = titles[position];
    position += 1;
    const hasTitle = title === undefined || textProp(node.props, 'title', 'label', 'name') !== undefined;
    return { ...node, name: 'Tab', props: hasTitle ? node.props : new Map([...node.props, ['title', title]]) };
  };
  return children.map(titled);
}

/** A `Tab` without `Tabs` around it. */
const loneTab: Component = {
  html: ({ props, children }, context) => [
    h('div', { className: ['tab-panel'] }, [
      h('p', { className: ['tab-title', 'shown'] }, textProp(props, 'title') ?? ''),
      context.children(children),
    ]),
  ],
  markdown: titledMarkdown,
};

const codesMarkdown: Component['markdown'] = (element, write) => {
  const found = codesIn([element]);
  return found.length > 0 ? found : write.blocks(element.children);
};

/** `CodeGroup`, and the examples beside a page: one tab per code block. */
export const codeGroup = {
  html({ children }, context) {
    const blocks = codesIn(children);
    const others = context.children(children.filter((node) => codesIn([node]).length === 0));
    const [only] = blocks;
    if (!only) return others;
    if (blocks.length === 1)
      return [...others, h('div', { className: ['code-group', 'single'] }, [blockOf(only, context, false)])];
    const panels = blocks.map((code): Panel => {
      const { title, language } = codeFacts({ code: code.value, language: code.lang, meta: code.meta });
      return {
        title: title ?? (language || context.texts.code),
        id: '',
        icon: [],
        children: [blockOf(code, context, true)],
      };
    });
    return [...others, tabSet(panels, 0, ['code-group'], { dataSync: '' })];
  },
  markdown: codesMarkdown,
} satisfies Component;

const codeBlockComponent: Component = {
  html(element, context) {
    const [code] = codesIn([element]);
    if (code) return [blockOf(code, context, false)];
    return [codeBlock({ code: plainText(element.children), language: 'text' }, context)];
  },
  markdown: codesMarkdown,
};

const blockOf = (code: Code, context: ContentContext, bare: boolean): Element =>
  codeBlock({ code: code.value, language: code.lang, meta: code.meta, shared: code.data?.shared }, context, bare);

/** Fences and `CodeBlock`s at any depth. */
function codesIn(nodes: readonly Nodes[]): Code[] {
  return nodes.flatMap((node): Code[] => {
    if (node.type === 'code') return [node];
    if (node.type === 'staticElement' && node.name === 'CodeBlock') return [codeOfElement(node)];
    if (node.type === 'staticFragment' || node.type === 'paragraph') return codesIn(node.children);
    if (node.type === 'staticElement' && ['div', 'CodeGroup', 'Tab'].includes(node.name)) return codesIn(node.children);
    return [];
  });
}

function codeOfElement({ props, children }: StaticElement): Code {
  const fence = codesIn(children)[0];
  const title = textProp(props, 'filename', 'title');
  const options = [
    fence?.meta ?? '',
    title === undefined ? '' : `title="${title.replace(/"/g, '')}"`,
    ...['lines', 'wrap', 'nocopy', 'expandable'].filter(
      (name) => props.get(name) === true || props.get(name) === 'true',
    ),
    ...['highlight', 'focus'].flatMap((name) => {
      const value = textProp(props, name);
      return value === undefined ? [] : [`${name}={${value.replace(/[{}]/g, '')}}`];
    }),
  ];
  return {
    type: 'code',
    lang: textProp(props, 'language', 'lang') ?? fence?.lang ?? 'text',
    meta: options.join(' ').trim(),
    value: fence?.value ?? plainText(children),
  };
}

/**
 * A set of tabs. The tab list is part of the HTML, so that nothing moves when scripts start; without scripts the panels are shown one below the
 * other.
 */
function tabSet(panels: readonly Panel[], chosen: number, classes: string[], data: Record<string, string>): Element {
  return h('div', { className: classes, ...data }, [
    h(
      'div',
      { className: ['tabs-list'], role: 'tablist' },
      panels.map((panel, position) =>
        h(
          'button',
          {
            type: 'button',
            role: 'tab',
            className: ['tabs-item'],
            ariaSelected: String(position === chosen),
            tabIndex: position === chosen ? 0 : -1,
          },
          [...panel.icon, h('span', panel.title)],
        ),
      ),
    ),
    ...panels.map((panel, position) =>
      h(
        'section',
        {
          className: ['tab-panel'],
          ...(panel.id !== '' && { id: panel.id }),
          dataTitle: panel.title,
          ...(position === chosen && { dataActive: '' }),
        },
        [h('p', { className: ['tab-title'] }, panel.title), ...panel.children],
      ),
    ),
  ]);
}

export const tabsAndCode: Components = {
  Tabs: tabs,
  Tab: loneTab,
  'Tabs.Tab': loneTab,
  CodeGroup: codeGroup,
  CodeBlock: codeBlockComponent,
};

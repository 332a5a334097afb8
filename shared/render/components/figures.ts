import { h } from 'hastscript';
import { type Component, colorValue, contentProp, elementsNamed, textProp } from './component.ts';
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

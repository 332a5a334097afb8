import type { Nodes } from 'mdast';
import { h } from '#shared/docs/render/content/content-tree.ts';
import { brandIcon } from '#shared/docs/render/content/icon.ts';
import {
  classesProp,
  colorValue,
  type Component,
  type Components,
  contentProp,
  flagProp,
  iconProp,
  numberProp,
  paragraph,
  plainText,
  text,
  textProp,
} from './component.ts';

const badgeColors = new Set(
  'gray blue green yellow orange red purple white surface white-destructive surface-destructive'.split(' '),
);

const badge: Component = {
  isInline: true,
  html(element, context) {
    const { props, children } = element;
    const color = textProp(props, 'color') ?? 'gray';
    const size = textProp(props, 'size') ?? 'md';
    const known = badgeColors.has(color) ? color : 'gray';
    const data = { dataBadge: '', dataColor: known, dataSize: /^(xs|sm|md|lg)$/.test(size) ? size : 'md' };
    const classes = ['badge', ...classesProp(props, context)];
    if (textProp(props, 'shape') === 'pill') classes.push('pill');
    if (flagProp(props, 'stroke')) classes.push('stroke');
    if (flagProp(props, 'disabled')) classes.push('disabled');
    return [
      h('span', { className: classes, ...data }, [
        iconProp(element, 'badge-icon', context),
        context.children(children),
      ]),
    ];
  },
  markdown: ({ children }, write) => write.line(children),
};

/** `Tooltip`, shown on hover and focus. Screen readers read it as part of the sentence. */
const tooltip: Component = {
  isInline: true,
  html({ props, children }, context) {
    const tip = contentProp(props.get('tip') ?? props.get('content'), context);
    const headline = textProp(props, 'headline');
    const [href, cta] = [textProp(props, 'href'), textProp(props, 'cta')];
    return [
      h('span', { className: ['tooltip'], tabIndex: 0 }, [
        context.children(children),
        h('span', { className: ['tooltip-content'], role: 'tooltip' }, [
          headline === undefined ? null : h('strong', headline),
          h('span', tip),
          href === undefined ? null : h('a', { href }, cta ?? context.texts.learnMore),
        ]),
      ]),
    ];
  },
  markdown: ({ children }, write) => write.line(children),
};

const iconComponent: Component = {
  isInline: true,
  html(element, context) {
    const { props } = element;
    const made = iconProp(element, 'inline-icon', context);
    const classes = classesProp(props, context);
    const size = numberProp(props, 'size');
    const color = colorValue(props.get('color'));
    const style = [
      ...(size !== undefined && size > 0 && size <= 200 ? [`width: ${size}px; height: ${size}px`] : []),
      ...(color === undefined ? [] : [`color: ${color}`]),
    ].join('; ');
    for (const element of made) {
      if (element.type !== 'element') continue;
      const { className } = element.properties;
      if (Array.isArray(className)) className.push(...classes);
      if (style !== '') element.properties.style = style;
    }
    return made;
  },
  markdown: () => [],
};

const link: Component = {
  isInline: true,
  html({ props, children }, context) {
    const href = textProp(props, 'href', 'to');
    return [h('a', { className: ['link'], ...(href !== undefined && { href }) }, context.children(children))];
  },
  markdown: ({ props, children }, write) => [
    { type: 'link', url: textProp(props, 'href', 'to') ?? '#', children: write.line(children) },
  ],
};

const image: Component = {
  html: (element, context) => context.children([{ ...element, name: 'img' }]),
  markdown: ({ props }) => [{ type: 'image', url: textProp(props, 'src') ?? '', alt: textProp(props, 'alt') ?? '' }],
};

const heading: Component = {
  html({ props, children, position }, context) {
    const level = Math.min(6, Math.max(1, Math.round(numberProp(props, 'level') ?? 2)));
    const id = textProp(props, 'id');
    return context.children([
      {
        type: 'staticElement',
        name: `h${level}`,
        props: new Map([...(id === undefined ? [] : [['id', id] as const]), ['noAnchor', props.get('noAnchor')]]),
        children,
        ...(position && { position }),
      },
    ]);
  },
  markdown({ props, children }, write) {
    const depth = Math.min(6, Math.max(1, Number(textProp(props, 'level') ?? 2) || 2)) as 1 | 2 | 3 | 4 | 5 | 6;
    return [{ type: 'heading', depth, children: write.line(children) }];
  },
};

/** `owner/name` of a repository that is named by it or by its address; undefined for anything else. */
function repositoryName(written: string | undefined): string | undefined {
  const name = (written ?? '').replace(/^https:\/\/github\.com\//, '').replace(/\/+$/, '');
  return /^[\w.-]+\/[\w.-]+$/.test(name) ? name : undefined;
}

const repository: Component = {
  html({ props }, context) {
    const name = repositoryName(textProp(props, 'repo'));
    if (name === undefined) return [];
    const title = h('a', { className: ['card-link'], href: `https://github.com/${name}` }, name);
    return [
      h('div', { className: ['card', 'linked', 'horizontal', ...classesProp(props, context)] }, [
        brandIcon('github', 'card-icon'),
        h('div', { className: ['card-body'] }, [h('p', { className: ['card-title'] }, [title])]),
      ]),
    ];
  },
  markdown({ props }) {
    const name = repositoryName(textProp(props, 'repo'));
    if (name === undefined) return [];
    return [paragraph({ type: 'link', url: `https://github.com/${name}`, children: [text(name)] })];
  },
};

/** `Latex`, the older form of `$…$`. A formula of several lines is a block. */
const latex: Component = {
  isInline: true,
  html: ({ children }, context) => context.children([formulaOf(children)]),
  markdown: ({ children }) => [formulaOf(children)],
};

function formulaOf(children: readonly Nodes[]): Nodes {
  const value = texOf(children).trim();
  return value.includes('\n') ? { type: 'math', value } : { type: 'inlineMath', value, display: false };
}

/** Source of a formula. Markdown has parsed some of its marks as emphasis and line breaks; these are restored. */
function texOf(nodes: readonly Nodes[]): string {
  return nodes
    .map((node) => {
      if (node.type === 'emphasis') return `_${texOf(node.children)}_`;
      if (node.type === 'strong') return `__${texOf(node.children)}__`;
      if (node.type === 'break') return '\\\\\n';
      return 'children' in node ? texOf(node.children) : plainText([node]);
    })
    .join('');
}

export const inlineComponents: Components = {
  Badge: badge,
  Tooltip: tooltip,
  Icon: iconComponent,
  Link: link,
  Image: image,
  Heading: heading,
  Latex: latex,
  'GitHub.Repo': repository,
};

import { h } from 'hastscript';
import { icon } from '#shared/docs/render/content/icon.ts';
import { type Component, colorValue, contentProp, flagProp, iconProp, numberProp, textProp } from './component.ts';

const BADGE_COLORS = new Set(
  'gray blue green yellow orange red purple white surface white-destructive surface-destructive'.split(' '),
);

export const badge: Component = ({ props, children }, context) => {
  const color = textProp(props, 'color') ?? 'gray';
  const size = textProp(props, 'size') ?? 'md';
  const known = BADGE_COLORS.has(color) ? color : 'gray';
  const data = { dataBadge: '', dataColor: known, dataSize: /^(xs|sm|md|lg)$/.test(size) ? size : 'md' };
  const classes = ['badge'];
  if (textProp(props, 'shape') === 'pill') classes.push('pill');
  if (flagProp(props, 'stroke')) classes.push('stroke');
  if (flagProp(props, 'disabled')) classes.push('disabled');
  return [
    h('span', { className: classes, ...data }, [
      ...iconProp(props, 'badge-icon', context),
      ...context.children(children),
    ]),
  ];
};

/** Shown on hover and focus; without either it is read as part of the sentence. */
export const tooltip: Component = ({ props, children }, context) => {
  const tip = contentProp(props.get('tip') ?? props.get('content'), context);
  const headline = textProp(props, 'headline');
  const [href, cta] = [textProp(props, 'href'), textProp(props, 'cta')];
  return [
    h('span', { className: ['tooltip'], tabIndex: 0 }, [
      ...context.children(children),
      h('span', { className: ['tooltip-content'], role: 'tooltip' }, [
        ...(headline === undefined ? [] : [h('strong', headline)]),
        h('span', tip),
        ...(href === undefined ? [] : [h('a', { href }, cta ?? 'Learn more')]),
      ]),
    ]),
  ];
};

export const iconComponent: Component = ({ props }, context) => {
  const made = iconProp(props, 'inline-icon', context);
  const size = numberProp(props, 'size');
  const color = colorValue(props.get('color'));
  const style = [
    ...(size !== undefined && size > 0 && size <= 200 ? [`width: ${size}px; height: ${size}px`] : []),
    ...(color === undefined ? [] : [`color: ${color}`]),
  ].join('; ');
  for (const element of made) {
    if (element.type === 'element' && style !== '') element.properties.style = style;
  }
  return made;
};

export const link: Component = ({ props, children }, context) => {
  const href = textProp(props, 'href', 'to');
  return [h('a', { className: ['link'], ...(href !== undefined && { href }) }, context.children(children))];
};

export const heading: Component = ({ props, children, position }, context) => {
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
};

export const repository: Component = ({ props }) => {
  const slug = (textProp(props, 'repo') ?? '').replace(/^https:\/\/github\.com\//, '').replace(/\/+$/, '');
  if (!/^[\w.-]+\/[\w.-]+$/.test(slug)) return [];
  return [
    h('div', { className: ['card', 'linked', 'horizontal'] }, [
      ...icon('github', 'card-icon'),
      h('div', { className: ['card-body'] }, [
        h('p', { className: ['card-title'] }, [
          h('a', { className: ['card-link'], href: `https://github.com/${slug}` }, slug),
        ]),
      ]),
    ]),
  ];
};

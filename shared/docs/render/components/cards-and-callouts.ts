import type { ElementContent } from 'hast';
import { h } from 'hastscript';
import { icon } from '#shared/docs/render/content/icon.ts';
import { classifyUrl } from '#shared/docs/render/sanitize/url-policy.ts';
import { colorValue, type Component, contentProp, flagProp, iconProp, numberProp, textProp } from './component.ts';

/** `Card` and `Tile`. The link of the title covers the card, so that links inside of the text stay links of their own. */
export const card: Component = ({ name, props, children }, context) => {
  const href = textProp(props, 'href');
  const title = contentProp(props.get('title'), context);
  const description = contentProp(props.get('description'), context);
  const picture = textProp(props, 'img');
  const cta = textProp(props, 'cta');
  const color = colorValue(props.get('color'));
  const isExternal = href !== undefined && classifyUrl(href).kind === 'external';
  const arrow = props.has('arrow') ? flagProp(props, 'arrow') : isExternal;
  const content = context.children(children);
  const label =
    title.length > 0
      ? title
      : cta !== undefined && cta !== ''
        ? undefined
        : [{ type: 'text' as const, value: href ?? '' }];
  const heading: ElementContent[] = [];
  if (label !== undefined && (title.length > 0 || href !== undefined)) {
    const inside = href === undefined ? label : [h('a', { className: ['card-link'], href }, label)];
    heading.push(h('p', { className: title.length > 0 ? ['card-title'] : ['card-title', 'sr-only'] }, inside));
  }
  const classes = [name === 'Tile' ? 'tile' : 'card'];
  if (flagProp(props, 'horizontal')) classes.push('horizontal');
  if (href !== undefined) classes.push('linked');
  return [
    h('div', { className: classes, ...(color && { style: `--card-accent: ${color}` }) }, [
      ...(picture === undefined
        ? []
        : [h('img', { className: ['card-image'], src: picture, alt: '', dataNoZoom: '' })]),
      ...(name === 'Tile' ? [h('div', { className: ['tile-preview'] }, content)] : []),
      ...iconProp(props, 'card-icon', context),
      h('div', { className: ['card-body'] }, [
        ...heading,
        ...(description.length > 0 ? [h('p', { className: ['card-text'] }, description)] : []),
        ...(name === 'Tile' || content.length === 0 ? [] : [h('div', { className: ['card-text'] }, content)]),
        ...(cta === undefined || cta === ''
          ? []
          : [
              h('p', { className: ['card-cta'] }, [
                href !== undefined && title.length === 0
                  ? h('a', { className: ['card-link'], href }, cta)
                  : h('span', cta),
                ...icon('arrow-right', 'cta-icon'),
              ]),
            ]),
      ]),
      ...(arrow ? icon('arrow-up-right', 'card-arrow') : []),
    ]),
  ];
};

/** `Columns`, and `CardGroup` and `Tiles`, which are the same. */
export const columns: Component = ({ name, props, children }, context) => {
  const count = Math.min(4, Math.max(1, Math.round(numberProp(props, 'cols') ?? 2)));
  const names = name === 'CardGroup' ? ['card-group', 'columns'] : ['columns'];
  return [h('div', { className: [...names, `cols-${count}`] }, context.children(children))];
};

export const column: Component = ({ children }, context) => [
  h('div', { className: ['column'] }, context.children(children)),
];

type Kind = { type: string; icon: string; label: string };

const kinds: ReadonlyMap<string, Kind> = new Map([
  ['Note', { type: 'note', icon: 'note', label: 'Note' }],
  ['Info', { type: 'info', icon: 'info', label: 'Info' }],
  ['Tip', { type: 'tip', icon: 'bulb', label: 'Tip' }],
  ['Check', { type: 'check', icon: 'circle-check', label: 'Check' }],
  ['Warning', { type: 'warning', icon: 'warning', label: 'Warning' }],
  ['Danger', { type: 'danger', icon: 'danger', label: 'Danger' }],
]);

/** `Note`, `Info`, `Tip`, `Check`, `Warning`, `Danger`, and `Callout` with an icon and colour of its own. */
export const callout: Component = ({ name, props, children }, context) => {
  const type = textProp(props, 'type') ?? '';
  const kind = kinds.get(name) ?? kinds.get(type.charAt(0).toUpperCase() + type.slice(1));
  const color = name === 'Callout' ? colorValue(props.get('color')) : undefined;
  const sign = iconProp(props, 'callout-icon', context);
  const title = contentProp(props.get('title'), context);
  return [
    h(
      'div',
      {
        className: ['callout', `callout-${kind?.type ?? 'custom'}`],
        dataCalloutType: kind?.type ?? 'custom',
        role: 'note',
        ariaLabel: kind?.label,
        ...(color && { style: `--callout: ${color}` }),
      },
      [
        ...(sign.length > 0 ? sign : icon(kind?.icon, 'callout-icon')),
        h('div', { className: ['callout-content'] }, [
          ...(title.length > 0 ? [h('p', { className: ['callout-title'] }, title)] : []),
          ...context.children(children),
        ]),
      ],
    ),
  ];
};

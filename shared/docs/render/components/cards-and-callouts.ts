import { type Child, h } from '#shared/docs/render/content/content-tree.ts';
import { icon } from '#shared/docs/render/content/icon.ts';
import type { InterfaceTexts } from '#shared/docs/render/interface-texts/interface-texts.ts';
import { classifyUrl } from '#shared/docs/project/url-policy.ts';
import {
  colorValue,
  type Component,
  type Components,
  contentNodes,
  contentProp,
  flagProp,
  iconProp,
  numberProp,
  paragraph,
  strong,
  text,
  textProp,
  titleLine,
} from './component.ts';

/** `Card` and `Tile`. The link of the title covers the card, so that links inside the text still work. */
const card: Component = {
  html(element, context) {
    const { name, props, children } = element;
    const href = textProp(props, 'href');
    const title = contentProp(props.get('title'), context);
    const description = contentProp(props.get('description'), context);
    const picture = textProp(props, 'img');
    const cta = textProp(props, 'cta') || undefined;
    const color = colorValue(props.get('color'));
    const isExternal = href !== undefined && classifyUrl(href).kind === 'external';
    const arrow = props.has('arrow') ? flagProp(props, 'arrow') : isExternal;
    const content = context.children(children);
    const isTile = name === 'Tile';
    const hasTitle = title.length > 0;
    const cardLink = (inside: Child) => h('a', { className: ['card-link'], href }, inside);
    const heading = () => {
      if (hasTitle) return h('p', { className: ['card-title'] }, href === undefined ? title : [cardLink(title)]);
      if (href === undefined || cta !== undefined) return null;
      return h('p', { className: ['card-title', 'sr-only'] }, [cardLink(href)]);
    };
    const classes = [isTile ? 'tile' : 'card'];
    if (flagProp(props, 'horizontal')) classes.push('horizontal');
    if (href !== undefined) classes.push('linked');
    return [
      h('div', { className: classes, ...(color && { style: `--card-accent: ${color}` }) }, [
        picture === undefined ? null : h('img', { className: ['card-image'], src: picture, alt: '', dataNoZoom: '' }),
        isTile ? h('div', { className: ['tile-preview'] }, content) : null,
        iconProp(element, 'card-icon', context),
        h('div', { className: ['card-body'] }, [
          heading(),
          description.length > 0 ? h('p', { className: ['card-text'] }, description) : null,
          isTile || content.length === 0 ? null : h('div', { className: ['card-text'] }, content),
          cta === undefined
            ? null
            : h('p', { className: ['card-cta'] }, [
                href !== undefined && !hasTitle ? cardLink(cta) : h('span', cta),
                icon('arrow-right', 'cta-icon'),
              ]),
        ]),
        arrow ? icon('arrow-up-right', 'card-arrow') : null,
      ]),
    ];
  },
  markdown(element, write) {
    const { props, children } = element;
    const href = textProp(props, 'href');
    const title = titleLine(element, write);
    const label = title.length > 0 ? title : [text(textProp(props, 'cta') ?? href ?? '')];
    return [
      paragraph(href === undefined ? strong(label) : { type: 'link', url: href, children: label }),
      ...write.blocks(contentNodes(props.get('description'))),
      ...write.blocks(children),
    ];
  },
};

/** `Columns`, and its synonyms `CardGroup` and `Tiles`. */
const columns: Component = {
  html({ name, props, children }, context) {
    const count = Math.min(4, Math.max(1, Math.round(numberProp(props, 'cols') ?? 2)));
    const names = name === 'CardGroup' ? ['card-group', 'columns'] : ['columns'];
    return [h('div', { className: [...names, `cols-${count}`] }, context.children(children))];
  },
};

const column: Component = {
  html: ({ children }, context) => [h('div', { className: ['column'] }, context.children(children))],
};

/** The icon of each kind of callout, and its name for screen readers. The kind in lower case is its class. */
const calloutKinds: ReadonlyMap<string, { sign: string; label: (texts: InterfaceTexts) => string }> = new Map([
  ['Note', { sign: 'notepad-text', label: ({ note }) => note }],
  ['Info', { sign: 'info', label: ({ info }) => info }],
  ['Tip', { sign: 'lightbulb', label: ({ tip }) => tip }],
  ['Check', { sign: 'circle-check', label: ({ check }) => check }],
  ['Warning', { sign: 'triangle-alert', label: ({ warning }) => warning }],
  ['Danger', { sign: 'octagon-alert', label: ({ danger }) => danger }],
]);

/** `Note`, `Info`, `Tip`, `Check`, `Warning`, `Danger`, and `Callout` with an icon and colour of its own. */
const callout: Component = {
  html(element, context) {
    const { name, props, children } = element;
    const type = textProp(props, 'type') ?? '';
    const kind = [name, type.charAt(0).toUpperCase() + type.slice(1)].find((one) => calloutKinds.has(one));
    const known = calloutKinds.get(kind ?? '');
    const typeName = kind?.toLowerCase() ?? 'custom';
    const color = name === 'Callout' ? colorValue(props.get('color')) : undefined;
    const ownIcon = iconProp(element, 'callout-icon', context);
    const title = contentProp(props.get('title'), context);
    const attributes = {
      className: ['callout', `callout-${typeName}`],
      dataCalloutType: typeName,
      role: 'note',
      ariaLabel: known?.label(context.texts),
      ...(color && { style: `--callout: ${color}` }),
    };
    return [
      h('div', attributes, [
        ownIcon.length > 0 || known === undefined ? ownIcon : icon(known.sign, 'callout-icon'),
        h('div', { className: ['callout-content'] }, [
          title.length > 0 ? h('p', { className: ['callout-title'] }, title) : null,
          context.children(children),
        ]),
      ]),
    ];
  },
  markdown(element, write) {
    const title = titleLine(element, write);
    const head = title.length > 0 ? title : [text(calloutKinds.has(element.name) ? element.name : 'Note')];
    return [{ type: 'blockquote', children: [paragraph(strong(head)), ...write.blocks(element.children)] }];
  },
};

export const cardsAndCallouts: Components = {
  Card: card,
  Tile: card,
  CardGroup: columns,
  Columns: columns,
  Tiles: columns,
  Column: column,
  ...Object.fromEntries([...calloutKinds.keys(), 'Callout'].map((name) => [name, callout])),
};

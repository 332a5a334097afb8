import { h } from 'hastscript';
import { icon } from '../content/icon.ts';
import { type Component, colorValue, contentProp, iconProp, textProp } from './component.ts';

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

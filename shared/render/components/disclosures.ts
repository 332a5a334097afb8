import type { ElementContent } from 'hast';
import { h } from 'hastscript';
import { icon } from '../content/icon.ts';
import { type Component, contentProp, flagProp, iconProp, textProp } from './component.ts';

/** `Accordion`: opens without scripts too. Its address is its id, or its title. */
export const accordion: Component = ({ props, children }, context) => {
  const title = contentProp(props.get('title'), context);
  const name = textProp(props, 'id');
  const id =
    name === undefined
      ? context.anchors.claim(textProp(props, 'title') ?? 'accordion')
      : context.anchors.claimWritten(name);
  const description = contentProp(props.get('description'), context);
  return [
    h('details', { className: ['accordion'], id, ...(flagProp(props, 'defaultOpen') && { open: true }) }, [
      h('summary', [
        ...icon('chevron-right', 'chevron'),
        ...iconProp(props, 'accordion-icon', context),
        h('span', { className: ['accordion-title'] }, [
          ...title,
          ...(description.length > 0 ? [h('span', { className: ['accordion-description'] }, description)] : []),
        ]),
      ]),
      h('div', { className: ['accordion-content'] }, context.children(children)),
    ]),
  ];
};

export const accordionGroup: Component = ({ children }, context) => [
  h('div', { className: ['accordion-group'] }, context.children(children)),
];

/** `Expandable`: properties of a property. */
export const expandable: Component = ({ props, children }, context) => {
  const title: ElementContent[] = contentProp(props.get('title'), context);
  const label = title.length > 0 ? title : [{ type: 'text' as const, value: 'properties' }];
  return [
    h('details', { className: ['expandable'], ...(flagProp(props, 'defaultOpen') && { open: true }) }, [
      h('summary', [...icon('chevron-right', 'chevron'), h('span', [{ type: 'text', value: 'Show ' }, ...label])]),
      h('div', { className: ['expandable-content'] }, context.children(children)),
    ]),
  ];
};

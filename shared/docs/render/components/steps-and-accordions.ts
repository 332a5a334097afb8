import type { ElementContent } from 'hast';
import { h } from 'hastscript';
import type { ContentContext } from '#shared/docs/render/content/content-context.ts';
import { toText } from '#shared/docs/render/content/finish-content.ts';
import { icon } from '#shared/docs/render/content/icon.ts';
import type { StaticElement } from '#shared/docs/render/evaluate/static-tree.ts';
import { type Component, contentProp, elementsNamed, flagProp, iconProp, numberProp, textProp } from './component.ts';

const TITLE_SIZES = new Set(['p', 'h2', 'h3', 'h4']);

/** `Steps` with its `Step`s, numbered. Titles that are headings are in the table of contents. */
export const steps: Component = ({ props, children }, context) => {
  const size = textProp(props, 'titleSize');
  const items = elementsNamed(children, 'Step');
  if (items.length === 0) return context.children(children);
  return [
    h(
      'ol',
      { className: ['steps'] },
      items.map((item, position) => stepItem(item, position, size, context)),
    ),
  ];
};

export const loneStep: Component = (element, context) => [
  h('ol', { className: ['steps'] }, [stepItem(element, 0, undefined, context)]),
];

function stepItem(
  { props, children }: StaticElement,
  position: number,
  groupSize: string | undefined,
  context: ContentContext,
) {
  const title = contentProp(props.get('title'), context);
  const wanted = textProp(props, 'titleSize') ?? groupSize ?? 'p';
  const tag = TITLE_SIZES.has(wanted) ? wanted : 'p';
  const text = toText(title);
  const written = textProp(props, 'id');
  const anchor = written === undefined ? context.anchors.claim(text || 'step') : context.anchors.claimWritten(written);
  if ((tag === 'h2' || tag === 'h3') && text !== '' && !flagProp(props, 'noAnchor')) {
    context.toc.push({ anchor, title: text, depth: tag === 'h2' ? 2 : 3 });
  }
  const sign = iconProp(props, 'step-icon', context);
  const number = String(numberProp(props, 'stepNumber') ?? position + 1);
  return h('li', { className: ['step'], id: anchor }, [
    h('div', { className: ['step-number'], ariaHidden: 'true' }, sign.length > 0 ? sign : number),
    h('div', { className: ['step-body'] }, [
      ...(title.length > 0 ? [h(tag, { className: ['step-title'] }, title)] : []),
      h('div', { className: ['step-content'] }, context.children(children)),
    ]),
  ]);
}

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

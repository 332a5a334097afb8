import type { ElementContent } from 'hast';
import type { ContentContext } from '#shared/docs/render/content/content-context.ts';
import { h, toText } from '#shared/docs/render/content/content-tree.ts';
import type { StaticElement } from '#shared/docs/render/evaluate/static-tree.ts';
import {
  type Component,
  type Components,
  contentNodes,
  contentProp,
  elementsNamed,
  flagProp,
  iconProp,
  numberProp,
  paragraph,
  text,
  textProp,
  titledMarkdown,
} from './component.ts';

const titleSizes = new Set(['p', 'h2', 'h3', 'h4']);

/** `Steps` with its `Step`s, numbered. Titles that are headings are in the table of contents. */
const steps: Component = {
  html({ props, children }, context) {
    const items = elementsNamed(children, 'Step');
    if (items.length === 0) return context.children(children);
    const size = textProp(props, 'titleSize');
    return [stepList(items, size, context)];
  },
  markdown({ children }, write) {
    const items = elementsNamed(children, 'Step');
    if (items.length === 0) return write.blocks(children);
    const listed = items.map((item) => ({
      type: 'listItem' as const,
      spread: true,
      children: titledMarkdown(item, write),
    }));
    return [{ type: 'list', ordered: true, start: 1, spread: true, children: listed }];
  },
};

/** A `Step` without `Steps` around it. */
const loneStep: Component = {
  html: (element, context) => [stepList([element], undefined, context)],
  markdown: titledMarkdown,
};

const stepList = (items: readonly StaticElement[], size: string | undefined, context: ContentContext) =>
  h(
    'ol',
    { className: ['steps'] },
    items.map((item, position) => stepItem(item, position, size, context)),
  );

function stepItem(element: StaticElement, position: number, groupSize: string | undefined, context: ContentContext) {
  const { props, children } = element;
  const title = contentProp(props.get('title'), context);
  const wanted = textProp(props, 'titleSize') ?? groupSize ?? 'p';
  const tag = titleSizes.has(wanted) ? wanted : 'p';
  const label = toText(title);
  const anchor = context.anchors.claim(label || 'step', textProp(props, 'id'));
  if ((tag === 'h2' || tag === 'h3') && label !== '' && !flagProp(props, 'noAnchor')) {
    context.toc.push({ anchor, title: label, depth: tag === 'h2' ? 2 : 3 });
  }
  const ownIcon = iconProp(element, 'step-icon', context);
  const number = String(numberProp(props, 'stepNumber') ?? position + 1);
  return h('li', { className: ['step'], id: anchor }, [
    h('div', { className: ['step-number'], ariaHidden: 'true' }, ownIcon.length > 0 ? ownIcon : number),
    h('div', { className: ['step-body'] }, [
      title.length > 0 ? h(tag, { className: ['step-title'] }, title) : null,
      h('div', { className: ['step-content'] }, context.children(children)),
    ]),
  ]);
}

/** An arrow that the style sheet draws, instead of an SVG, because the page of a large operation has a hundred of them. */
const chevron = h('span', { className: ['chevron'] });

/** `Accordion`: opens without scripts. Its anchor is its id or is made from its title. */
const accordion: Component = {
  html(element, context) {
    const { props, children } = element;
    const title = contentProp(props.get('title'), context);
    const id = context.anchors.claim(textProp(props, 'title') ?? 'accordion', textProp(props, 'id'));
    const description = contentProp(props.get('description'), context);
    return [
      h('details', { className: ['accordion'], id, ...(flagProp(props, 'defaultOpen') && { open: true }) }, [
        h('summary', [
          chevron,
          iconProp(element, 'accordion-icon', context),
          h('span', { className: ['accordion-title'] }, [
            title,
            description.length > 0 ? [' ', h('span', { className: ['accordion-description'] }, description)] : null,
          ]),
        ]),
        h('div', { className: ['accordion-content'] }, context.children(children)),
      ]),
    ];
  },
  markdown(element, write) {
    const [first, ...rest] = titledMarkdown(element, write);
    const description = write.line(contentNodes(element.props.get('description')));
    if (first?.type !== 'paragraph' || description.length === 0) return first === undefined ? [] : [first, ...rest];
    return [paragraph(...first.children, text(' – '), ...description), ...rest];
  },
};

const accordionGroup: Component = {
  html: ({ children }, context) => [h('div', { className: ['accordion-group'] }, context.children(children))],
};

/** `Expandable`: nested properties of a property. */
const expandable: Component = {
  html({ props, children }, context) {
    const title = contentProp(props.get('title'), context);
    return [
      h('details', { className: ['expandable'], ...(flagProp(props, 'defaultOpen') && { open: true }) }, [
        h('summary', [chevron, h('span', shownTitle(title, context))]),
        h('div', { className: ['expandable-content'] }, context.children(children)),
      ]),
    ];
  },
  markdown: titledMarkdown,
};

/** Label such as `Show pet`: the title, which may have elements, at its place in the text of the page's language. */
function shownTitle(title: ElementContent[], { texts }: ContentContext): (string | ElementContent)[] {
  if (title.length === 0) return [texts.showProperties];
  const [before = '', after = ''] = texts.show.split('{title}');
  return [before, ...title, after];
}

export const stepsAndAccordions: Components = {
  Steps: steps,
  Step: loneStep,
  Accordion: accordion,
  AccordionGroup: accordionGroup,
  Expandable: expandable,
};

import type { Element } from 'hast';
import type { List, ListItem } from 'mdast';
import type { ContentContext } from '#shared/docs/render/content/content-context.ts';
import { h } from '#shared/docs/render/content/content-tree.ts';
import type { StaticElement, StaticProps } from '#shared/docs/render/evaluate/static-tree.ts';
import {
  type Component,
  type Components,
  contentNodes,
  contentProp,
  flagProp,
  paragraph,
  plainText,
  text,
  textProp,
  textsProp,
} from './component.ts';

const places = ['path', 'query', 'body', 'header', 'cookie'] as const;

/** `ParamField`: a parameter of an operation, with the anchor `param-<name>`. `ResponseField`: a field of a response, or any option. */
const field: Component = {
  html(element, context) {
    const { name: component, props, alike, id: own } = element;
    const isParameter = component !== 'ResponseField';
    if (alike !== undefined && own !== undefined) {
      const id = context.anchors.claimWritten(own);
      return [{ type: 'repeated', id, alike, element: (each) => fieldElement(element, each, context) }];
    }
    const name = nameOf(props, placeOf(element));
    const id = context.anchors.claim(isParameter ? `param-${name}` : name, textProp(props, 'id'));
    return [fieldElement(element, id, context)];
  },
  markdown({ name: component, props, children, alike }, write) {
    const known = alike && items.get(alike);
    if (known) return [listOf(known)];
    const name = textProp(props, 'name', ...places) ?? '';
    const fallback = textProp(props, 'default');
    const facts = [
      plainText(write.line(contentNodes(props.get('type')))),
      ...textsProp(props, 'pre'),
      ...textsProp(props, 'post'),
      component === 'ResponseField' ? '' : (places.find((one) => textProp(props, one) !== undefined) ?? ''),
      flagProp(props, 'required') ? 'required' : '',
      flagProp(props, 'deprecated') ? 'deprecated' : '',
      fallback === undefined ? '' : `default: ${fallback}`,
    ].filter((fact) => fact !== '');
    const head = paragraph({ type: 'inlineCode', value: name }, text(facts.length > 0 ? ` (${facts.join(', ')})` : ''));
    const item: ListItem = { type: 'listItem', spread: true, children: [head, ...write.blocks(children)] };
    if (alike) {
      item.data = { isRepeated: true };
      items.set(alike, item);
    }
    return [listOf(item)];
  },
};

const spaced = (parts: readonly (Element | null)[]): (Element | string)[] =>
  parts.flatMap((part) => (part === null ? [] : [' ', part])).slice(1);

const placeOf = ({ name, props }: StaticElement): (typeof places)[number] | undefined =>
  name === 'ResponseField' ? undefined : places.find((one) => textProp(props, one) !== undefined);

const nameOf = (props: StaticProps, place: string | undefined): string =>
  (place && textProp(props, place)) ?? textProp(props, 'name') ?? '';

function fieldElement(field: StaticElement, id: string, context: ContentContext): Element {
  const { props, children } = field;
  const { texts } = context;
  const place = placeOf(field);
  const chip = (kind: string, label: string) => h('span', { className: ['field-chip', `field-${kind}`] }, label);
  const required = flagProp(props, 'required') || (props.has('optional') && props.get('optional') === false);
  const deprecated = flagProp(props, 'deprecated');
  const fallback = props.get('default');
  const shown = typeof fallback === 'boolean' ? String(fallback) : textProp(props, 'default', 'initialValue');
  const type = contentProp(props.get('type'), context);
  return h('div', { className: ['field'], id }, [
    // Spaces also separate the words for readers of the text alone, such as the search; CSS gaps would not.
    h(
      'div',
      { className: ['field-head'] },
      spaced([
        ...textsProp(props, 'pre').map((label) => chip('pre', label)),
        h('code', deprecated ? { className: ['deprecated'] } : {}, [h('a', { href: `#${id}` }, nameOf(props, place))]),
        ...textsProp(props, 'post').map((label) => chip('post', label)),
        type.length > 0 ? h('samp', type) : null,
        place === undefined ? null : chip('place', place),
        shown === undefined
          ? null
          : h('span', { className: ['field-default'] }, [`${texts.defaultValue} `, h('code', shown)]),
        required ? chip('required', texts.required) : null,
        deprecated ? chip('deprecated', texts.deprecated) : null,
      ]),
    ),
    children.length === 0 ? null : h('div', context.children(children)),
  ]);
}

/** Cache of the list items of identical fields. */
const items = new WeakMap<object, ListItem>();

const listOf = (item: ListItem): List => ({
  type: 'list',
  ordered: false,
  spread: true,
  children: [item],
  data: { isOfFields: true },
});

export const fields: Components = { Param: field, ParamField: field, ResponseField: field };

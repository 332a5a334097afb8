import type { ElementContent } from 'hast';
import { h } from 'hastscript';
import { type Component, contentProp, flagProp, textProp, textsProp } from './component.ts';

const PLACES = ['path', 'query', 'body', 'header'] as const;

/** `ParamField`: a parameter of an operation. Its address is `param-<name>`. */
export const paramField: Component = (element, context) => {
  const { props } = element;
  const place = PLACES.find((name) => textProp(props, name) !== undefined);
  const name = (place && textProp(props, place)) ?? textProp(props, 'name') ?? '';
  return field(name, place, { ...element, props }, context, 'param-field');
};

/** `ResponseField`: a field of an answer, or any option with a name and type. */
export const responseField: Component = (element, context) =>
  field(textProp(element.props, 'name') ?? '', undefined, element, context, 'response-field');

function field(
  name: string,
  place: string | undefined,
  { props, children }: Parameters<Component>[0],
  context: Parameters<Component>[1],
  className: string,
): ElementContent[] {
  const chip = (kind: string, text: string) => h('span', { className: ['field-chip', `field-${kind}`] }, text);
  const required = flagProp(props, 'required') || (props.has('optional') && props.get('optional') === false);
  const type = contentProp(props.get('type'), context);
  const fallback = props.get('default');
  const shown = typeof fallback === 'boolean' ? String(fallback) : textProp(props, 'default', 'initialValue');
  const id = context.anchors.claim(className === 'param-field' ? `param-${name}` : name);
  return [
    h('div', { className: ['field', className], id }, [
      h('div', { className: ['field-head'] }, [
        ...textsProp(props, 'pre').map((text) => chip('pre', text)),
        h('code', { className: flagProp(props, 'deprecated') ? ['field-name', 'deprecated'] : ['field-name'] }, [
          h('a', { href: `#${id}` }, name),
        ]),
        ...textsProp(props, 'post').map((text) => chip('post', text)),
        ...(type.length > 0 ? [h('span', { className: ['field-type'] }, type)] : []),
        ...(place === undefined ? [] : [chip('place', place)]),
        ...(shown === undefined ? [] : [h('span', { className: ['field-default'] }, ['default: ', h('code', shown)])]),
        ...(required ? [chip('required', 'required')] : []),
        ...(flagProp(props, 'deprecated') ? [chip('deprecated', 'deprecated')] : []),
      ]),
      h('div', { className: ['field-body'] }, context.children(children)),
    ]),
  ];
}

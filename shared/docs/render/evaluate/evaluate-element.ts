import type { Expression } from 'estree';
import type { JSXElement, JSXFragment, JSXIdentifier, JSXMemberExpression, JSXNamespacedName } from 'estree-jsx';
import type { Nodes } from 'mdast';
import type { Place } from '../findings.ts';
import { callClosure, evaluateExpression, spreadObject } from './evaluate-expression.ts';
import { type Frame, NotStatic, report } from './evaluation.ts';
import {
  Closure,
  ComponentReference,
  type Module,
  StaticNodes,
  type StaticObject,
  type StaticValue,
} from './static-tree.ts';

/**
 * An element of JSX, wherever it stands: of HTML or built-in it stays an element; a component of the project gives way to what it renders;
 * one that nobody knows gives way to its children.
 */
export function evaluateElement(
  name: string,
  props: StaticObject,
  children: Nodes[],
  frame: Frame,
  place: Place,
): Nodes[] {
  const { evaluation } = frame;
  evaluation.budget.node();
  const component = lookUp(name, frame);
  if (component instanceof Closure) return expand(component, props, children, frame, place);
  if (component instanceof ComponentReference) return include(component, name, props, children, frame, place);
  if (name === 'Snippet') return legacyInclude(props, children, frame, place);
  if (name === 'React.Fragment' || name === 'Fragment') return children;
  if (evaluation.components.has(name) || /^[a-z][A-Za-z0-9-]*$/.test(name)) {
    for (const key of props.keys()) {
      if (!/^on[A-Z]/.test(key)) continue;
      report(
        frame,
        'expression-not-static',
        `The handler \`${key.slice(0, 40)}\` of <${name}> is left out: pages run no code of the project.`,
        place,
      );
    }
    return [{ type: 'staticElement', name, props, children, ...positionOf(place) }];
  }
  report(
    frame,
    'unknown-component',
    `There is no component <${name.slice(0, 60)}>; its content is shown without it.`,
    place,
  );
  return children;
}

/** What the page itself binds goes before what is built in. */
function lookUp(name: string, frame: Frame): StaticValue {
  if (/^[a-z]/.test(name) && !name.includes('.')) return undefined;
  const [first = '', ...rest] = name.split('.');
  if (!frame.scope.has(first)) return undefined;
  let value = frame.scope.get(first);
  for (const part of rest) value = value instanceof Map ? value.get(part) : undefined;
  return value;
}

function expand(component: Closure, props: StaticObject, children: Nodes[], frame: Frame, place: Place): Nodes[] {
  const { evaluation } = frame;
  if (evaluation.active.includes(component)) {
    report(
      frame,
      'component-recursion',
      `The component <${component.name}> renders itself; it is left out there.`,
      place,
    );
    return [];
  }
  const all: StaticObject = new Map(props);
  if (children.length > 0) all.set('children', new StaticNodes(children));
  evaluation.active.push(component);
  try {
    const value = evaluation.budget.deeper(() => callClosure(component, [all], frame));
    return nodesOf(value);
  } catch (error) {
    if (!(error instanceof NotStatic)) throw error;
    const what = `The component <${component.name}> cannot be rendered without running it: it ${error.message}.`;
    report(frame, error.code, `${what} Its content is shown without it.`, place);
    return children;
  } finally {
    evaluation.active.pop();
  }
}

function include(
  reference: ComponentReference,
  name: string,
  props: StaticObject,
  children: Nodes[],
  frame: Frame,
  place: Place,
): Nodes[] {
  const { evaluation, module } = frame;
  const target = reference.module;
  if (evaluation.active.includes(target) || target === module) {
    const chain = evaluation.active
      .filter((item): item is Module => !(item instanceof Closure))
      .map((item) => item.path);
    const message = `The snippet <${name}> includes itself (${[...chain, target.path].join(' → ').slice(0, 300)}); it is left out there.`;
    report(frame, 'snippet-cycle', message, place);
    return [];
  }
  const all: StaticObject = new Map(props);
  if (children.length > 0) all.set('children', new StaticNodes(children));
  evaluation.budget.include();
  evaluation.active.push(target);
  try {
    return evaluation.budget.deeper(() => evaluation.evaluateSnippet(target, all, evaluation));
  } catch (error) {
    if (!(error instanceof NotStatic)) throw error;
    report(frame, error.code, `The snippet <${name}> is left out: it ${error.message}.`, place);
    return [];
  } finally {
    evaluation.active.pop();
  }
}

/** `<Snippet file="x.mdx" />` of older projects: from `_snippets` or `snippets`. */
function legacyInclude(props: StaticObject, children: Nodes[], frame: Frame, place: Place): Nodes[] {
  const file = props.get('file');
  const path = typeof file === 'string' && !file.split('/').includes('..') ? file.replace(/^\/+/, '') : undefined;
  const target =
    path &&
    [`_snippets/${path}`, `snippets/${path}`, path, `_snippets/${path}.mdx`, `snippets/${path}.mdx`]
      .map((candidate) => frame.evaluation.loadModule(candidate))
      .find((found) => found !== undefined);
  if (target) return include(new ComponentReference(target), 'Snippet', props, children, frame, place);
  report(frame, 'import-not-found', `There is no snippet file ${JSON.stringify(path?.slice(0, 200) ?? '')}.`, place);
  return children;
}

/** A value as content: text and numbers are shown, nothing and booleans are not, objects cannot be. */
export function nodesOf(value: StaticValue): Nodes[] {
  if (value === null || value === undefined || typeof value === 'boolean') return [];
  if (typeof value === 'string') return value === '' ? [] : [{ type: 'text', value }];
  if (typeof value === 'number') return [{ type: 'text', value: String(value) }];
  if (Array.isArray(value)) return value.flatMap(nodesOf);
  if (value instanceof StaticNodes) return value.nodes;
  throw new NotStatic('shows an object or function');
}

function positionOf(place: Place): Pick<Extract<Nodes, { type: 'staticElement' }>, 'position'> {
  return 'position' in place && place.position ? { position: place.position as NonNullable<Nodes['position']> } : {};
}

/** JSX inside of an expression. */
export function evaluateJsx(node: JSXElement | JSXFragment, frame: Frame): Nodes[] {
  frame.evaluation.budget.step();
  const children = node.children.flatMap((child): Nodes[] => {
    if (child.type === 'JSXText') {
      const value = jsxText(child.value);
      frame.evaluation.budget.text(value.length);
      return value === '' ? [] : [{ type: 'text', value }];
    }
    if (child.type === 'JSXExpressionContainer') {
      return child.expression.type === 'JSXEmptyExpression' ? [] : nodesOf(evaluateExpression(child.expression, frame));
    }
    if (child.type === 'JSXSpreadChild') throw new NotStatic('spreads children');
    return frame.evaluation.budget.deeper(() => evaluateJsx(child, frame));
  });
  if (node.type === 'JSXFragment') return children;
  const props: StaticObject = new Map();
  for (const attribute of node.openingElement.attributes) {
    if (attribute.type === 'JSXSpreadAttribute') {
      for (const [key, value] of spreadObject(evaluateExpression(attribute.argument, frame))) props.set(key, value);
    } else props.set(tagName(attribute.name), attributeValue(attribute.value, frame));
  }
  const given = children.length === 0 && props.has('children') ? nodesOf(props.get('children')) : children;
  props.delete('children');
  return evaluateElement(tagName(node.openingElement.name), props, given, frame, node);
}

type AttributeValue = JSXElement['openingElement']['attributes'][number] extends infer Attribute
  ? Attribute extends { type: 'JSXAttribute'; value: infer Value }
    ? Value
    : never
  : never;

function attributeValue(value: AttributeValue, frame: Frame): StaticValue {
  if (value === null) return true;
  if (value.type === 'Literal') return value.value as string;
  if (value.type === 'JSXExpressionContainer') return evaluateExpression(value.expression as Expression, frame);
  return new StaticNodes(evaluateJsx(value, frame));
}

function tagName(name: JSXIdentifier | JSXMemberExpression | JSXNamespacedName): string {
  if (name.type === 'JSXIdentifier') return name.name;
  if (name.type === 'JSXNamespacedName') return `${name.namespace.name}:${name.name.name}`;
  return `${tagName(name.object)}.${name.property.name}`;
}

/** As React reads it: lines trimmed and joined by spaces, empty ones dropped. */
function jsxText(text: string): string {
  const lines = text.split(/\r\n|\n|\r/);
  return lines
    .map((line, position) => {
      let kept = line.replace(/\t/g, ' ');
      if (position > 0) kept = kept.replace(/^ +/, '');
      if (position < lines.length - 1) kept = kept.replace(/ +$/, '');
      return kept;
    })
    .filter((line) => line !== '')
    .join(' ');
}

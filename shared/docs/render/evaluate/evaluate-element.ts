import type { Expression } from 'estree';
import type { JSXElement, JSXFragment, JSXIdentifier, JSXMemberExpression, JSXNamespacedName } from 'estree-jsx';
import type { Nodes } from 'mdast';
import { resolveSnippetFile } from '#shared/docs/project/read-sources.ts';
import type { Place } from '../findings.ts';
import { callClosure, evaluateExpression, spreadObject } from './evaluate-expression.ts';
import { type Frame, NotStatic, report } from './evaluation.ts';
import { Closure, ComponentReference, StaticNodes, type StaticObject, type StaticValue } from './static-tree.ts';

/** An element: its name, props and content, and its place in the file. */
type Use = { name: string; props: StaticObject; children: Nodes[]; place: Place };

/**
 * An element of JSX. One of HTML or a built-in one stays an element; a component of the project is replaced by what it renders, an
 * unknown one by its children.
 */
export function evaluateElement(use: Use, frame: Frame): Nodes[] {
  const { name, props, children, place } = use;
  const { budget, components } = frame.evaluation;
  budget.node();
  const component = lookUp(name, frame);
  if (component instanceof Closure || component instanceof ComponentReference) return expand(component, use, frame);
  if (name === 'Snippet') return legacyInclude(use, frame);
  if (name === 'React.Fragment' || name === 'Fragment') return children;
  if (!components.has(name) && !/^[a-z][A-Za-z0-9-]*$/.test(name)) {
    const message = `There is no component <${name.slice(0, 60)}>; its content is shown without it.`;
    report(frame, 'unknown-component', message, place);
    return children;
  }
  for (const key of props.keys()) {
    if (!/^on[A-Z]/.test(key)) continue;
    const message = `The handler \`${key.slice(0, 40)}\` of <${name}> is left out: pages run no code of the project.`;
    report(frame, 'expression-not-static', message, place);
  }
  return [{ type: 'staticElement', name, props, children, ...positionOf(place) }];
}

/** A component of the project has the name. */
export const isBound = (name: string, frame: Frame): boolean => lookUp(name, frame) !== undefined;

/** What the page itself binds to a name; it hides a built-in component of that name. */
function lookUp(name: string, frame: Frame): StaticValue {
  if (/^[a-z]/.test(name) && !name.includes('.')) return undefined;
  const [first = '', ...rest] = name.split('.');
  if (!frame.scope.has(first)) return undefined;
  let value = frame.scope.get(first);
  for (const part of rest) value = value instanceof Map ? value.get(part) : undefined;
  return value;
}

/** What a component or snippet of the project renders. One that would render itself is left out. */
function expand(component: Closure | ComponentReference, use: Use, frame: Frame): Nodes[] {
  const { name, props, children, place } = use;
  const { evaluation, module } = frame;
  const target = component instanceof Closure ? component : component.module;
  if (evaluation.active.includes(target) || target === module) {
    if (target instanceof Closure) {
      const message = `The component <${target.name}> renders itself; it is left out there.`;
      report(frame, 'component-recursion', message, place);
    } else {
      const chain = evaluation.active.flatMap((item) => (item instanceof Closure ? [] : [item.path]));
      const shown = [...chain, target.path].join(' → ').slice(0, 300);
      report(frame, 'snippet-cycle', `The snippet <${name}> includes itself (${shown}); it is left out there.`, place);
    }
    return [];
  }
  const all: StaticObject = new Map(props);
  if (children.length > 0) all.set('children', new StaticNodes(children));
  if (!(target instanceof Closure)) evaluation.budget.include();
  evaluation.active.push(target);
  try {
    return evaluation.budget.deeper(() =>
      target instanceof Closure
        ? nodesOf(callClosure(target, [all], frame))
        : evaluation.evaluateSnippet(target, all, evaluation),
    );
  } catch (error) {
    if (!(error instanceof NotStatic)) throw error;
    if (!(target instanceof Closure)) {
      report(frame, error.code, `The snippet <${name}> is left out: it ${error.message}.`, place);
      return [];
    }
    const what = `The component <${target.name}> cannot be rendered without running it: it ${error.message}.`;
    report(frame, error.code, `${what} Its content is shown without it.`, place);
    return children;
  } finally {
    evaluation.active.pop();
  }
}

/** `<Snippet file="x.mdx" />` of older projects: from `_snippets` or `snippets`. */
function legacyInclude(use: Use, frame: Frame): Nodes[] {
  const { loadModule } = frame.evaluation;
  const written = use.props.get('file');
  const file = (typeof written === 'string' ? written : '').replace(/^\/+/, '');
  const path = resolveSnippetFile(file, (candidate) => loadModule(candidate) !== undefined);
  const target = path === undefined ? undefined : loadModule(path);
  if (target) return expand(new ComponentReference(target), use, frame);
  const message = `There is no snippet file ${JSON.stringify(file.slice(0, 200))}.`;
  report(frame, 'import-not-found', message, use.place);
  return use.children;
}

/** A value as content: text and numbers are shown, booleans and missing values are not, objects cannot be. */
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

/** JSX inside an expression. */
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
  return evaluateElement({ name: tagName(node.openingElement.name), props, children: given, place: node }, frame);
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

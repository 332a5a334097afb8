import type { Expression } from 'estree';
import type { JSXElement, JSXFragment, JSXIdentifier, JSXMemberExpression, JSXNamespacedName } from 'estree-jsx';
import type { Nodes } from 'mdast';
import { resolveSnippetFile } from '#shared/docs/project/read-sources.ts';
import type { Place } from '../findings.ts';
import { lookAt, nodesOf, spreadObject } from './content-of-value.ts';
import { callClosure, evaluateExpression } from './evaluate-expression.ts';
import { givenTo, islandNodes, type Unread } from './evaluate-island.ts';
import { type Frame, isInComponent, NotStatic, report } from './evaluation.ts';
import {
  Closure,
  ComponentReference,
  type StaticElement,
  StaticNodes,
  type StaticObject,
  type StaticValue,
  Unknown,
} from './static-tree.ts';

/** An element: its name, props and content, attributes without a static value, and its place in the file. */
type Use = { name: string; props: StaticObject; children: Nodes[]; unread?: readonly Unread[]; place: Place };

/**
 * Evaluates a JSX element. HTML elements and built-in components stay elements; a component of the project is replaced by its output, an unknown one
 * by its children.
 */
export function evaluateElement(use: Use, frame: Frame): Nodes[] {
  const { name, props, children, unread = [], place } = use;
  const { budget, components, isFirstLook } = frame.evaluation;
  budget.node();
  lookAt(props.values(), budget);
  const component = lookUp(name, frame);
  if (component instanceof Unknown) return runInBrowser(undefined, use, new NotStatic(component.why), frame);
  if (component instanceof Closure) return expandComponent(component, use, frame);
  const handlers = unread.filter(({ name: key }) => isHandler(key));
  if (handlers.length > 0 && !isFirstLook && isElement(name)) {
    const { name: key } = handlers[0] as Unread;
    return runInBrowser(undefined, use, new NotStatic(`has the handler \`${key.slice(0, 40)}\``), frame);
  }
  reportUnread(use, frame);
  if (component instanceof ComponentReference) return expandSnippet(component, use, frame);
  if (name === 'Snippet') return legacyInclude(use, frame);
  if (name === 'React.Fragment' || name === 'Fragment') return children;
  if (!components.has(name) && !isElement(name)) {
    // The finding about its import says it already.
    if (frame.module.missing.has(name.split('.', 1)[0] ?? '')) return children;
    const message = `There is no component <${name.slice(0, 60)}>; its content is shown without it.`;
    report(frame, 'unknown-component', message, place);
    return children;
  }
  for (const [key, value] of props) {
    if (isFirstLook || !isHandler(key)) continue;
    if (isInComponent(frame) && value !== undefined && value !== null && value !== false) {
      throw new NotStatic(`has the handler \`${key.slice(0, 40)}\``);
    }
    const message = `The handler \`${key.slice(0, 40)}\` of <${name}> is left out: pages run no code of the project.`;
    report(frame, 'expression-not-static', message, place);
  }
  const field = isFirstLook ? fieldAtFirst(use) : undefined;
  return [{ type: 'staticElement', name, props, children, ...field, ...positionOf(place) }];
}

/** The first look of a form field in an island: a box with its text. Undefined for other elements. */
function fieldAtFirst({ name, props, children }: Use): Pick<StaticElement, 'name' | 'props' | 'children'> | undefined {
  if (name !== 'input' && name !== 'textarea' && name !== 'select') return undefined;
  if (name === 'input' && (props.get('type') === 'checkbox' || props.get('type') === 'radio')) return undefined;
  const options = children.filter((node) => node.type === 'staticElement' && node.name === 'option') as StaticElement[];
  const chosen = options.find((option) => option.props.get('value') === props.get('value')) ?? options[0];
  const text = ['value', 'defaultValue', 'placeholder']
    .map((key) => props.get(key))
    .find((value) => isText(value) && value !== '');
  const isHidden = props.get('type') === 'hidden' || props.get('type') === 'range';
  const shown: Nodes[] =
    name === 'select'
      ? (chosen?.children ?? [])
      : isText(text) && !isHidden
        ? [{ type: 'text', value: String(text) }]
        : [];
  const className = [props.get('className'), 'island-field'].filter(isText).join(' ');
  const kept = [...props].filter(([key]) => key === 'style');
  return { name: 'span', props: new Map<string, StaticValue>([...kept, ['className', className]]), children: shown };
}

const isText = (value: StaticValue): value is string | number => typeof value === 'string' || typeof value === 'number';

const isElement = (name: string): boolean => /^[a-z][A-Za-z0-9-]*$/.test(name);
const isHandler = (name: string): boolean => /^on[A-Z]/.test(name);

/** Reports attributes that are left out. */
function reportUnread({ name, unread = [], place }: Use, frame: Frame): void {
  for (const { name: key, why, failure = 'expression-not-static' } of unread) {
    const what = isHandler(key)
      ? `The handler \`${key.slice(0, 40)}\` of <${name}> is left out: it can only be on an element of HTML or a component of the project.`
      : `The attribute \`${key.slice(0, 40)}\` of <${name}> is left out: it ${why}.`;
    report(frame, failure, what, place);
  }
}

/** True if a component of the project has the name. */
export const isBound = (name: string, frame: Frame): boolean => lookUp(name, frame) !== undefined;

/** The value that the page binds to a component's name; it hides a built-in component of the same name. */
function lookUp(name: string, frame: Frame): StaticValue {
  if (/^[a-z]/.test(name) && !name.includes('.')) return undefined;
  const [first = '', ...rest] = name.split('.');
  if (!frame.scope.has(first)) return undefined;
  let value = frame.scope.get(first);
  for (const part of rest) {
    if (value instanceof Unknown) return value;
    value = value instanceof Map ? value.get(part) : undefined;
  }
  return value;
}

/**
 * Output of a component of the project. A component that would have to run, or that has an attribute that would have to run, becomes an island.
 * Inside of another component, that one becomes the island. A component that would render itself is left out.
 */
function expandComponent(target: Closure, use: Use, frame: Frame): Nodes[] {
  const { unread = [], place } = use;
  const { active, budget, diagnostics, islands, isFirstLook } = frame.evaluation;
  if (active.includes(target)) {
    const message = `The component <${target.name}> renders itself; it is left out there.`;
    report(frame, 'component-recursion', message, place);
    return [];
  }
  if (unread.length > 0 && !isFirstLook) {
    return runInBrowser(target, use, new NotStatic(`is given \`${unread[0]?.name}\`, which ${unread[0]?.why}`), frame);
  }
  const before = [diagnostics.length, islands.length] as const;
  let cause: NotStatic;
  active.push(target);
  try {
    return budget.deeper(() => nodesOf(callClosure(target, [withChildren(use)], frame), budget));
  } catch (error) {
    if (!(error instanceof NotStatic) || isFirstLook) throw error;
    cause = error;
  } finally {
    active.pop();
  }
  [diagnostics.length, islands.length] = before;
  return runInBrowser(target, use, cause, frame);
}

function withChildren({ props, children }: Use): StaticObject {
  const all: StaticObject = new Map(props);
  if (children.length > 0) all.set('children', new StaticNodes(children));
  return all;
}

/** Makes an island of the component, or of the HTML element with this name. `cause`: why it must run. */
function runInBrowser(target: Closure | undefined, use: Use, cause: NotStatic, frame: Frame): Nodes[] {
  const { name, props, children, unread = [], place } = use;
  const { evaluation } = frame;
  // A component around this one knows the values that this one gets, so the outer one becomes the island.
  const isInner = evaluation.isFirstLook || isInComponent(frame);
  const given = givenTo(target, { name, props, children, unread }, frame);
  if (given === undefined || (isInner && target === undefined)) {
    if (isInner) throw cause;
    const what = `The component <${name.slice(0, 60)}> cannot be rendered without running it: it ${cause.message}.`;
    if (isElement(name)) {
      reportUnread(use, frame);
      return [{ type: 'staticElement', name, props, children, ...positionOf(place) }];
    }
    report(frame, cause.code, `${what} Its content is shown without it.`, place);
    return children;
  }
  if (!evaluation.allowsScripts) {
    const what = `<${name.slice(0, 60)}> needs scripts, which are not allowed here: it ${cause.message}.`;
    report(frame, 'island-not-run', `${what} The page shows only its initial state.`, place);
  }
  const first = firstLook(target, name, given.shown, place, frame);
  return islandNodes(given, first, place, frame);
}

/** The first look of a component; empty if it cannot be known. */
function firstLook(
  target: Closure | undefined,
  name: string,
  props: StaticObject,
  place: Place,
  frame: Frame,
): Nodes[] {
  const { evaluation } = frame;
  if (target === undefined && isElement(name)) {
    const { children, ...rest } = Object.fromEntries(props);
    return [
      {
        type: 'staticElement',
        name,
        props: new Map(Object.entries(rest)),
        children: nodesOf(children, evaluation.budget),
        ...positionOf(place),
      },
    ];
  }
  if (target === undefined) return [];
  const reported = evaluation.diagnostics.length;
  evaluation.isFirstLook = true;
  evaluation.active.push(target);
  try {
    return evaluation.budget.deeper(() => nodesOf(callClosure(target, [props], frame), evaluation.budget));
  } catch (error) {
    if (!(error instanceof NotStatic)) throw error;
    return [];
  } finally {
    evaluation.active.pop();
    evaluation.isFirstLook = false;
    evaluation.diagnostics.length = reported;
  }
}

/** The body of a snippet. A snippet that would include itself is left out. */
function expandSnippet({ module: target }: ComponentReference, use: Use, frame: Frame): Nodes[] {
  const { name, place } = use;
  const { evaluation, module } = frame;
  if (evaluation.active.includes(target) || target === module) {
    const chain = evaluation.active.flatMap((item) => (item instanceof Closure ? [] : [item.path]));
    const shown = [...chain, target.path].join(' → ').slice(0, 300);
    report(frame, 'snippet-cycle', `The snippet <${name}> includes itself (${shown}); it is left out there.`, place);
    return [];
  }
  evaluation.budget.include();
  evaluation.active.push(target);
  try {
    return evaluation.budget.deeper(() => evaluation.evaluateSnippet(target, withChildren(use), evaluation));
  } catch (error) {
    if (!(error instanceof NotStatic)) throw error;
    report(frame, error.code, `The snippet <${name}> is left out: it ${error.message}.`, place);
    return [];
  } finally {
    evaluation.active.pop();
  }
}

/** `<Snippet file="x.mdx" />` of older projects. The file is in `_snippets` or `snippets`. */
function legacyInclude(use: Use, frame: Frame): Nodes[] {
  const { loadModule } = frame.evaluation;
  const written = use.props.get('file');
  const file = (typeof written === 'string' ? written : '').replace(/^\/+/, '');
  const path = resolveSnippetFile(file, (candidate) => loadModule(candidate) !== undefined);
  const target = path === undefined ? undefined : loadModule(path);
  if (target) return expandSnippet(new ComponentReference(target), use, frame);
  const message = `There is no snippet file ${JSON.stringify(file.slice(0, 200))}.`;
  report(frame, 'import-not-found', message, use.place);
  return use.children;
}

function positionOf(place: Place): Pick<Extract<Nodes, { type: 'staticElement' }>, 'position'> {
  return 'position' in place && place.position ? { position: place.position as NonNullable<Nodes['position']> } : {};
}

/** Evaluates JSX inside an expression. */
export function evaluateJsx(node: JSXElement | JSXFragment, frame: Frame): Nodes[] {
  const { budget } = frame.evaluation;
  budget.step();
  const children = node.children.flatMap((child): Nodes[] => lenient(frame, [], () => childNodes(child, frame)));
  if (node.type === 'JSXFragment') return children;
  const props: StaticObject = new Map();
  for (const attribute of node.openingElement.attributes) {
    lenient(frame, undefined, () => {
      if (attribute.type === 'JSXSpreadAttribute') {
        for (const [key, value] of spreadObject(evaluateExpression(attribute.argument, frame), budget))
          props.set(key, value);
      } else props.set(tagName(attribute.name), attributeValue(attribute.value, frame));
    });
  }
  const given = children.length === 0 && props.has('children') ? nodesOf(props.get('children'), budget) : children;
  props.delete('children');
  return evaluateElement({ name: tagName(node.openingElement.name), props, children: given, place: node }, frame);
}

/** Runs an evaluation. During a first look, its result is replaced by `instead` if it has no static value. */
function lenient<Result>(frame: Frame, instead: Result, run: () => Result): Result {
  if (!frame.evaluation.isFirstLook) return run();
  try {
    return run();
  } catch (error) {
    if (!(error instanceof NotStatic)) throw error;
    return instead;
  }
}

function childNodes(child: JSXElement['children'][number], frame: Frame): Nodes[] {
  if (child.type === 'JSXText') {
    const value = jsxText(child.value);
    frame.evaluation.budget.text(value.length);
    return value === '' ? [] : [{ type: 'text', value }];
  }
  if (child.type === 'JSXExpressionContainer') {
    return child.expression.type === 'JSXEmptyExpression'
      ? []
      : nodesOf(evaluateExpression(child.expression, frame), frame.evaluation.budget);
  }
  if (child.type === 'JSXSpreadChild') throw new NotStatic('spreads children');
  return frame.evaluation.budget.deeper(() => evaluateJsx(child, frame));
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

/** JSX text by React's rules: lines are trimmed and joined by spaces, empty ones are dropped. */
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

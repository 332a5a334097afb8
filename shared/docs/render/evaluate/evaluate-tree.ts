import type { Node, Program } from 'estree';
import type { Blockquote, Heading, Nodes, Paragraph, Parents, Root } from 'mdast';
import type { MdxFlowExpression, MdxJsxFlowElement, MdxJsxTextElement, MdxTextExpression } from 'mdast-util-mdx';
import { plainText } from '#shared/docs/render/components/component.ts';
import { nodesOf, spreadObject } from './content-of-value.ts';
import { evaluateElement, isBound } from './evaluate-element.ts';
import type { Unread } from './evaluate-island.ts';
import { evaluateExpression } from './evaluate-expression.ts';
import { namesIn } from './names-in.ts';
import { type Evaluation, type Frame, type KnownComponents, NotStatic, PageFailed, report } from './evaluation.ts';
import { type Module, Scope, type StaticObject } from './static-tree.ts';

const maxTreeDepth = 200;

/** The static tree of a page. */
export function evaluateModule(module: Module, evaluation: Evaluation): Root {
  const frame: Frame = { evaluation, module, scope: module.scope };
  return { type: 'root', children: evaluateChildren(module.tree.children, frame, undefined, 0) as Root['children'] };
}

/** The body of a snippet. It sees the given props by name and as `props`; its own definitions hide props of the same name. */
export function evaluateSnippet(module: Module, props: StaticObject, evaluation: Evaluation): Nodes[] {
  const given = new Scope(module.scope);
  given.set('props', props);
  for (const [name, value] of props) if (!module.scope.has(name)) given.set(name, value);
  const inCode = new Map<string, string>();
  for (const name of [...module.exports, ...props.keys()]) {
    const value = given.get(name);
    if (typeof value === 'string' || typeof value === 'number') inCode.set(name, String(value));
  }
  return evaluateChildren(module.tree.children, { evaluation, module, scope: given }, inCode, 0);
}

type InCode = ReadonlyMap<string, string> | undefined;

function evaluateChildren(nodes: readonly Nodes[], frame: Frame, inCode: InCode, depth: number): Nodes[] {
  if (depth > maxTreeDepth)
    throw new PageFailed('nesting-too-deep', `it is nested more than ${maxTreeDepth} levels deep`);
  const made: Nodes[] = [];
  for (const node of nodes) {
    const result = evaluateNode(node, frame, inCode, depth);
    if (Array.isArray(result)) for (const one of result) made.push(one);
    else made.push(result);
  }
  return made;
}

function evaluateNode(node: Nodes, frame: Frame, inCode: InCode, depth: number): Nodes | Nodes[] {
  frame.evaluation.budget.node();
  switch (node.type) {
    case 'mdxjsEsm':
      return [];
    case 'mdxFlowExpression':
    case 'mdxTextExpression': {
      const made = shownExpression(node, frame);
      return node.type === 'mdxFlowExpression' && depth === 0 && isText(made) ? paragraphOf(made) : made;
    }
    case 'mdxJsxFlowElement':
    case 'mdxJsxTextElement': {
      const children = evaluateChildren(node.children, frame, inCode, depth + 1);
      if (node.name === null) return [{ type: 'staticFragment', children }];
      const { props, unread } = propsOf(node, frame);
      const given =
        children.length === 0 && props.has('children')
          ? attempt(frame, node, 'The content', () => nodesOf(props.get('children'), frame.evaluation.budget))
          : children;
      props.delete('children');
      return evaluateElement({ name: node.name, props, children: given, unread, place: node }, frame);
    }
    case 'paragraph':
      return isOnlyJsx(node, frame.evaluation.components)
        ? unwrapped(evaluateChildren(node.children, frame, inCode, depth + 1))
        : withChildren(node, evaluateChildren(node.children, frame, inCode, depth + 1));
    case 'blockquote':
      return withCallout(node, evaluateChildren(node.children, frame, inCode, depth + 1));
    case 'heading':
      return evaluateHeading(node, frame, inCode, depth);
    case 'code':
      return inCode && inCode.size > 0 ? { ...node, value: substituted(node.value, inCode) } : node;
    case 'html':
      return htmlAsText(node.value);
    default:
      if ('children' in node) return withChildren(node, evaluateChildren(node.children, frame, inCode, depth + 1));
      return node;
  }
}

/** Output of an expression. If it uses undefined names it is not code: `${HOST}` and `/users/{id}` are shown as written. */
function shownExpression(node: MdxFlowExpression | MdxTextExpression, frame: Frame): Nodes[] {
  const expression = expressionOf(node.data?.estree);
  if (expression === undefined) return [];
  return attempt(frame, node, 'The expression', () => {
    try {
      return nodesOf(evaluateExpression(expression, frame), frame.evaluation.budget);
    } catch (error) {
      if (!(error instanceof NotStatic) || isGivenProps(frame) || !isWrittenText(expression, frame)) throw error;
      const message = `The expression is shown as it was written: it ${error.message}. Write \`\\{\` where no expression is meant.`;
      report(frame, error.code, message, node);
      return [{ type: 'text', value: `{${node.value}}` }];
    }
  });
}

/** True in a snippet that gets props. A name without a value there is a prop that this use omits. */
function isGivenProps({ scope }: Frame): boolean {
  const props = scope.get('props');
  return props instanceof Map && props.size > 0;
}

/** True for texts in braces that are not code: a list such as `{1,3}`, or undefined names. */
const isWrittenText = (expression: Node, { scope }: Frame): boolean =>
  isPlainText(expression) &&
  (expression.type === 'SequenceExpression' ||
    [...namesIn(expression).used].some((name) => name !== 'undefined' && !scope.has(name)));

/** True for names, and operators between them. Calls, functions and elements are always code. */
function isPlainText(expression: Node, depth = 0): boolean {
  if (depth > 20) return false;
  const inner = (...parts: Node[]): boolean => parts.every((part) => isPlainText(part, depth + 1));
  switch (expression.type) {
    case 'Identifier':
    case 'Literal':
    case 'PrivateIdentifier':
      return true;
    case 'MemberExpression':
      return inner(expression.object, expression.property);
    case 'BinaryExpression':
    case 'LogicalExpression':
    case 'AssignmentExpression':
      return inner(expression.left, expression.right);
    case 'UnaryExpression':
    case 'UpdateExpression':
      return inner(expression.argument);
    case 'SequenceExpression':
      return inner(...expression.expressions);
    default:
      return false;
  }
}

/** The callout for each kind of GitHub's alerts. */
const alertKinds: ReadonlyMap<string, string> = new Map([
  ['NOTE', 'Note'],
  ['TIP', 'Tip'],
  ['IMPORTANT', 'Info'],
  ['WARNING', 'Warning'],
  ['CAUTION', 'Danger'],
]);

/** Converts a quote whose first line is only `[!NOTE]`, an alert of GitHub, to a callout. */
function withCallout(node: Blockquote, children: Nodes[]): Nodes {
  const [first, ...rest] = children;
  const [text, ...inline] = first?.type === 'paragraph' ? first.children : [];
  const [mark, kind = ''] = (text?.type === 'text' && /^\[!([A-Z]{3,9})\][ \t]*(?:\n|$)/i.exec(text.value)) || [];
  const name = alertKinds.get(kind.toUpperCase());
  const isAlone = mark?.endsWith('\n') === true || inline.length === 0 || inline[0]?.type === 'break';
  if (first?.type !== 'paragraph' || text?.type !== 'text' || mark === undefined || name === undefined || !isAlone)
    return withChildren(node, children);
  const left = text.value.slice(mark.length);
  const shown = [
    ...(left === '' ? [] : [{ ...text, value: left }]),
    ...(inline[0]?.type === 'break' ? inline.slice(1) : inline),
  ];
  const blocks = shown.length > 0 ? [{ ...first, children: shown }, ...rest] : rest;
  return { type: 'staticElement', name, props: new Map(), children: blocks, position: node.position };
}

/**
 * Evaluates a heading. Components of the project in it, such as a badge, are shown but are not part of its name: its anchor is made from the rest.
 */
function evaluateHeading(node: Heading, frame: Frame, inCode: InCode, depth: number): Nodes | Nodes[] {
  let name = '';
  let hasComponent = false;
  const children = node.children.flatMap((child) => {
    const made = evaluateChildren([child], frame, inCode, depth + 1);
    const isOwn =
      child.type === 'mdxJsxTextElement' && /^[A-Z]/.test(child.name ?? '') && isBound(child.name ?? '', frame);
    hasComponent ||= isOwn;
    name += isOwn ? '' : plainText(made);
    return made;
  });
  const heading = withChildren(node, children);
  if (!hasComponent || name.trim() === '') return heading;
  return { ...node, children: children as Heading['children'], data: { ...node.data, name: name.trim() } };
}

/** Returns the same node if its children did not change, so that its source can be used for its Markdown. */
function withChildren(node: Parents, children: Nodes[]): Nodes {
  const isSame = children.length === node.children.length && children.every((child, at) => child === node.children[at]);
  return isSame ? node : ({ ...node, children } as Nodes);
}

const isText = (nodes: readonly Nodes[]): boolean => nodes.length > 0 && nodes.every((node) => node.type === 'text');
const paragraphOf = (nodes: readonly Nodes[]): Paragraph => ({
  type: 'paragraph',
  children: [...nodes] as Paragraph['children'],
});

function unwrapped(nodes: Nodes[]): Nodes | Nodes[] {
  if (isText(nodes))
    return nodes.every((node) => node.type === 'text' && node.value.trim() === '') ? [] : paragraphOf(nodes);
  return nodes.filter((node) => node.type !== 'text' || node.value.trim() !== '');
}

/** True for a line that has only tags and expressions, such as `<Note>…</Note>`. It is not a paragraph. */
function isOnlyJsx(node: Paragraph, components: KnownComponents): boolean {
  let hasElement = false;
  for (const child of node.children) {
    if (child.type === 'mdxJsxTextElement' || child.type === 'mdxTextExpression') {
      if (child.type === 'mdxTextExpression' || !isInline(child.name, components)) hasElement = true;
      else return false;
    } else if (child.type !== 'text' || child.value.trim() !== '') return false;
  }
  return hasElement;
}

const inlineTags = new Set('a abbr b br code em i img kbd mark s small span strong sub sup u'.split(' '));
const isInline = (name: string | null, components: KnownComponents): boolean =>
  name !== null && (inlineTags.has(name) || components.get(name)?.isInline === true);

type Props = { props: StaticObject; unread: Unread[] };

function propsOf(node: MdxJsxFlowElement | MdxJsxTextElement, frame: Frame): Props {
  const props: StaticObject = new Map();
  const unread: Unread[] = [];
  for (const attribute of node.attributes) {
    if (attribute.type === 'mdxJsxExpressionAttribute') {
      attempt(frame, node, `An attribute of <${node.name}>`, () => {
        const expression = expressionOf(attribute.data?.estree);
        if (expression?.type !== 'ObjectExpression') return [];
        const members = spreadObject(evaluateExpression(expression, frame), frame.evaluation.budget);
        for (const [key, value] of members) props.set(key, value);
        return [];
      });
    } else if (attribute.value === null || attribute.value === undefined) props.set(attribute.name, true);
    else if (typeof attribute.value === 'string') props.set(attribute.name, attribute.value);
    else {
      const { name } = attribute;
      const { data, value: code } = attribute.value;
      const expression = expressionOf(data?.estree);
      if (/^on[A-Z]/.test(name)) {
        unread.push({ name, code, tree: expression, why: 'is a handler' });
        continue;
      }
      try {
        props.set(name, expression === undefined ? undefined : evaluateExpression(expression, frame));
      } catch (error) {
        if (!(error instanceof NotStatic)) throw error;
        unread.push({ name, code, tree: expression, why: error.message, failure: error.code });
      }
    }
  }
  return { props, unread };
}

/** Evaluates a node. If it has no static value, it is left out and reported. */
function attempt(frame: Frame, node: Nodes, what: string, run: () => Nodes[]): Nodes[] {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof NotStatic)) throw error;
    report(frame, error.code, `${what} is left out: it ${error.message}.`, node);
    return [];
  }
}

function expressionOf(program: Program | null | undefined) {
  const statement = program?.body[0];
  return statement?.type === 'ExpressionStatement' ? statement.expression : undefined;
}

/** Replaces only names of props and exports: in code, most braces belong to the code. */
function substituted(code: string, values: ReadonlyMap<string, string>): string {
  return code.replace(/\{(?:props\.)?([A-Za-z_$][\w$]*)\}/g, (written, name: string) => values.get(name) ?? written);
}

/** Matches `<a name="x">` and `<a id="x">`, which are targets of links in Markdown pages. */
const namedLink = /<a\s(?:[^<>]{0,500}\s)?(?:name|id)\s*=\s*["']?([^"'\s<>]{1,200})/gi;

/** Raw HTML is never parsed. Only line breaks, names of link targets and text are kept. */
function htmlAsText(html: string): Nodes[] {
  if (/^<br\s*\/?>$/i.test(html)) return [{ type: 'break' }];
  const names = Array.from(html.matchAll(namedLink), ([, name = '']): Nodes => {
    return { type: 'staticElement', name: 'a', props: new Map([['name', name]]), children: [] };
  });
  return [...names, ...textOfHtml(html)];
}

function textOfHtml(html: string): Nodes[] {
  const text = html
    .replace(/<(script|style)\b[\s\S]*?(<\/\1\s*>|$)/gi, '')
    .replace(/<!--[\s\S]*?(-->|$)/g, '')
    .replace(/<\/?[a-zA-Z][^<>]*>?/g, '');
  if (text.trim() === '') return [];
  return /\n/.test(html.trim())
    ? [{ type: 'paragraph', children: [{ type: 'text', value: text.trim() }] }]
    : [{ type: 'text', value: text }];
}

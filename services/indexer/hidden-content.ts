import type { Properties } from 'hast';
import type { Nodes, Root } from 'mdast';
import { styleOf } from '#shared/docs/render/content/to-content.ts';
import { type StaticElement, StaticNodes, type StaticProps } from '#shared/docs/render/evaluate/static-tree.ts';

/** Classes that hide in every mode; `hidden dark:block` is visible in dark mode. */
const hidingClasses = new Set(['hidden', 'invisible', 'sr-only', 'opacity-0', 'text-transparent']);

/** True for elements that their author hides from readers: search and assistant ignore text that the page does not show. */
export function isHidden(properties: Properties): boolean {
  if (properties.hidden === true || properties.hidden === '') return true;
  const classes = Array.isArray(properties.className) ? properties.className.map(String) : [];
  const isShownSometimes = classes.some((name) => /:(block|flex|grid|inline|visible|not-sr-only)/.test(name));
  if (!isShownSometimes && classes.some((name) => hidingClasses.has(name))) return true;
  return /display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?![.\d])|font-size\s*:\s*0(?![.\d])/i.test(
    properties.style ?? '',
  );
}

/** A page without its hidden elements. A tree without any stays the same object. */
export const withoutHidden = (tree: Root): Root =>
  withElements(tree, (element) => (isHiddenElement(element.props) ? undefined : element));

/**
 * A page as people read it: with parts for humans alone, without parts for agents alone and prompts for a model. A page without such parts stays the
 * same object.
 */
export const asPeopleRead = (tree: Root): Root =>
  withElements(tree, (element) => {
    const reader = element.name === 'Visibility' ? element.props.get('for') : undefined;
    if (reader === 'agents' || element.name === 'Prompt') return undefined;
    if (reader !== 'humans') return element;
    return { ...element, props: new Map([...element.props].filter(([name]) => name !== 'for')) };
  });

/** Returns the changed element, or undefined to remove it. */
type Change = (element: StaticElement) => StaticElement | undefined;

function withElements(tree: Root, change: Change): Root {
  const children = changedNodes(tree.children, change);
  return children === tree.children ? tree : { ...tree, children };
}

function changedNodes<N extends Nodes>(nodes: N[], change: Change): N[] {
  let changed: N[] | undefined;
  for (const [at, node] of nodes.entries()) {
    const one = changedNode(node, change);
    if (one !== node) changed ??= nodes.slice(0, at);
    if (one !== undefined) changed?.push(one);
  }
  return changed ?? nodes;
}

function changedNode<N extends Nodes>(node: N, change: Change): N | undefined {
  if (node.type === 'staticElement') {
    const element = change(node);
    if (element === undefined) return undefined;
    const props = changedProps(element.props, change);
    const children = changedNodes(element.children, change);
    if (element === node && props === element.props && children === element.children) return node;
    return { ...element, props, children } as N;
  }
  if (!('children' in node)) return node;
  const children = changedNodes<Nodes>(node.children, change);
  return children === node.children ? node : { ...node, children };
}

function isHiddenElement(props: StaticProps): boolean {
  const classes = props.get('className') ?? props.get('class');
  return isHidden({
    hidden: props.get('hidden') === true || props.get('hidden') === '',
    className: typeof classes === 'string' ? classes.split(/\s+/) : [],
    style: styleOf(props.get('style')),
  });
}

/** Content may also be passed as a prop. */
function changedProps(props: StaticProps, change: Change): StaticProps {
  let changed: Map<string, ReturnType<StaticProps['get']>> | undefined;
  for (const [name, value] of props) {
    if (!(value instanceof StaticNodes)) continue;
    const nodes = changedNodes(value.nodes, change);
    if (nodes !== value.nodes) (changed ??= new Map(props)).set(name, new StaticNodes(nodes));
  }
  return changed ?? props;
}

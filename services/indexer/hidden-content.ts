import type { Properties } from 'hast';
import type { Nodes, Root } from 'mdast';
import { styleOf } from '#shared/docs/render/content/to-content.ts';
import { StaticNodes, type StaticProps } from '#shared/docs/render/evaluate/static-tree.ts';

/** Classes that hide in every mode; `hidden dark:block` is visible in dark mode. */
const hidingClasses = new Set(['hidden', 'invisible', 'sr-only', 'opacity-0', 'text-transparent']);

/** What the author hides from readers: the search does not find, and the assistant does not tell, what the page does not show. */
export function isHidden(properties: Properties): boolean {
  if (properties.hidden === true || properties.hidden === '') return true;
  const classes = Array.isArray(properties.className) ? properties.className.map(String) : [];
  const isShownSometimes = classes.some((name) => /:(block|flex|grid|inline|visible|not-sr-only)/.test(name));
  if (!isShownSometimes && classes.some((name) => hidingClasses.has(name))) return true;
  return /display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?![.\d])|font-size\s*:\s*0(?![.\d])/i.test(
    properties.style ?? '',
  );
}

/** A page without what it hides. What has nothing hidden in it stays the same object. */
export function withoutHidden(tree: Root): Root {
  const children = shownOf(tree.children);
  return children === tree.children ? tree : { ...tree, children };
}

function shownOf<N extends Nodes>(nodes: N[]): N[] {
  const shown = nodes.flatMap((node) => shownNode(node) ?? []);
  return shown.length === nodes.length && shown.every((node, at) => node === nodes[at]) ? nodes : shown;
}

function shownNode<N extends Nodes>(node: N): N | undefined {
  if (node.type === 'staticElement') {
    if (isHiddenElement(node.props)) return undefined;
    const props = shownProps(node.props);
    const children = shownOf(node.children);
    return props === node.props && children === node.children ? node : { ...node, props, children };
  }
  if (!('children' in node)) return node;
  const children = shownOf<Nodes>(node.children);
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

/** Content may be given as a prop, too. */
function shownProps(props: StaticProps): StaticProps {
  let shown: Map<string, ReturnType<StaticProps['get']>> | undefined;
  for (const [name, value] of props) {
    if (!(value instanceof StaticNodes)) continue;
    const nodes = shownOf(value.nodes);
    if (nodes !== value.nodes) (shown ??= new Map(props)).set(name, new StaticNodes(nodes));
  }
  return shown ?? props;
}

import type { Link, Nodes, PhrasingContent, Root } from 'mdast';

/** A top-level domain has only letters, or is one of another script in its ASCII form. */
const topLevel = /\.(?:[a-z]{2,63}|xn--[a-z\d-]+)$/i;

/**
 * Makes text of names with versions, such as `vue@3.x` and `kit@2.0-beta`, which GFM takes for mail addresses. Links that their author wrote as links
 * stay. Changes the tree.
 */
export function withoutVersionLinks(tree: Root): Root {
  const pending: Nodes[] = [tree];
  for (let node = pending.pop(); node; node = pending.pop()) {
    if (!('children' in node)) continue;
    const children = node.children as PhrasingContent[];
    if (children.some(isVersionLink)) node.children = joined(children) as never;
    pending.push(...node.children);
  }
  return tree;
}

function isVersionLink(node: PhrasingContent): node is Link {
  if (node.type !== 'link' || !node.url.startsWith('mailto:')) return false;
  const [only] = node.children;
  if (only?.type !== 'text' || `mailto:${only.value}` !== node.url || topLevel.test(only.value)) return false;
  // An address between angle brackets, or with a text in brackets, is longer in the source.
  const { start, end } = node.position ?? {};
  return start?.offset !== undefined && end?.offset !== undefined && end.offset - start.offset === only.value.length;
}

/** The nodes with the text of such links joined to the text around it. */
function joined(nodes: readonly PhrasingContent[]): PhrasingContent[] {
  const made: PhrasingContent[] = [];
  for (const node of nodes) {
    const next = isVersionLink(node) ? node.children[0] : node;
    const last = made.at(-1);
    if (next?.type !== 'text' || last?.type !== 'text') {
      if (next !== undefined) made.push(next);
      continue;
    }
    const position =
      last.position && next.position ? { position: { start: last.position.start, end: next.position.end } } : {};
    made[made.length - 1] = { ...last, ...position, value: last.value + next.value };
  }
  return made;
}

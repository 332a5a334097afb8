import type { Nodes } from 'hast';

/** Text of a tree as a reader sees it, blocks apart. */
export function toText(nodes: Nodes | readonly Nodes[]): string {
  if (Array.isArray(nodes)) return (nodes as readonly Nodes[]).map(toText).join('');
  const node = nodes as Nodes;
  if (node.type === 'text') return node.value;
  if (node.type === 'element' && node.tagName === 'br') return '\n';
  return 'children' in node ? node.children.map(toText).join('') : '';
}

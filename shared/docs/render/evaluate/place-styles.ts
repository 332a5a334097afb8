import type { Nodes, Root } from 'mdast';
import type { MdxJsxFlowElement } from 'mdast-util-mdx';
import type { StyleSource } from '#shared/docs/project/prepare-source.ts';

/** Elements that look the same with a `<style>` among their children. */
const holders = new Set('div section article main header footer aside nav center'.split(' '));

/**
 * The tree with the style sheets that were cut from its source, each as an element at its old place, in order with the sheets that components and
 * expressions make. A sheet inside any other element goes before that element. `styles` are sorted by line.
 */
export function withStyles(tree: Root, styles: readonly StyleSource[] = []): Root {
  return styles.length === 0 ? tree : { ...tree, children: placed(tree.children, styles) as Root['children'] };
}

function placed(children: readonly Nodes[], styles: readonly StyleSource[]): Nodes[] {
  const made: Nodes[] = [];
  let next = 0;
  const upTo = (line: number): StyleSource[] => {
    const from = next;
    while (next < styles.length && (styles[next]?.line ?? 0) <= line) next += 1;
    return styles.slice(from, next);
  };
  for (const child of children) {
    if (child.position === undefined || next === styles.length) {
      made.push(child);
      continue;
    }
    for (const style of upTo(child.position.start.line - 1)) made.push(styleElement(style));
    const inside = upTo(child.position.end.line);
    const isHolder = child.type === 'mdxJsxFlowElement' && holders.has(child.name ?? '');
    if (isHolder && inside.length > 0) {
      made.push({ ...child, children: placed(child.children, inside) } as MdxJsxFlowElement);
    } else {
      for (const style of inside) made.push(styleElement(style));
      made.push(child);
    }
  }
  for (const style of styles.slice(next)) made.push(styleElement(style));
  return made;
}

function styleElement({ text, line }: StyleSource): Nodes {
  const place = { line, column: 1 };
  const children = [{ type: 'text', value: text }] as unknown as MdxJsxFlowElement['children'];
  return { type: 'mdxJsxFlowElement', name: 'style', attributes: [], children, position: { start: place, end: place } };
}

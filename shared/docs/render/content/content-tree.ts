import type { Nodes } from 'hast';
import type { SafeHtml } from '../html.ts';

/** Coloured code or a formula: HTML already. Nothing that an author writes becomes such a node. */
export type Typeset = {
  type: 'typeset';
  of: 'code' | 'formula';
  /** Made when it is written, because not all of it is. */
  html: () => SafeHtml;
  /** The code or formula as a reader of plain text gets it. */
  text: string;
};

declare module 'hast' {
  interface RootContentMap {
    typeset: Typeset;
  }
  interface ElementContentMap {
    typeset: Typeset;
  }
}

/** Text of a tree as a reader sees it, without blocks of code. */
export function toText(nodes: readonly Nodes[]): string {
  let text = '';
  for (const node of nodes) {
    if (node.type === 'text') text += node.value;
    else if (node.type === 'typeset') text += node.of === 'formula' ? node.text : '';
    else if ('children' in node)
      text += node.type === 'element' && node.tagName === 'br' ? '\n' : toText(node.children);
  }
  return text;
}

import type { Root } from 'mdast';

export const MAX_LINE_CHARACTERS = 100_000;

const placeholder = (line: number): string => `\ue000${line}\ue001`;
const placeholders = /\ue000(\d{1,7})\ue001/g;

export type SetAsideLines = Map<number, string>;

/**
 * Lines over 100,000 characters are never prose that somebody wrote, and parsers may take minutes for one: outside of code they are set aside
 * before the parse, and come back as plain text with `bringBackLines`. Changes `lines`; the result is by line number, from 1.
 */
export function setAsideLongLines(lines: string[], fenced: readonly boolean[]): SetAsideLines {
  const setAside: SetAsideLines = new Map();
  for (const [index, line] of lines.entries()) {
    if (fenced[index] || line.length <= MAX_LINE_CHARACTERS) continue;
    setAside.set(index + 1, line);
    lines[index] = placeholder(index + 1);
  }
  return setAside;
}

export function bringBackLines(tree: Root, setAside: SetAsideLines): Root {
  if (setAside.size === 0) return tree;
  const stack: unknown[] = [tree];
  while (stack.length > 0) {
    const node = stack.pop() as { type: string; value?: string; children?: unknown[] };
    if (node.type === 'text' && node.value !== undefined) {
      node.value = node.value.replaceAll(placeholders, (written, line) => setAside.get(Number(line)) ?? written);
    }
    if (node.children) for (const child of node.children) stack.push(child);
  }
  return tree;
}

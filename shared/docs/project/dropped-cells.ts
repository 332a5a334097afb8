import type { Finding } from '#shared/docs/findings/finding-texts.ts';
import type { Nodes, Root, TableRow } from 'mdast';

const mostWarnings = 20;

/** Warns of rows with more cells than the head of their table, which GFM drops. The usual cause is a `|` in code, which also separates cells. */
export function droppedCells(tree: Root, file: string): Finding[] {
  const found: Finding[] = [];
  const pending: Nodes[] = [tree];
  for (let node = pending.pop(); node && found.length < mostWarnings; node = pending.pop()) {
    if (node.type === 'table') found.push(...droppedIn(node.children, file));
    else if ('children' in node) for (const child of node.children) pending.push(child);
  }
  return found.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)).slice(0, mostWarnings);
}

function droppedIn([head, ...rows]: readonly TableRow[], file: string): Finding[] {
  const columns = head?.children.length ?? 0;
  return rows.flatMap((row, index) => {
    const dropped = row.children.length - columns;
    const start = row.children[columns]?.position?.start ?? row.position?.start;
    if (dropped <= 0) return [];
    const message = `Row ${index + 1} of the table has ${row.children.length} cells, its head ${columns}, so the last ${dropped === 1 ? 'one is' : `${dropped} are`} left out. Write \\| for a bar inside a cell, also in code.`;
    const place = start === undefined ? {} : { line: start.line, column: start.column };
    return [{ severity: 'warning', code: 'table-cells-dropped', message, file, ...place } as const];
  });
}

import type { Nodes, Root } from 'mdast';
import type { Finding, FindingCode } from '#shared/docs/findings/finding-texts.ts';

/** A place in a source. `file` is the path of a snippet; absent in the page's own file. */
export type Start = { line: number; column: number; file?: string };

/** A node of a Markdown, HTML or expression tree. */
export type Place =
  | { position?: { start: Start; file?: string } | undefined }
  | { loc?: { start: Start } | null | undefined };

/** Records a finding for the author. `message` is a sentence, `place` its location in the page. The default severity is `warning`. */
export type Report = (code: FindingCode, message: string, place?: Place, severity?: Finding['severity']) => void;

/** Adds findings about `file` to `found`, at most `most` of them. */
export function reportInto(found: Finding[], file: string, most: number): Report {
  return (code, message, place, severity = 'warning') => {
    if (found.length >= most) return;
    found.push({ severity, code, message: message.slice(0, 500), file, ...startOf(place) });
  };
}

/** Line and column, counted from 1, and the file if it is a snippet. Nodes that evaluation made have none. Expressions count columns from 0, and these are converted. */
export function startOf(place: Place | undefined): Partial<Start> {
  const position = place && 'position' in place ? place.position : undefined;
  const start = place && ('loc' in place ? place.loc?.start : position?.start);
  if (!start || start.line < 1) return {};
  return {
    line: start.line,
    ...(start.column >= 1 && { column: start.column }),
    ...(position?.file !== undefined && { file: position.file }),
  };
}

/** Marks the places of a snippet's tree with its file, because the tree becomes a part of the trees of pages. */
export function markFile(tree: Root, file: string): void {
  const pending: Nodes[] = [tree];
  for (let node = pending.pop(); node; node = pending.pop()) {
    if (node.position) Object.assign(node.position, { file });
    if ('children' in node) pending.push(...node.children);
  }
}

import type { Diagnostic } from '#shared/contracts/diagnostic.ts';

export type Start = { line: number; column: number };

/** A node of a Markdown, HTML or expression tree. */
export type Place = { position?: { start: Start } | undefined } | { loc?: { start: Start } | null | undefined };

/** Records a finding for the author. `message` is a sentence, `place` its location in the page. */
export type Report = (code: string, message: string, place?: Place) => void;

/** Adds findings about `file` to `found`, at most `most` of them. */
export function reportInto(found: Diagnostic[], file: string, most: number): Report {
  return (code, message, place) => {
    if (found.length >= most) return;
    found.push({ severity: 'warning', code, message: message.slice(0, 500), ...startOf(place), file });
  };
}

/** Line and column, counted from 1. Nodes that evaluation made have none. Expressions count columns from 0, and these are converted. */
export function startOf(place: Place | undefined): Partial<Start> {
  const start = place && ('loc' in place ? place.loc?.start : 'position' in place ? place.position?.start : undefined);
  if (!start || start.line < 1) return {};
  return start.column < 1 ? { line: start.line } : { line: start.line, column: start.column };
}

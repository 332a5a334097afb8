import type { Span } from './timeline.ts';

/** The time that at least one of the spans covers, in order, without overlaps. Pure. */
export function union(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const { startMs, endMs } of spans.toSorted((a, b) => a.startMs - b.startMs)) {
    const last = merged.at(-1);
    if (last !== undefined && startMs <= last.endMs) last.endMs = Math.max(last.endMs, endMs);
    else merged.push({ startMs, endMs });
  }
  return merged;
}

/** What is left of `whole` where no span of `covered` is. Pure. */
export function gaps(whole: readonly Span[], covered: readonly Span[]): Span[] {
  return union(whole).flatMap(({ startMs, endMs }) => {
    const left: Span[] = [];
    let from = startMs;
    for (const span of union(covered)) {
      if (span.endMs <= from || span.startMs >= endMs) continue;
      if (span.startMs > from) left.push({ startMs: from, endMs: span.startMs });
      from = Math.max(from, span.endMs);
    }
    return from < endMs ? [...left, { startMs: from, endMs }] : left;
  });
}

/** How long the spans are together; they must not overlap. Pure. */
export const lengthMs = (spans: readonly Span[]): number =>
  spans.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);

import type { Bar } from './timeline.ts';

/** Finished work, and the earliest moment at which it can have ended. */
export type LooseBar = Bar & { earliestEndMs: number };

/**
 * Places one worker's work in as few rows as it can have had slots. A slot works on one thing after the other, while several things that
 * ended shortly after each other are committed together: so work may move back in time as far as `earliestEndMs` if that makes room for
 * it in a row. `bars` are in order of their commits. Pure.
 */
export function rowsOf(bars: readonly LooseBar[]): Bar[][] {
  // It ends: with as many rows as there are bars, each has one to itself.
  for (let count = Math.min(1, bars.length); ; count += 1) {
    const rows = placedIn(count, bars);
    if (rows !== undefined) return rows;
  }
}

/** Undefined when some work fits nowhere. */
function placedIn(count: number, bars: readonly LooseBar[]): Bar[][] | undefined {
  const rows: Bar[][] = Array.from({ length: count }, () => []);
  // From the last to the first: what comes later in a row says until when there is room.
  for (const { earliestEndMs, ...bar } of bars.toReversed()) {
    const places = rows.map((row) => ({ row, endMs: Math.min(bar.endMs, row[0]?.startMs ?? bar.endMs) }));
    const best = places.toSorted((a, b) => b.endMs - a.endMs)[0];
    if (best === undefined || best.endMs < earliestEndMs) return undefined;
    best.row.unshift({ ...bar, startMs: best.endMs - (bar.endMs - bar.startMs), endMs: best.endMs });
  }
  return rows.toSorted((a, b) => (a[0]?.startMs ?? 0) - (b[0]?.startMs ?? 0));
}

import type { Paint, PaintStyle } from '../terminal.ts';
import type { Bar, Lane, Phase, Trouble } from '#shared/timeline/timeline.ts';

/** One character of a row: a stretch of the job's time. */
export type Cell = { glyph: string; style?: PaintStyle };

/** The scale from milliseconds to columns. */
export type Scale = { columns: number; cellMs: number };

const eighths = '▁▂▃▄▅▆▇█';
const empty: Cell = { glyph: ' ' };
export const waitCell: Cell = { glyph: '·', style: 'gray' };

export const phaseCells: Record<Phase['name'], Cell> = {
  queued: { glyph: '─', style: 'gray' },
  rendering: { glyph: '█', style: 'green' },
  closing: { glyph: '▓', style: 'magenta' },
  joining: { glyph: '▒', style: 'blue' },
};

export const troubleCells: Record<Trouble['kind'], Cell> = {
  'attempt-failed': { glyph: '✕', style: 'red' },
  'closing-failed': { glyph: '✕', style: 'red' },
  'bundle-failed': { glyph: '✕', style: 'red' },
  'pages-failed': { glyph: '✕', style: 'red' },
  'timed-out': { glyph: '⊘', style: 'yellow' },
  'segment-lost': { glyph: '↺', style: 'yellow' },
};

export function scaleOf(durationMs: number, columns: number): Scale {
  return { columns, cellMs: Math.max(1, durationMs) / columns };
}

export const columnAt = ({ columns, cellMs }: Scale, ms: number): number =>
  Math.min(columns - 1, Math.max(0, Math.floor(ms / cellMs)));

/** The job's phases as one strip. Pure. */
export function phaseStrip(phases: readonly Phase[], scale: Scale): Cell[] {
  const cells = blank(scale);
  for (const { name, startMs, endMs } of phases) fill(cells, scale, startMs, endMs, phaseCells[name]);
  return cells;
}

/**
 * A worker's rows. If chunks are wide enough to be told apart, each chunk is a bar and each slot a row. Otherwise there is one row, and its height
 * shows the number of busy slots. Pure.
 */
export function laneStrips(lane: Lane, troubles: readonly Trouble[], scale: Scale): Cell[][] {
  const bars = lane.rows.flat();
  const widths = bars.filter(({ reused }) => !reused).map(({ startMs, endMs }) => (endMs - startMs) / scale.cellMs);
  const median = widths.toSorted((a, b) => a - b)[Math.floor(widths.length / 2)] ?? 0;
  const strips = median >= 1.5 ? lane.rows.map((row) => barStrip(row, scale)) : [densityStrip(lane, scale)];
  for (const { startMs, endMs } of lane.waits) {
    for (const strip of strips) fill(strip, scale, startMs, endMs, waitCell, (cell) => cell === empty);
  }
  for (const trouble of troubles.filter(({ worker }) => worker === lane.worker)) {
    const column = columnAt(scale, trouble.atMs);
    const free = strips.find((strip) => strip[column] === empty || strip[column] === waitCell) ?? strips[0];
    if (free !== undefined) free[column] = troubleCells[trouble.kind];
  }
  return strips;
}

/** All troubles on one row. If several fall into one cell, the last one is shown. Pure. */
export function troubleStrip(troubles: readonly Trouble[], scale: Scale): Cell[] {
  const cells = blank(scale);
  for (const { kind, atMs } of troubles) cells[columnAt(scale, atMs)] = troubleCells[kind];
  return cells;
}

/** Cells as text, each run of one style painted once. Pure. */
export function paintCells(cells: readonly Cell[], paint: Paint): string {
  let text = '';
  let run = '';
  let style: PaintStyle | undefined;
  const flush = () => {
    text += style === undefined ? run : paint(style, run);
    run = '';
  };
  for (const cell of cells) {
    if (cell.style !== style) flush();
    style = cell.style;
    run += cell.glyph;
  }
  flush();
  return text;
}

/** Shape and colour of finished work. Closing segment and bundle look like their phases. */
export function barCell({ work, reused, attempt }: Pick<Bar, 'work' | 'reused' | 'attempt'>): Cell {
  if (work === 'bundle') return phaseCells.joining;
  if (reused) return { glyph: '░', style: 'cyan' };
  if (work === 'closing') return phaseCells.closing;
  return attempt > 1 ? { glyph: '▚', style: 'yellow' } : phaseCells.rendering;
}

function barStrip(row: readonly Bar[], scale: Scale): Cell[] {
  const cells = blank(scale);
  for (const bar of row) {
    const cell = barCell(bar);
    fill(cells, scale, bar.startMs, bar.endMs, cell);
    // A thin gap at the end separates adjacent bars.
    if (cell.glyph === '█') cells[lastColumn(scale, bar.startMs, bar.endMs)] = { ...cell, glyph: '▊' };
  }
  return cells;
}

function densityStrip({ rows }: Lane, scale: Scale): Cell[] {
  const bars = rows.flat();
  return Array.from({ length: scale.columns }, (_, column) => {
    const fromMs = column * scale.cellMs;
    const toMs = fromMs + scale.cellMs;
    const here = bars.filter((bar) => bar.endMs > fromMs && bar.startMs < toMs);
    const [first] = here;
    if (first === undefined) return empty;
    const busyMs = here.reduce((sum, bar) => sum + Math.min(bar.endMs, toMs) - Math.max(bar.startMs, fromMs), 0);
    const share = busyMs / (scale.cellMs * rows.length);
    const telling = here.find((bar) => bar.attempt > 1) ?? here.find((bar) => !bar.reused) ?? first;
    const cell = barCell(telling);
    return telling.reused ? cell : { ...cell, glyph: eighths[Math.min(7, Math.floor(share * 8))] ?? '█' };
  });
}

const blank = ({ columns }: Scale): Cell[] => Array.from({ length: columns }, () => empty);

function fill(
  cells: Cell[],
  scale: Scale,
  startMs: number,
  endMs: number,
  cell: Cell,
  where: (before: Cell) => boolean = () => true,
): void {
  const to = lastColumn(scale, startMs, endMs);
  for (let column = firstColumn(scale, startMs); column <= to; column += 1) {
    if (where(cells[column] ?? empty)) cells[column] = cell;
  }
}

/** Start and end are rounded in the same way, so neighbours do not overlap. */
const firstColumn = ({ columns, cellMs }: Scale, startMs: number): number =>
  Math.min(columns - 1, Math.round(startMs / cellMs));

/** Even the shortest time has a column. */
const lastColumn = (scale: Scale, startMs: number, endMs: number): number =>
  Math.max(firstColumn(scale, startMs), Math.min(scale.columns, Math.round(endMs / scale.cellMs)) - 1);

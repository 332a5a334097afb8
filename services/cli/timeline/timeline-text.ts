import { formatDuration, printable } from '#shared/runtime/figures.ts';
import type { Paint, PaintStyle } from '../terminal.ts';
import {
  barCell,
  type Cell,
  columnAt,
  laneStrips,
  paintCells,
  phaseCells,
  phaseStrip,
  type Scale,
  scaleOf,
  troubleCells,
  troubleStrip,
  waitCell,
} from './cells.ts';
import { ticksOf, type Timeline, type Trouble } from '#shared/timeline/timeline.ts';
import {
  bundleSentence,
  laneSentence,
  momentOf,
  outcomeSentence,
  phaseMs,
  phaseNames,
  remedySentence,
  replaySentence,
  titleOf,
  totalsSentence,
  troubleSentence,
  workerName,
} from '#shared/timeline/words.ts';

const narrowestColumns = 48;
const widestColumns = 200;
/** Terminal width from which words fit beside the lanes. */
const columnsWithWords = 96;
const columnsPerTick = 9;
const mostTroubles = 20;

const outcomeStyle: Record<Timeline['outcome'], PaintStyle> = {
  running: 'blue',
  completed: 'green',
  failed: 'red',
  cancelled: 'yellow',
};

/** The timeline as lines for a terminal of `width` columns (48 to 200 are used). Pure. */
export function timelineText(timeline: Timeline, options: { width: number; paint: Paint }): string {
  const { paint } = options;
  const width = Math.min(widestColumns, Math.max(narrowestColumns, options.width));
  const labelWidth = Math.max(8, ...timeline.lanes.map(({ worker }) => workerName(worker).length));
  const words = width < columnsWithWords ? [] : timeline.lanes.map(laneSentence);
  const wordsWidth = words.length === 0 ? 0 : Math.max(...words.map(({ length }) => length)) + 2;
  const scale = scaleOf(timeline.durationMs, width - labelWidth - 2 - wordsWidth);
  const line = (label: string, strip: string, after = '') =>
    `${paint('gray', label.padEnd(labelWidth))}  ${strip}${after === '' ? '' : `  ${paint('gray', after)}`}`.trimEnd();
  const lanes = timeline.lanes.flatMap((lane, laneIndex) =>
    laneStrips(lane, timeline.troubles, scale).map((strip, index) =>
      index === 0
        ? line(workerName(lane.worker), paintCells(strip, paint), words[laneIndex])
        : line('', paintCells(strip, paint)),
    ),
  );
  const strip = paintCells(troubleStrip(timeline.troubles, scale), paint);
  const troubles = timeline.troubles.length === 0 ? [] : [line('trouble', strip)];
  const error = timeline.error === undefined ? undefined : paint('red', printable(timeline.error));
  return [
    ...heading(timeline, paint),
    '',
    line('', paint('gray', axis(timeline.durationMs, scale))),
    line('phases', paintCells(phaseStrip(timeline.phases, scale), paint)),
    ...lanes,
    ...troubles,
    '',
    ...wrapped(phaseLegend(timeline, paint), width),
    ...wrapped(legend(timeline, paint), width),
    '',
    totalsSentence(timeline),
    ...(words.length > 0 ? [] : timeline.lanes.map((lane) => `${workerName(lane.worker)}: ${laneSentence(lane)}`)),
    ...[bundleSentence(timeline), replaySentence(timeline), error].filter((text) => text !== undefined),
    ...troubleLines(timeline.troubles, paint),
  ].join('\n');
}

function heading(timeline: Timeline, paint: Paint): string[] {
  const outcome = paint(outcomeStyle[timeline.outcome], `● ${outcomeSentence(timeline)}`);
  return [
    `${paint('bold', titleOf(timeline))}  ${outcome}`,
    paint('gray', `${timeline.jobId}  ${timeline.contentVersion}`),
    paint('gray', `${momentOf(timeline.requestedAt)} by ${printable(timeline.requestedBy)}`),
  ];
}

function axis(durationMs: number, scale: Scale): string {
  let text = '';
  for (const tick of ticksOf(durationMs, Math.max(2, Math.floor(scale.columns / columnsPerTick)))) {
    const label = `╷${formatDuration(tick)}`;
    const column = columnAt(scale, tick);
    const isRoom = column + label.length <= scale.columns && (text === '' || column > text.length);
    if (isRoom) text = text.padEnd(column) + label;
  }
  return text;
}

type LegendEntry = { plain: string; painted: string };

const entry = (paint: Paint, { glyph, style }: Cell, words: string): LegendEntry => ({
  plain: `${glyph} ${words}`,
  painted: `${style === undefined ? glyph : paint(style, glyph)} ${words}`,
});

function phaseLegend(timeline: Timeline, paint: Paint): LegendEntry[] {
  return phaseNames
    .filter((name) => timeline.phases.some((phase) => phase.name === name))
    .map((name) => entry(paint, phaseCells[name], `${name} ${formatDuration(phaseMs(timeline, name))}`));
}

function legend({ lanes, troubles }: Timeline, paint: Paint): LegendEntry[] {
  const bars = lanes.flatMap(({ rows }) => rows.flat());
  const chunk = { work: 'chunk' as const, reused: false, attempt: 1 };
  const shown: [boolean, Cell, string][] = [
    [bars.length > 0 || troubles.length > 0, barCell(chunk), 'chunk'],
    [bars.some(({ reused }) => reused), barCell({ ...chunk, reused: true }), 'reused'],
    [bars.some(({ attempt }) => attempt > 1), barCell({ ...chunk, attempt: 2 }), 'done again'],
    [lanes.some(({ waits }) => waits.length > 0), waitCell, 'waiting for a chunk'],
    [troubles.some(({ kind }) => kind.endsWith('failed')), troubleCells['attempt-failed'], 'failed'],
    [troubles.some(({ kind }) => kind === 'timed-out'), troubleCells['timed-out'], 'timed out'],
    [troubles.some(({ kind }) => kind === 'segment-lost'), troubleCells['segment-lost'], 'segment lost'],
  ];
  return shown.filter(([isShown]) => isShown).map(([, cell, words]) => entry(paint, cell, words));
}

function wrapped(entries: readonly LegendEntry[], width: number): string[] {
  const lines: string[] = [];
  let length = 0;
  for (const { plain, painted } of entries) {
    const last = lines.at(-1);
    if (last === undefined || length + 3 + plain.length > width) {
      lines.push(painted);
      length = plain.length;
    } else {
      lines[lines.length - 1] = `${last}   ${painted}`;
      length += 3 + plain.length;
    }
  }
  return lines;
}

function troubleLines(troubles: readonly Trouble[], paint: Paint): string[] {
  if (troubles.length === 0) return [];
  const shown = troubles.slice(0, mostTroubles);
  const timeWidth = Math.max(...shown.map(({ atMs }) => formatDuration(atMs).length));
  const lines = shown.map((trouble) => {
    const { glyph, style } = troubleCells[trouble.kind];
    const mark = style === undefined ? glyph : paint(style, glyph);
    const time = paint('gray', formatDuration(trouble.atMs).padStart(timeWidth));
    return `${time} ${mark} ${printable(troubleSentence(trouble))} ${paint('gray', `→ ${remedySentence(trouble)}`)}`;
  });
  const more = troubles.length - shown.length;
  return ['', ...lines, ...(more === 0 ? [] : [`and ${more} more; --list shows every event`])];
}

import type { Element } from 'hast';
import { h, s } from 'hastscript';
import { formatDuration } from '#shared/runtime/figures.ts';
import { type Bar, type Lane, type Phase, type Span, ticksOf, type Timeline, type Trouble } from './timeline.ts';
import {
  barSentence,
  laneFacts,
  laneSentence,
  phaseMs,
  phaseNames,
  remedySentence,
  troubleSentence,
  workerName,
} from './words.ts';

const rowPixels = 16;
const rowGapPixels = 4;
const phasePixels = 26;
const mostTicks = 8;
/** Share of the width below which a phase shows no name. */
const roomForName = 0.18;
/** Position from which a label extends to the left; before it, to the right. */
const roomForLateLabel = 0.16;

/** Limits of a picture, so that the page of an export with thousands of chunks stays small. */
const mostBars = 1_000;
const leastBarsOfRow = 20;
const mostWaits = 200;
const mostTroubles = 200;

/** Share of the width below which a bar is drawn with the least width that is visible. */
const leastShare = 0.004;
const leastPixels = 3;

/**
 * The picture itself, for `chartStyle`. Positions are percentages of the job's time, so it fits any width. It has no styles of its own, which a strict
 * content security policy would forbid. Pure.
 */
export function chart({ lanes, troubles: all, ...rest }: Timeline): Element {
  const rows = lanes.reduce((sum, lane) => sum + lane.rows.length, 0);
  const mostOfRow = Math.max(leastBarsOfRow, Math.floor(mostBars / Math.max(1, rows)));
  const longest = (waits: readonly Span[]) =>
    waits.toSorted((one, other) => lengthOf(other) - lengthOf(one)).slice(0, Math.ceil(mostWaits / lanes.length));
  const timeline: Timeline = {
    ...rest,
    lanes: lanes.map((lane) => ({
      ...lane,
      rows: lane.rows.map((bars) => fewerBars(bars, mostOfRow, rest.durationMs)),
      waits: longest(lane.waits),
    })),
    troubles: all.slice(0, mostTroubles),
  };
  const at = scaleOf(timeline.durationMs);
  return h('section.chart', { ariaLabel: 'Timeline' }, [
    ticks(timeline.durationMs, at),
    row('phases', h('span', 'Phases'), phaseTrack(timeline, at)),
    ...timeline.lanes.map((lane) =>
      row(
        'lane',
        h('span', [workerName(lane.worker), ...laneFacts(lane).map((fact) => h('small', fact))]),
        laneTrack(lane, timeline.troubles, at),
      ),
    ),
    ...(timeline.troubles.length === 0
      ? []
      : [row('trouble', h('span', 'Trouble'), troubleTrack(timeline.troubles, timeline.durationMs, at))]),
    legend(timeline),
  ]);
}

const lengthOf = ({ startMs, endMs }: Span): number => endMs - startMs;

/** The bars of a row, where neighbours of the same kind are drawn as one if there are more than `most`. Pure. */
function fewerBars(bars: readonly Bar[], most: number, durationMs: number): Bar[] {
  if (bars.length <= most) return [...bars];
  const drawn: Bar[] = [];
  for (const bar of bars) {
    const last = drawn.at(-1);
    const isLike = last?.work === bar.work && last.reused === bar.reused && last.attempt > 1 === bar.attempt > 1;
    if (last === undefined || !isLike || bar.endMs - last.startMs > durationMs / most) drawn.push(bar);
    else {
      const { chunk: _, ...first } = last;
      const together = (last.together ?? 1) + (bar.together ?? 1);
      const endMs = Math.max(last.endMs, bar.endMs);
      drawn[drawn.length - 1] = { ...first, endMs, together, pages: last.pages + bar.pages };
    }
  }
  return drawn;
}

/** The horizontal position of a time, and the visible width of a duration. */
type At = ((ms: number) => string) & { width: (ms: number) => string };

function scaleOf(durationMs: number): At {
  const share = (ms: number): number => Math.max(0, ms) / Math.max(1, durationMs);
  const percent = (ms: number): string => `${Number((share(ms) * 100).toFixed(3))}%`;
  const width = (ms: number): string => (share(ms) < leastShare ? String(leastPixels) : percent(ms));
  return Object.assign(percent, { width });
}

const row = (kind: string, name: Element, track: Element): Element =>
  h('div', { className: ['row', kind] }, [h('div.name', [name]), h('div.track', [track])]);

function ticks(durationMs: number, at: At): Element {
  const moments = ticksOf(durationMs, mostTicks);
  const hasRoomForLate = (moments[1] ?? durationMs) / Math.max(1, durationMs) >= roomForLateLabel;
  const lines = moments.flatMap((ms, index) => {
    const isLate = ms > durationMs * 0.92;
    const line = s('line', { x1: at(ms), x2: at(ms), y1: '0', y2: '100%' });
    if (isLate && !hasRoomForLate) return [line];
    const className = [...(index % 2 === 1 ? ['odd'] : []), ...(isLate ? ['late'] : [])];
    return [line, s('text', { className, x: at(ms), y: 11, dx: isLate ? -6 : 6 }, formatDuration(ms))];
  });
  return h('div.ticks', { ariaHidden: 'true' }, [s('svg', { width: '100%', height: '100%' }, lines)]);
}

function phaseTrack({ phases, durationMs }: Timeline, at: At): Element {
  return picture(
    phasePixels,
    phases.map(phaseSentence).join(', '),
    phases.flatMap((phase) => {
      const titled = s('g', [
        s('title', phaseSentence(phase)),
        block(['phase', phase.name], phase, 0, phasePixels, at),
      ]);
      const hasRoom = (phase.endMs - phase.startMs) / Math.max(1, durationMs) >= roomForName;
      const label = s('text', { x: at(phase.startMs), dx: 9, y: phasePixels / 2, dy: '0.36em' }, phaseSentence(phase));
      return hasRoom && phase.name !== 'queued' ? [titled, label] : [titled];
    }),
  );
}

const phaseSentence = ({ name, startMs, endMs }: Phase): string => `${name} ${formatDuration(endMs - startMs)}`;

function laneTrack(lane: Lane, troubles: readonly Trouble[], at: At): Element {
  const own = troubles.filter(({ worker }) => worker === lane.worker);
  const height = lane.rows.length * (rowPixels + rowGapPixels) - rowGapPixels;
  return picture(height, `${workerName(lane.worker)}: ${laneSentence(lane)}`, [
    ...lane.waits.map((wait) => waiting(wait, height, at)),
    ...lane.rows.flatMap((bars, index) => bars.map((bar) => barBlock(bar, index * (rowPixels + rowGapPixels), at))),
    ...own.map((trouble) => placed(trouble, height / 2, at)),
  ]);
}

function barBlock(bar: Bar, y: number, at: At): Element {
  const kind = bar.work !== 'chunk' ? bar.work : bar.attempt > 1 ? 'again' : 'chunk';
  return s('g', [
    s('title', barSentence(bar)),
    block(['bar', kind, ...(bar.reused ? ['reused'] : [])], bar, y, rowPixels, at),
  ]);
}

function block(className: string[], span: Span, y: number, height: number, at: At): Element {
  const width = at.width(span.endMs - span.startMs);
  return s('rect', { className, x: at(span.startMs), y, width, height });
}

function waiting(wait: Span, height: number, at: At): Element {
  return s('g.wait', [
    s('title', `Waited ${formatDuration(wait.endMs - wait.startMs)} for a chunk of this job`),
    s('rect', { x: at(wait.startMs), y: 0, width: at(wait.endMs - wait.startMs), height }),
    s('line', { x1: at(wait.startMs), x2: at(wait.endMs), y1: height / 2, y2: height / 2 }),
  ]);
}

const placed = (trouble: Trouble, y: number, at: At): Element =>
  s('svg', { x: at(trouble.atMs), y, className: ['placed'], overflow: 'visible' }, [
    iconGroup(trouble.kind, `${troubleSentence(trouble)}; ${remedySentence(trouble)}`),
  ]);

/** Each trouble, with a line to the time when its work was done again. */
function troubleTrack(troubles: readonly Trouble[], durationMs: number, at: At): Element {
  const height = 22;
  const lines = troubles.flatMap(({ atMs, madeGoodMs }) =>
    madeGoodMs === undefined
      ? []
      : [
          s('line.mend', { x1: at(atMs), x2: at(madeGoodMs), y1: height / 2, y2: height / 2 }),
          s('circle.mended', { cx: at(madeGoodMs), cy: height / 2, r: 3 }),
        ],
  );
  return picture(height, `${troubles.length} within ${formatDuration(durationMs)}`, [
    ...lines,
    ...troubles.map((trouble) => placed(trouble, height / 2, at)),
  ]);
}

const picture = (height: number, label: string, children: Element[]): Element =>
  s('svg', { width: '100%', height, role: 'img', ariaLabel: label }, children);

function legend(timeline: Timeline): Element {
  const bars = timeline.lanes.flatMap(({ rows }) => rows.flat());
  const swatch = (className: string[], words: string): Element =>
    h('li', [h('i', { className: ['swatch', ...className] }), words]);
  const phases = phaseNames
    .filter((name) => timeline.phases.some((phase) => phase.name === name))
    .map((name) => swatch(['phase', name], `${name} ${formatDuration(phaseMs(timeline, name))}`));
  const kinds = [...new Map(timeline.troubles.map(({ kind }) => [iconOf(kind), kind])).values()];
  return h('ul.legend', [
    ...phases,
    ...(bars.some(({ work }) => work === 'chunk') ? [swatch(['bar', 'chunk'], 'chunk')] : []),
    ...(bars.some(({ reused }) => reused) ? [swatch(['bar', 'chunk', 'reused'], 'reused')] : []),
    ...(bars.some(({ attempt }) => attempt > 1) ? [swatch(['bar', 'again'], 'done again')] : []),
    ...(timeline.lanes.some(({ waits }) => waits.length > 0) ? [swatch(['waiting'], 'waiting for a chunk')] : []),
    ...kinds.map((kind) => h('li', [troubleIcon(kind), iconNames[iconOf(kind)]])),
  ]);
}

/** Icons of 16 by 16 around their middle, drawn with lines in the colour of the text. */
const iconPaths: Record<'failed' | 'timed-out' | 'segment-lost', string> = {
  failed: 'M-3.2-3.2 3.2 3.2M3.2-3.2-3.2 3.2',
  'timed-out': 'M0-3.4V0.2L2.4 1.9',
  'segment-lost': 'M2.9-2.2A3.7 3.7 0 1 0 3.7 0.6M3.4-4.3V-1.7H0.8',
};

type Icon = keyof typeof iconPaths;

const iconOf = (kind: Trouble['kind']): Icon => (kind === 'timed-out' || kind === 'segment-lost' ? kind : 'failed');

const iconNames: Record<Icon, string> = {
  failed: 'attempt failed',
  'timed-out': 'timed out',
  'segment-lost': 'segment lost',
};

/** A round icon for a kind of trouble, 18 pixels wide, for use in text. Pure. */
export function troubleIcon(kind: Trouble['kind']): Element {
  return s('svg', { viewBox: '-9 -9 18 18', width: 18, height: 18, ariaHidden: 'true' }, [iconGroup(kind)]);
}

/** The icon alone, around the origin. Pure. */
function iconGroup(kind: Trouble['kind'], title?: string): Element {
  const name = iconOf(kind);
  return s('g', { className: ['sign', name] }, [
    ...(title === undefined ? [] : [s('title', title)]),
    s('circle', { r: 7.5 }),
    s('path', { d: iconPaths[name] }),
  ]);
}

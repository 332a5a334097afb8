import type { HistoryEntry } from '#shared/interfaces/http/exports.ts';
import { counted, formatBytes, formatDuration, formatNumber, printable } from '#shared/runtime/figures.ts';
import { type Bar, type Lane, lengthMs, type Phase, type Timeline, type Trouble } from './timeline.ts';

/** The texts that both pictures share. All functions are pure. */

export const phaseNames = ['queued', 'rendering', 'closing', 'joining'] as const satisfies Phase['name'][];

/** Total time of the job in a phase. */
export const phaseMs = (timeline: Timeline, name: Phase['name']): number =>
  lengthMs(timeline.phases.filter((phase) => phase.name === name));

/** `page-renderer-Qm4t8Zk1` → `renderer Qm4t8Zk1`. */
export const workerName = (worker: string): string => worker.replace(/^page-renderer-/, 'renderer ');

export const titleOf = ({ domain, label }: Timeline): string =>
  `Export of ${domain}${label === undefined ? '' : ` (${label})`}`;

export function outcomeSentence({ outcome, durationMs }: Timeline): string {
  const time = formatDuration(durationMs);
  return outcome === 'running' ? `running for ${time}` : `${outcome} after ${time}`;
}

/** `2026-03-01 10:00:00 UTC`. */
export const momentOf = (time: string): string => `${time.slice(0, 10)} ${time.slice(11, 19)} UTC`;

/** `21 chunks, 380 pages`, `waited 1.13 s`. */
export function laneFacts({ chunks, pages, waits, busyMs }: Lane): string[] {
  if (chunks === 0) return [`busy ${formatDuration(busyMs)}`];
  const waitMs = lengthMs(waits);
  const work = `${counted(chunks, 'chunk')}, ${counted(pages, 'page')}`;
  return waitMs === 0 ? [work] : [work, `waited ${formatDuration(waitMs)}`];
}

export const laneSentence = (lane: Lane): string => laneFacts(lane).join(', ');

export function totalsSentence({ totals }: Timeline): string {
  const of = (done: number, total: number | undefined) =>
    total === undefined || total === done ? formatNumber(done) : `${formatNumber(done)} of ${formatNumber(total)}`;
  const reused = totals.reused === 0 ? '' : ` (${formatNumber(totals.reused)} reused)`;
  const again = totals.repeated === 0 ? '' : `, ${formatNumber(totals.repeated)} of them repeated`;
  return `${of(totals.pages, totals.pageTotal)} pages in ${of(totals.chunks, totals.chunkTotal)} chunks${reused} by ${counted(totals.renderers, 'renderer')}; ${counted(totals.attempts, 'attempt')}${again}.`;
}

export function bundleSentence({ bundle }: Timeline): string | undefined {
  return bundle === undefined ? undefined : `${formatBytes(bundle.sizeBytes)}, SHA-256 ${bundle.sha256}`;
}

export function replaySentence({ replayOf, bundle }: Timeline): string | undefined {
  if (replayOf === undefined) return undefined;
  const match = {
    same: 'the same digest',
    different: 'another digest',
    'renderer-changed': 'another digest, by another renderer version',
  };
  const found = match[bundle?.digestMatch as keyof typeof match];
  return `Replay of ${replayOf}${found === undefined ? '' : `: ${found}`}.`;
}

/** `chunk 9, attempt 1, renderer Qm4t8Zk1: its process ended with signal SIGKILL`. */
export function troubleSentence({ what, attempt, worker, kind, reason, pages }: Trouble): string {
  const subject = [
    what,
    ...(attempt === undefined ? [] : [`attempt ${attempt}`]),
    ...(worker === undefined ? [] : [workerName(worker)]),
  ].join(', ');
  const named =
    pages.length === 0
      ? ''
      : ` (${pages.slice(0, 5).join(', ')}${pages.length > 5 ? ` and ${pages.length - 5} more` : ''})`;
  const lost = kind === 'segment-lost' ? 'its segment was lost, ' : '';
  return `${subject}: ${lost}${reason}${named}`;
}

export function remedySentence({ atMs, madeGoodMs, kind }: Trouble): string {
  if (madeGoodMs !== undefined) return `done again ${formatDuration(madeGoodMs - atMs)} later`;
  return kind === 'pages-failed' ? 'final' : 'not done again';
}

export function barSentence(bar: Bar): string {
  const chunks = bar.together === undefined ? `Chunk ${bar.chunk}` : `${formatNumber(bar.together)} chunks`;
  const name = bar.work === 'chunk' ? chunks : bar.work === 'closing' ? 'Closing segment' : 'Bundle';
  const facts = [
    ...(bar.work === 'chunk' ? [counted(bar.pages, 'page')] : []),
    formatDuration(bar.endMs - bar.startMs),
    ...(bar.reused ? ['reused'] : []),
    ...(bar.attempt > 1 ? [`attempt ${bar.attempt}`] : []),
    `${formatDuration(bar.startMs)} to ${formatDuration(bar.endMs)}`,
  ];
  return `${name}: ${facts.join(', ')}`;
}

/** One event of a job's history as a line: revision, time, type, actor and details. Pure. */
export function eventLine(event: HistoryEntry): string {
  const actor = `${event.actor.kind}:${event.actor.id}`;
  return `${String(event.revision).padStart(4)}  ${event.time}  ${event.type.padEnd(18)} ${actor}  ${eventFacts(event)}`.trimEnd();
}

/** Details of an event besides its type: `chunk=3 attempt=1`, and each page that failed with its reason. Pure. */
export function eventFacts({ data }: Pick<HistoryEntry, 'data'>): string {
  const facts = Object.entries(data).flatMap(([name, value]) => {
    if (name === 'failedPages' && Array.isArray(value)) return value.map(failedPage);
    return value === null || typeof value === 'object' ? [] : [`${name}=${printable(String(value))}`];
  });
  return facts.join(' ');
}

function failedPage(page: unknown): string {
  const { path, reason } = (page ?? {}) as { path?: unknown; reason?: unknown };
  return `page=${printable(String(path))} (${printable(String(reason))})`;
}

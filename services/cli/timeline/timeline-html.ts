import type { Element, ElementContent } from 'hast';
import { h } from 'hastscript';
import { counted, formatBytes, formatDuration, formatNumber } from '#shared/runtime/figures.ts';
import { chart, troubleIcon } from '#shared/timeline/chart.ts';
import { timelineStyle } from './timeline-style.ts';
import { drawnHtml } from '#shared/timeline/drawn-html.ts';
import type { Timeline } from '#shared/timeline/timeline.ts';
import {
  eventFacts,
  momentOf,
  outcomeSentence,
  remedySentence,
  replaySentence,
  titleOf,
  totalsSentence,
  troubleSentence,
} from '#shared/timeline/words.ts';

const allowed = "default-src 'none'; style-src 'unsafe-inline'";

/** The timeline as one self-contained HTML file: no scripts, no other files, light and dark. Pure. */
export function timelineHtml(timeline: Timeline): string {
  const page = h('html', { lang: 'en' }, [
    h('head', [
      h('meta', { charset: 'utf-8' }),
      h('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
      h('meta', { name: 'color-scheme', content: 'light dark' }),
      h('meta', { httpEquiv: 'content-security-policy', content: allowed }),
      h('title', `${titleOf(timeline)}: ${outcomeSentence(timeline)}`),
      h('style', [{ type: 'raw', value: timelineStyle }]),
    ]),
    h('body', [
      h('main', [heading(timeline), figures(timeline), chart(timeline), ...troubleList(timeline), eventList(timeline)]),
    ]),
  ]);
  return `<!doctype html>\n${drawnHtml(page).text}\n`;
}

function heading(timeline: Timeline): Element {
  const { domain, label, outcome, error } = timeline;
  const replay = replaySentence(timeline);
  const meta = [
    fact('Job', h('code', timeline.jobId)),
    fact('Requested', `${momentOf(timeline.requestedAt)} by ${timeline.requestedBy}`),
    fact('Content', h('code', timeline.contentVersion)),
    ...(timeline.rendererVersion === undefined ? [] : [fact('Renderer', h('code', timeline.rendererVersion))]),
    ...(timeline.bundle === undefined ? [] : [fact('SHA-256', h('code', timeline.bundle.sha256))]),
  ];
  return h('header', [
    h('p.eyebrow', 'Export job'),
    h('h1', [domain, ...(label === undefined ? [] : [h('span.label', label)])]),
    h('p', { className: ['outcome', outcome] }, outcomeSentence(timeline)),
    ...(error === undefined ? [] : [h('p.error', error)]),
    ...(replay === undefined ? [] : [h('p.replay', replay)]),
    h('dl.meta', meta),
  ]);
}

const fact = (name: string, value: ElementContent | string): Element => h('div', [h('dt', name), h('dd', [value])]);

function figures({ totals, durationMs, bundle, outcome }: Timeline): Element {
  const of = (total: number | undefined, done: number) =>
    total === undefined || total === done ? '' : `of ${formatNumber(total)}`;
  const tiles: [name: string, value: string, more: string][] = [
    ['Duration', formatDuration(durationMs), outcome === 'running' ? 'so far' : ''],
    ['Pages', formatNumber(totals.pages), of(totals.pageTotal, totals.pages)],
    [
      'Chunks',
      formatNumber(totals.chunks),
      [of(totals.chunkTotal, totals.chunks), totals.reused === 0 ? '' : `${formatNumber(totals.reused)} reused`]
        .filter((text) => text !== '')
        .join(', '),
    ],
    [
      'Attempts',
      formatNumber(totals.attempts),
      totals.repeated === 0 ? '' : `${formatNumber(totals.repeated)} of them repeated`,
    ],
    ['Renderers', formatNumber(totals.renderers), totals.waitMs === 0 ? '' : `waited ${formatDuration(totals.waitMs)}`],
    ['Bundle', bundle === undefined ? '–' : formatBytes(bundle.sizeBytes), ''],
  ];
  return h(
    'dl.figures',
    tiles.map(([name, value, more]) => h('div', [h('dt', name), h('dd', [value, h('small', more)])])),
  );
}

function troubleList({ troubles }: Timeline): Element[] {
  if (troubles.length === 0) return [];
  const items = troubles.map((trouble) =>
    h('li', [
      h('time', formatDuration(trouble.atMs)),
      h('span.sign', [troubleIcon(trouble.kind)]),
      h('p', [troubleSentence(trouble), ' ', h('span.remedy', remedySentence(trouble))]),
    ]),
  );
  return [h('section', [h('h2', counted(troubles.length, 'trouble')), h('ol.troubles', items)])];
}

function eventList(timeline: Timeline): Element {
  const zeroMs = Date.parse(timeline.requestedAt);
  const rows = timeline.events.map((event) =>
    h('tr', [
      h('td.number', String(event.revision)),
      h('td.number', [
        h('time', { dateTime: event.time, title: event.time }, formatDuration(Date.parse(event.time) - zeroMs)),
      ]),
      h('td', h('strong', event.type)),
      h('td', `${event.actor.kind} ${event.actor.id}`),
      h('td.facts', eventFacts(event)),
    ]),
  );
  const head = ['Revision', 'After', 'Event', 'By', 'Facts'].map((name) => h('th', { scope: 'col' }, name));
  return h('section', [
    h('p.sum', totalsSentence(timeline)),
    h('details', [
      h('summary', `All ${counted(timeline.events.length, 'event')}`),
      h('div.scroll', [h('table', [h('thead', [h('tr', head)]), h('tbody', rows)])]),
    ]),
  ]);
}

import { expect, test } from 'vitest';
import { exampleHistory, exampleStart, historyAfterPlan } from '../../../test/support/example-history.ts';
import { timelineHtml } from './timeline-html.ts';
import { timelineOf } from '#shared/timeline/timeline-of.ts';

const now = new Date(Date.parse(exampleStart) + 2_500);
const example = timelineHtml(timelineOf(exampleHistory(), now));
const count = (html: string, pattern: RegExp) => html.match(pattern)?.length ?? 0;

test('is one file that needs no script and nothing from elsewhere', () => {
  expect(example).toMatch(/^<!doctype html>/);
  expect(example).not.toMatch(/<script|<link|<img|src=|href=|url\(|@import/);
  expect(example).toContain('content="default-src &#39;none&#39;');
});

test('is for light and dark, and for phones', () => {
  expect(example).toContain('prefers-color-scheme: dark');
  expect(example).toContain('width=device-width');
  expect(example).toMatch(/@media \(max-width: \d+px\)/);
});

test('has a bar for every chunk, closing segment and bundle, each with words that say what it is', () => {
  // The job has 24 bars of 23 chunks, because one was rendered twice, two of closing segments and one of the bundle.
  expect(count(example, /<rect class="bar /g)).toBe(27);
  expect(count(example, /<title>Chunk \d+: /g)).toBe(24);
  expect(example).toContain('<title>Chunk 9: 20 pages, 210 ms, attempt 2, 1.12 s to 1.33 s</title>');
  expect(count(example, /<title>Closing segment: /g)).toBe(2);
  expect(count(example, /<title>Bundle: /g)).toBe(1);
});

test('shows phases, waits and troubles, and how troubles ended', () => {
  expect(count(example, /class="phase /g)).toBe(7);
  expect(example).toContain('Waited 1.01 s for a chunk of this job');
  expect(count(example, /<li><time>/g)).toBe(3);
  expect(example).toContain('its process ended with signal SIGKILL <span class="remedy">done again 230 ms later');
});

test('positions are within the picture', () => {
  const percents = [...example.matchAll(/(?:x|x1|x2|cx)="([\d.]+)%"/g)].map(([, value]) => Number(value));
  expect(percents.length).toBeGreaterThan(30);
  expect(Math.max(...percents)).toBeLessThanOrEqual(100);
});

test('lists every event', () => {
  expect(count(example, /<tr><td/g)).toBe(exampleHistory().length);
});

test('texts of authors are escaped', () => {
  const history = historyAfterPlan([
    900,
    { type: 'ExportFailed', version: 1, data: { error: '<img src=x onerror=alert(1)>', failedPageCount: 1 } },
  ]);
  const html = timelineHtml(timelineOf(history, now));
  expect(html).not.toContain('<img');
  expect(html).toContain('&lt;img');
});

test('a job that has only been asked for has a picture, too', () => {
  const html = timelineHtml(timelineOf(exampleHistory(0), new Date(Date.parse(exampleStart))));
  expect(html).toContain('running for 0 s');
  expect(html).not.toMatch(/NaN|Infinity|undefined/);
});

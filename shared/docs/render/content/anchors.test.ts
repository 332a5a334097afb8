import { expect, test } from 'vitest';
import { Anchors, anchorOf } from './content-context.ts';

/** Examples of the table in the format's documentation. */
const documented: [text: string, id: string][] = [
  ['Getting started', 'getting-started'],
  ['Config.json options', 'config-json-options'],
  ["What's new", 'what’s-new'],
  ['Rate limits (per minute)', 'rate-limits-per-minute'],
  ['Read/write access', 'read/write-access'],
  ['Fees & billing', 'fees-&-billing'],
  ['OAuth', 'oauth'],
];

test.each(documented)('%s → %s', (text, id) => {
  expect(anchorOf(text)).toBe(id);
});

test('a repeated text gets a number, and each number is used once', () => {
  const anchors = new Anchors();
  expect(['Overview', 'Overview', 'Overview-2', 'Overview'].map((text) => anchors.claim(text))).toEqual([
    'overview',
    'overview-2',
    'overview-2-2',
    'overview-3',
  ]);
});

test('20,000 equal headings get their numbers without a search through all earlier ones', () => {
  const anchors = new Anchors();
  for (let count = 0; count < 20_000; count++) anchors.claim('Same');
  expect(anchors.claim('Same')).toBe('same-20001');
});

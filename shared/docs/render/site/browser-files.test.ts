import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { notFoundScript, siteScripts, themePart, themeSheet, widgetSource } from './browser-files.ts';

const partsIn = (folder: string): string[] =>
  readdirSync(new URL(folder, import.meta.url)).map((name) => `${folder}${name}`);
const textOf = (part: string): string => readFileSync(new URL(part, import.meta.url), 'utf8');

test.each(partsIn('theme/'))('%s is in the style sheet, once', (part) => {
  expect(themeSheet.split(themePart(textOf(part)))).toHaveLength(2);
});

/** The longest line of code of a part. Other parts do not have the same line. */
function longestLine(part: string): string {
  const lines = textOf(part)
    .replaceAll(/\/\*\*(?:[^*]|\*(?!\/))*\*\//g, '')
    .split('\n');
  const code = lines.map((line) => line.trim()).filter((line) => !line.startsWith('//'));
  return code.reduce((longest, line) => (line.length > longest.length ? line : longest), '');
}

test.each(partsIn('scripts/site/'))('%s is in the script', (part) => {
  expect(siteScripts().get('site.js')).toContain(longestLine(part));
});

test.each(partsIn('scripts/search/'))('%s is in the script of the search', (part) => {
  expect(siteScripts().get('search.js')).toContain(longestLine(part));
});

test.each(partsIn('scripts/assistant/'))('%s is in a script of the assistant', (part) => {
  const name = part.endsWith('/selection.js') ? 'assistant-selection.js' : 'assistant.js';
  expect(siteScripts().get(name)).toContain(longestLine(part));
});

test.each(partsIn('scripts/widget/'))('%s is in the widget', (part) => {
  const source = widgetSource({ names: [], tables: {}, same: {}, rightToLeft: /x/ }, '1.0.0');
  expect(source).toContain(longestLine(part));
});

test('a script for readers has no comments except its purpose', () => {
  for (const script of [...siteScripts().values(), notFoundScript]) {
    expect(script).not.toMatch(/\/\*\*|@ts-/);
    expect(script.match(/^ *\/\/.*$/gm)?.length ?? 0).toBeLessThanOrEqual(1);
  }
});

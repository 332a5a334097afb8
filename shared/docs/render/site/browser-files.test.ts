import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { notFoundScript, siteScripts, themePart, themeSheet } from './browser-files.ts';

const partsIn = (folder: string): string[] =>
  readdirSync(new URL(folder, import.meta.url)).map((name) => `${folder}${name}`);
const textOf = (part: string): string => readFileSync(new URL(part, import.meta.url), 'utf8');

test.each(partsIn('theme/'))('%s is in the style sheet, once', (part) => {
  expect(themeSheet.split(themePart(textOf(part)))).toHaveLength(2);
});

test.each(partsIn('scripts/site/'))('%s is in the script', (part) => {
  const lines = textOf(part).split('\n');
  const comment = lines.find((line) => line.trimStart().startsWith('// ')) ?? lines[0] ?? '';
  expect(siteScripts().get('site.js')).toContain(comment.trim());
});

test.each(partsIn('scripts/search/'))('%s is in the script of the search', (part) => {
  const comment = textOf(part).split('\n')[0] ?? '';
  expect(siteScripts().get('search.js')).toContain(comment);
});

test.each(partsIn('scripts/assistant/'))('%s is in a script of the assistant', (part) => {
  const name = part.endsWith('/selection.js') ? 'assistant-selection.js' : 'assistant.js';
  expect(siteScripts().get(name)).toContain(textOf(part).split('\n')[0]);
});

test('no comments with types are in what a reader downloads', () => {
  const all = [...siteScripts().values(), notFoundScript].join('\n');
  expect(all).toContain('// Before the first paint');
  expect(all).not.toMatch(/\/\*\*|@ts-/);
});

import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { notFoundScript, siteScripts, themeSheet } from './browser-files.ts';

const partsIn = (folder: string): string[] =>
  readdirSync(new URL(folder, import.meta.url)).map((name) => `${folder}${name}`);

test('every part of the style sheet is in it, once', () => {
  for (const part of partsIn('theme/')) {
    const text = readFileSync(new URL(part, import.meta.url), 'utf8');
    expect(themeSheet.split(text).length, part).toBe(2);
  }
});

test('every part of the script is in it', () => {
  for (const part of partsIn('scripts/site/')) {
    const lines = readFileSync(new URL(part, import.meta.url), 'utf8').split('\n');
    const comment = lines.find((line) => line.trimStart().startsWith('// ')) ?? lines[0] ?? '';
    expect(siteScripts.get('site.js'), part).toContain(comment.trim());
  }
});

test('no comments with types are in what a reader downloads', () => {
  const all = [...siteScripts.values(), notFoundScript].join('\n');
  expect(all).toContain('// Before the first paint');
  expect(all).not.toMatch(/\/\*\*|@ts-/);
});

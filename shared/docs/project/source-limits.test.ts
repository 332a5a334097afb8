import { describe, expect, test } from 'vitest';
import { fencedLines } from './prepare-source.ts';
import { endsOfLists, inlineParts } from './source-limits.ts';

describe('the limit of words and marks between empty lines', () => {
  const line = 'a <b>b</b> c d e';
  const limitOf = (lines: string[]) => inlineParts(lines, fencedLines(lines))?.code;
  const many = (written: string): string[] => Array.from({ length: 10_000 }, () => written);

  test('is broken by one long text', () => {
    expect(limitOf(many(line))).toBe('page-too-large');
    expect(limitOf(many(`> ${line}`))).toBe('page-too-large');
    expect(limitOf(many(`| ${line} |`))).toBe('page-too-large');
  });

  test('is per text: an item, a cell, a heading, a paragraph', () => {
    expect(limitOf(many(`- ${line}`))).toBeUndefined();
    expect(limitOf(many(`## ${line}`))).toBeUndefined();
    expect(limitOf(many(line).flatMap((text) => [text, '']))).toBeUndefined();
    expect(limitOf(['| a |', '| - |', ...many(`| ${line} |`)])).toBeUndefined();
  });

  test('is not for code', () => {
    expect(limitOf(['{[', ...many('{ a: [1, 2, 3] },'), ']}'])).toBeUndefined();
    expect(limitOf(['{[', ...many('{ a: [1, 2, 3] },'), ']'])).toBe('page-too-large');
    expect(limitOf(['```', ...many(line), '```'])).toBeUndefined();
    expect(limitOf(['export const a = [', ...many('{ a: [1, 2, 3] },'), ']'])).toBeUndefined();
  });
});

test('lists inside of lists are limited together with the lines before their ends', () => {
  const limitOf = (lines: string[]) => endsOfLists(lines, fencedLines(lines))?.code;
  const many = (count: number, ...written: string[]): string[] => Array.from({ length: count }, () => written).flat();
  expect(limitOf(many(10_000, '- a', '  - b'))).toBe('page-too-large');
  expect(limitOf(many(2_000, '- a', '  - b', '  - c', '', 'text', ''))).toBeUndefined();
  expect(limitOf(many(50_000, '- a'))).toBeUndefined();
});

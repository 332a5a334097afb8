import { expect, test } from 'vitest';
import { markdownBlocks, markdownSection } from './markdown-blocks.ts';

test('a line that is nearly the rule of a table is read in one pass', () => {
  // A parser that backtracks takes hours for this input.
  const blocks = markdownBlocks(`a | b\n${'\u00a0'.repeat(50_000)}-x\nmore`);
  expect(blocks.map(({ kind }) => kind)).toEqual(['paragraph']);
  expect(markdownBlocks('a | b\n:-- | --:\n1 | 2').map(({ kind }) => kind)).toEqual(['table']);
});

test('a heading full of brackets is read in one pass', () => {
  // A parser that backtracks takes minutes for this input.
  expect(markdownSection(`# A\n\n## ${'['.repeat(400_000)}\n\n## [B](/b_(c)) b\n\nText.`, 'A › B b')).toEqual([
    { kind: 'paragraph', text: 'Text.' },
  ]);
});

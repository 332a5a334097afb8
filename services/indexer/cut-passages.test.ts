import { expect, test } from 'vitest';
import { cutPassages, PASSAGE_CHARACTERS } from './cut-passages.ts';

const section = (text: string, anchor = 'a', heading = 'A') => ({ anchor, heading, text });

test('short sections stay whole, and are never mixed', () => {
  expect(cutPassages([section('one'), section('two', 'b', 'B')])).toEqual([section('one'), section('two', 'b', 'B')]);
});

test('a heading alone is a passage; nothing at all is none', () => {
  expect(cutPassages([section('  ', 'a', 'Only a heading'), section(' ', '', '')])).toEqual([
    section('Only a heading', 'a', 'Only a heading'),
  ]);
});

test.each([
  [
    'paragraphs',
    Array.from(
      { length: 30 },
      (_, at) => `Paragraph ${at} with some words in it, enough to fill a line or two of text.`,
    ).join('\n\n'),
  ],
  [
    'lines',
    Array.from({ length: 60 }, (_, at) => `line ${at} of a long block of code that has no empty lines`).join('\n'),
  ],
  [
    'sentences',
    Array.from({ length: 60 }, (_, at) => `Sentence ${at} of a paragraph that does not end for a long while.`).join(
      ' ',
    ),
  ],
  ['words', Array.from({ length: 900 }, (_, at) => `word${at}`).join(' ')],
  ['one endless word', 'x'.repeat(5_000)],
  ['characters of two units', '😀'.repeat(3_000)],
])('long text of %s is cut into passages of about the right size, and nothing is lost', (_kind, text) => {
  const passages = cutPassages([section(text)]);
  expect(passages.length).toBeGreaterThan(1);
  for (const passage of passages) {
    expect(Array.from(passage.text).length).toBeLessThanOrEqual(PASSAGE_CHARACTERS + 200);
    expect(passage.text.isWellFormed()).toBe(true);
  }
  const squeezed = (value: string): string => value.replaceAll(/\s+/g, '');
  expect(squeezed(passages.map((passage) => passage.text).join(''))).toBe(squeezed(text));
});

import { expect, test } from 'vitest';
import { differenceTable, textDifference } from './text-difference.ts';

const lines = (...all: (string | number)[]) => all.map((line) => `${line}\n`).join('');
const written = (before: string, after: string) =>
  textDifference(before, after)?.map((row) =>
    row.kind === 'gap'
      ? `(${row.lines})`
      : `${row.before?.number ?? ''}${row.before?.text ?? ''}|${row.after?.number ?? ''}${row.after?.text ?? ''}`,
  );

test('replaced lines stand beside each other, and others beside nothing', () => {
  expect(written(lines('a', 'b', 'c'), lines('a', 'x', 'y', 'c', 'd'))).toEqual([
    '1a|1a',
    '2b|2x',
    '|3y',
    '3c|4c',
    '|5d',
  ]);
  expect(written('', lines('a'))).toEqual(['|1a']);
  expect(written(lines('a'), '')).toEqual(['1a|']);
});

test('long runs that are the same are left out, up to three lines around a change', () => {
  const all = Array.from({ length: 20 }, (_, at) => `l${at}`);
  const changed = all.with(10, 'new');
  expect(written(lines(...all), lines(...changed))).toEqual([
    '(7)',
    ...['8l7|8l7', '9l8|9l8', '10l9|10l9', '11l10|11new', '12l11|12l11', '13l12|13l12', '14l13|14l13'],
    '(6)',
  ]);
  expect(written(lines(...all), lines(...all))).toEqual(['(20)']);
});

test('texts that have too little in common are not compared, within bounded time', () => {
  const before = Array.from({ length: 20_000 }, (_, at) => `a${at}`);
  const after = Array.from({ length: 20_000 }, (_, at) => `b${at}`);
  const began = process.cpuUsage();
  expect(textDifference(lines(...before), lines(...after))).toBeUndefined();
  expect(process.cpuUsage(began).user / 1_000).toBeLessThan(2_000);
});

test('a table has signs and no markup of the text, and at most 2,000 rows', () => {
  const rows = textDifference('<b>old</b>\n', '<b>new</b>\n') ?? [];
  const { text } = differenceTable(rows, { before: 'one', after: '<other>' });
  expect(text).toContain('<del>&lt;b&gt;old&lt;/b&gt;</del>');
  expect(text).toContain('&lt;other&gt;');
  const many = Array.from({ length: 3_000 }, (_, at) => at);
  const long = differenceTable(textDifference('', lines(...many)) ?? [], { before: 'a', after: 'b' });
  expect(long.text.match(/<ins>/g)).toHaveLength(2_000);
  expect(long.text).toContain('1000 further rows');
  expect(long.text.length).toBeLessThan(300_000);
});

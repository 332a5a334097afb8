import { expect, test } from 'vitest';
import { medianOf, ratio, shown, table } from './measurement.ts';

test('columns are as wide as their widest cell', () => {
  expect(table(['what', 'pages/s'], [['one renderer', '90']])).toBe(
    ['  what           pages/s', '  ------------   -------', '  one renderer        90'].join('\n'),
  );
});

test('numbers have three significant digits', () => {
  expect([0.012345, 1.2345, 123.45, 12_345, undefined].map(shown)).toEqual([
    '0.0123',
    '1.23',
    '123',
    '12,300',
    'not measured',
  ]);
});

test('a ratio is a multiple of the reference', () => {
  expect([ratio(3, 2), ratio(1, 50), ratio(undefined, 2), ratio(1, 0)]).toEqual([
    '1.50 ×',
    '0.020 ×',
    'not measured',
    'not measured',
  ]);
});

test('the median of measurements', () => {
  expect([medianOf([3, 1, 2]), medianOf([4, 1, 2, 3]), medianOf([1, undefined]), medianOf([])]).toEqual([
    2,
    2.5,
    undefined,
    undefined,
  ]);
});

import type { Properties } from 'hast';
import { expect, test } from 'vitest';
import { keepRoom } from './picture-room.ts';

const natural = { width: 800, height: 400 };
const ratio = 'aspect-ratio: auto 800 / 400';
const room = (properties: Properties, size = natural): Properties => {
  const given = { ...properties };
  keepRoom(given, size);
  return given;
};

test.each<[string, Properties, Properties]>([
  ['nothing written', {}, { width: 800, height: 400 }],
  [
    'a class for something else',
    { className: ['rounded', 'max-w-lg'] },
    { className: ['rounded', 'max-w-lg'], ...natural },
  ],
  ['a class for the width', { className: ['w-20'] }, { className: ['w-20'], ...natural }],
  ['a class for the height', { className: ['md:h-10'] }, { className: ['md:h-10'], style: ratio }],
  ['a bound for the height', { className: ['max-h-40'] }, { className: ['max-h-40'], style: ratio }],
  ['both by one class', { className: ['size-6'] }, { className: ['size-6'], style: ratio }],
  ['a width', { width: '200' }, { width: '200', height: 100 }],
  ['a height', { height: 100 }, { width: 200, height: 100 }],
  ['both', { width: 50, height: 50 }, { width: 50, height: 50 }],
  ['a width in percent', { width: '50%' }, { width: '50%', style: ratio }],
  ['a width and "auto"', { width: 200, height: 'auto' }, { width: 200, height: 'auto', style: ratio }],
  ['a style for the width', { style: 'width: 50%' }, { style: 'width: 50%', ...natural }],
  ['a style for the height', { style: 'max-height:3em' }, { style: `${ratio}; max-height:3em` }],
])('%s', (_name, written, expected) => {
  expect(room(written)).toEqual(expected);
});

test('a drawing without a size takes the available width', () => {
  const fills = { ...natural, fills: true as const };
  expect(room({}, fills)).toEqual({ style: `width: 100%; ${ratio}` });
  expect(room({ width: 100 }, fills)).toEqual({ width: 100, height: 50 });
  expect(room({ className: ['w-8'] }, fills)).toEqual({ className: ['w-8'], style: ratio });
});

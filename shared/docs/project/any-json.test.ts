import { expect, test } from 'vitest';
import { z } from 'zod';
import { anyJson } from './any-json.ts';

test.each<[string, unknown]>([
  ['null', null],
  ['a text', 'x'],
  ['a number', -1.5],
  ['nested lists and objects', { a: [{ b: [true, null, 'x'] }], c: {} }],
  ['an object without a prototype', Object.create(null)],
  ['a key that names the prototype', JSON.parse('{"a":[{"__proto__":{"x":1},"b":1}]}')],
  ['no value', undefined],
  ['a value without a number', Number.NaN],
  ['an infinite number', [Infinity]],
  ['bytes', { a: new Uint8Array(1) }],
  ['a date', [new Date(0)]],
  ['a function', { a: () => 1 }],
  ['a missing value in an object', { a: { b: undefined } }],
  ['a large integer', 1n],
])('%s is accepted or refused as by z.json()', (_what, value) => {
  const [own, given] = [anyJson, z.json()].map((schema) => schema.safeParse(value));
  expect([own?.success, own?.data]).toEqual([given?.success, given?.data]);
  expect(JSON.stringify(own?.data)).toBe(JSON.stringify(given?.data));
});

import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '#shared/docs/project/json-values.ts';
import { headerValue, parameterPairs } from './parameter-style.ts';

const list = ['a', 'b c'];
const object = { from: 'x', deep: { to: 1 } };

test.each<[written: JsonObject, value: JsonValue, pairs: string[][]]>([
  [{}, 'text', [['p', 'text']]],
  [
    {},
    list,
    [
      ['p', 'a'],
      ['p', 'b c'],
    ],
  ],
  [{ explode: false }, list, [['p', 'a,b c']]],
  [{ style: 'pipeDelimited' }, list, [['p', 'a|b c']]],
  [{ style: 'spaceDelimited', explode: false }, list, [['p', 'a b c']]],
  [
    { style: 'deepObject', explode: true },
    object,
    [
      ['p[from]', 'x'],
      ['p[deep][to]', '1'],
    ],
  ],
  [
    {},
    object,
    [
      ['from', 'x'],
      ['deep', '{"to":1}'],
    ],
  ],
  [{ explode: false }, object, [['p', 'from,x,deep,{"to":1}']]],
  [{ content: {} }, object, [['p', '{"from":"x","deep":{"to":1}}']]],
])('a parameter %j is serialized by style and explode', (written, value, pairs) => {
  expect(parameterPairs(written, 'p', value)).toEqual(pairs);
});

test('a header is serialized by style and explode', () => {
  expect(headerValue({}, list)).toBe('a,b c');
  expect(headerValue({}, object)).toBe('from,x,deep,{"to":1}');
  expect(headerValue({ explode: true }, { a: 1, b: 2 })).toBe('a=1,b=2');
});

test('nesting and repetition of a value are bounded', () => {
  const deep = JSON.parse(`${'{"a":'.repeat(500)}1${'}'.repeat(500)}`) as JsonValue;
  expect(parameterPairs({ style: 'deepObject' }, 'p', deep)).toHaveLength(1);
  expect(
    parameterPairs(
      {},
      'p',
      Array.from({ length: 500 }, () => 'x'),
    ).length,
  ).toBeLessThan(20);
});

import { expect, test } from 'vitest';
import { jsonLines } from './json-lines.ts';
import { tokenize } from './prism.ts';
import { classifiedLines } from './token-classes.ts';

const texts = ['a', '', ' :b', ':', '"', '\\', 'x:y', '\u2028', 'é', 'true', '1', '//', '/*', '{', '\t', '\u0001'];
const inserted = ['"', ',', '\\', 'a', ' ', '\n', '/', '-', '.', 'null', '9', ':', '\r', ' // x', "'"];

/** Always the same numbers below `limit`. */
let seed = 7;
function next(limit: number): number {
  seed = (seed * 1_103_515_245 + 12_345) % 0x80000000;
  return Math.floor((seed / 0x80000000) * limit);
}
const one = <T>(values: readonly T[]): T => values[next(values.length)] as T;

function value(depth: number): unknown {
  const text = (): string => one(texts) + one(texts);
  const many = (): unknown[] => Array.from({ length: next(5) }, () => value(depth + 1));
  switch (next(depth > 3 ? 4 : 7)) {
    case 0:
      return (next(1_000) - 500) * one([1, 0.001, 1e30]);
    case 1:
      return one([true, false, null]);
    case 2:
    case 3:
      return text();
    case 4:
      return many();
    default:
      return Object.fromEntries(many().map((item) => [text(), item]));
  }
}

test('what is plainly JSON looks as Prism has it', () => {
  let made = 0;
  for (let count = 0; count < 2_000; count += 1) {
    const whole = JSON.stringify(value(0), undefined, one([0, 2, '\t']));
    const at = next(whole.length);
    const code = count % 2 === 0 ? whole : whole.slice(0, at) + one(inserted) + whole.slice(at + next(2));
    const lines = jsonLines(code);
    if (lines === undefined) continue;
    made += 1;
    expect({ code, lines }).toEqual({ code, lines: classifiedLines(tokenize(code, 'json'), 'json') });
  }
  expect(made).toBeGreaterThan(1_000);
});

test.each(['{ "a": 1 } // why', "{ 'a': 1 }", '{ a: 1 }', '["b", ": c"]', '1a', '{"a": nulls}', '\\"'])(
  '%s is left to Prism',
  (code) => expect(jsonLines(code)).toBeUndefined(),
);

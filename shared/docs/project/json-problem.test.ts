import { expect, test } from 'vitest';
import { jsonProblem } from './json-problem.ts';

test.each([
  ['{\n  "a": 1,\n}', 'line 2, column 9: remove the comma before "}"'],
  ['{ "a": [1, 2,] }', 'line 1, column 13: remove the comma before "]"'],
  ['{\n "a": 1\n "b": 2 }', 'line 3, column 2: a comma is missing before this'],
  ['[{} {}]', 'line 1, column 5: a comma is missing before this'],
  ['{ "a" 1 }', 'line 1, column 7: a colon is missing before this'],
  ['{ a: 1 }', 'line 1, column 3: put "a" into double quotes, or correct it'],
  ['{ "a": tru }', 'line 1, column 8: put "tru" into double quotes, or correct it'],
  ["{ 'a': 1 }", 'line 1, column 3: write names and texts in double quotes'],
  ['{ // why\n "a": 1 }', 'line 1, column 3: remove the comment. JSON has none'],
  ['{ "a": "x\n" }', 'line 1, column 8: the text that begins here does not end in its line. Close it with a quote'],
  ['{ "a": { "b": 1 ', 'line 1, column 8: the "{" here is never closed. Add "}"'],
  ['{ "a": [1 }', 'line 1, column 11: this closes "[" of line 1, column 8. Write "]"'],
  ['{ "a": 1 }}', 'line 1, column 11: there is a "}" too many. Remove it'],
  [' \n', 'the file is empty'],
])('%j', (text, problem) => {
  expect(() => JSON.parse(text)).toThrow(SyntaxError);
  expect(jsonProblem(text)).toBe(problem);
});

test.each(['{"a": [true, null, -1.5e3, "x\\"y\\\\"], "b": {}}', '"x"', '[]'])('valid JSON has none: %s', (text) => {
  expect(JSON.parse(text)).toBeDefined();
  expect(jsonProblem(text)).toBeUndefined();
});

test('a large text takes time in proportion to its size', () => {
  expect(jsonProblem(`[${'["\\\\",'.repeat(300_000)}`)).toMatch(/is never closed/);
  expect(jsonProblem('"'.repeat(1_000_001))).toMatch(/comma is missing/);
});

import { expect, test } from 'vitest';
import { checkJsonShape, mostContainers } from './json-shape.ts';

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const list = (values: readonly unknown[]) => JSON.stringify(values);

test.each<[string, string, string?]>([
  ['at the maximum depth', nested(100)],
  ['deeper', nested(101), 'The body is nested deeper than 100 levels.'],
  ['deep and without an end', '['.repeat(500_000), 'The body is nested deeper than 100 levels.'],
  ['many values', list(Array(20_000).fill(1))],
  ['too many values', list(Array(20_001).fill(1)), 'The body has more than 20000 values.'],
  ['many objects', `[${'{},'.repeat(mostContainers - 2)}{}]`],
  ['too many objects', `[${'{},'.repeat(mostContainers - 1)}{}]`, 'The body has more than 10000 objects and lists.'],
  ['brackets, commas and quotes in a text', list(['[{,'.repeat(100_000), '"[\\"'.repeat(1_000), '\\'])],
  ['after a text that ends with a backslash', `${list(['\\'])}${nested(101)}`, 'The body is nested deeper'],
  ['a body that is not JSON', ']]]}}}"'],
])('%s', (_, text, problem) => {
  for (const body of [text, Buffer.from(text)]) {
    const check = () => checkJsonShape(body);
    if (problem === undefined) expect(check).not.toThrow();
    else expect(check).toThrow(problem);
  }
});

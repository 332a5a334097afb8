import { expect, test } from 'vitest';
import { safeStyle } from './sanitize-content.ts';

const cases: [style: string, kept: string | undefined][] = [
  ['color: red; margin-top: 4px', 'color: red; margin-top: 4px'],
  ['position: fixed; inset: 0', 'inset: 0'],
  ['background: url(https://x)', undefined],
  ['background: u\\72l(https://x)', undefined],
  ['width: 10px; background-image: image-set("x" 1x)', 'width: 10px'],
  ['z-index: 2147483647', undefined],
  ['--tree-highlight: #fff', '--tree-highlight: #fff'],
  ['behavior: x; -moz-binding: y', undefined],
  ['color: red/* ; */; width: 1px', 'color: red; width: 1px'],
];

test.each(cases)('%s', (style, kept) => {
  expect(safeStyle(style)).toBe(kept);
});

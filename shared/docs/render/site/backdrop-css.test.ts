import { expect, test } from 'vitest';
import { backdropCss } from './backdrop-css.ts';

const isThere = (path: string): boolean => path === 'images/a (b).svg' || path === 'dark.png';

test('a project without a background has none', () => {
  for (const background of [undefined, null, 'gradient', { color: { light: '#eeeeee' } }, { decoration: 'stripes' }])
    expect(backdropCss(background, isThere)).toBe('');
});

test.each(['gradient', 'grid', 'windows'])('%s is drawn behind the top of the page, but not in print', (decoration) => {
  const css = backdropCss({ decoration }, isThere);
  expect(css).toContain('@media screen');
  expect(css).toMatch(/body::before \{[^}]*z-index: -1;[^}]*pointer-events: none;[^}]*gradient\(/);
});

test('the address of a picture is relative to the style sheet, for each mode', () => {
  const css = backdropCss({ image: { light: '/images/a (b).svg', dark: 'dark.png' }, decoration: 'grid' }, isThere);
  expect(css).toContain(':root {\n  --backdrop: url("../images/a%20(b).svg") top center');
  expect(css).toContain(':root.dark {\n  --backdrop: url("../dark.png") top center');
  expect(css).not.toContain('gradient(');
});

test('a picture that is not in the bundle is left out', () => {
  for (const image of ['https://example.com/a.png', '/none.png', '"); } body { display: none', '//example.com/a.png'])
    expect(backdropCss({ image }, isThere)).toBe('');
});

import { expect, test } from 'vitest';
import { contrast, fromHex, paletteCss, toHex } from './palette.ts';

test('a colour survives the conversion to OKLCH and back', () => {
  for (const hex of ['#000000', '#ffffff', '#0f766e', '#2d00f7', '#ffff00']) {
    const color = fromHex(hex);
    expect(color && toHex(color)).toBe(hex);
  }
});

/** Yellow is too light for text on white, navy too dark on black. Both must become readable. */
const primaries = [
  '#ffff00',
  '#000080',
  '#0f766e',
  '#2d00f7',
  '#ffffff',
  '#000000',
  '#808080',
  '#757575',
  '#777777',
  '#e11d48',
  '#f97316',
  '#10b981',
  '#3b82f6',
  'nonsense',
];

/** The two modes of a style sheet, each as a function from a variable's name to its value. */
function modesOf(css: string): ((name: string) => string)[] {
  return css
    .split(':root.dark')
    .map((mode) => (name) => new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(mode)?.[1] ?? '');
}

/** Backgrounds of a project. The last ones would make a light page dark and a dark page light. */
const grounds = [undefined, '#eeeeee', '#f7f7f7', '#222831', '#1a003b', '#ff00ff', '#000', '#fff', 'nonsense'];

test.each(primaries)('text of %s has a contrast of 4.5:1 in both modes, on any background', (primary) => {
  for (const color of grounds) {
    const background = color === undefined ? undefined : { color: { light: color, dark: color } };
    for (const value of modesOf(paletteCss({ colors: { primary }, background }))) {
      for (const text of ['text', 'strong', 'muted', 'accent-text']) {
        for (const ground of ['bg', 'surface', 'raised', 'sunken'])
          expect([color, text, ground, contrast(value(text), value(ground)) >= 4.5]).toEqual([
            color,
            text,
            ground,
            true,
          ]);
      }
      for (const signal of ['note', 'tip', 'good', 'warn', 'bad'])
        expect([color, signal, contrast(value(signal), value('bg')) >= 4.5]).toEqual([color, signal, true]);
      for (const ground of ['accent', 'accent-hover'])
        expect(contrast(value('on-accent'), value(ground))).toBeGreaterThanOrEqual(4.5);
    }
  }
});

test('a banner of an unknown type has the colour of the site, whatever its name', () => {
  const painted = { colors: { primary: '#0f766e' } };
  for (const type of ['constructor', 'toString', '__proto__'])
    expect(paletteCss({ ...painted, banner: { content: 'x', dismissible: false, type } })).toBe(paletteCss(painted));
});

test('a background that suits its mode is the project’s own', () => {
  const background = { color: { light: '#EEEEEE', dark: '#222831' } };
  expect(modesOf(paletteCss({ colors: { primary: '#2d00f7' }, background })).map((value) => value('bg'))).toEqual([
    '#eeeeee',
    '#222831',
  ]);
});

test('a banner has the project’s colours, or those of its type', () => {
  const colorsOf = (banner: object) =>
    modesOf(
      paletteCss({ colors: { primary: '#2d00f7' }, banner: { content: 'x', dismissible: false, ...banner } }),
    ).map((value) => [value('banner'), value('on-banner')]);
  expect(colorsOf({})).toEqual([
    ['', ''],
    ['', ''],
  ]);
  expect(colorsOf({ color: { light: '#1e3a5f', dark: '#ffd166' }, type: 'critical' })).toEqual([
    ['#1e3a5f', '#ffffff'],
    ['#ffd166', '#000000'],
  ]);
  expect(colorsOf({ type: 'critical' })[0]).toEqual(['#dc2626', '#ffffff']);
});

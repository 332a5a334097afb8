import { expect, test } from 'vitest';
import { contrast, fromHex, paletteCss, toHex } from './palette.ts';

test('a colour survives the way to OKLCH and back', () => {
  for (const hex of ['#000000', '#ffffff', '#0f766e', '#2d00f7', '#ffff00']) {
    const color = fromHex(hex);
    expect(color && toHex(color)).toBe(hex);
  }
});

/** Yellow is too light for text on white, navy too dark on black; both must be readable. */
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

test.each(primaries)('text of %s has a contrast of 4.5:1 in both modes', (primary) => {
  const css = paletteCss({ primary });
  const [light = '', dark = ''] = css.split(':root.dark');
  for (const mode of [light, dark]) {
    const value = (name: string) => new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(mode)?.[1] ?? '';
    for (const text of ['text', 'strong', 'muted', 'accent-text']) {
      for (const ground of ['bg', 'surface', 'sunken']) {
        expect([text, ground, contrast(value(text), value(ground)) >= 4.5]).toEqual([text, ground, true]);
      }
    }
    for (const ground of ['accent', 'accent-hover'])
      expect(contrast(value('on-accent'), value(ground))).toBeGreaterThanOrEqual(4.5);
  }
});

import { expect, test } from 'vitest';
import { findIcon } from './find-icon.ts';
import { drawingOf } from './icon-sets.ts';

test('a name is looked up in the own library first, then in the others', () => {
  expect(findIcon({ name: 'rocket' }, 'lucide')?.drawing).toBe(drawingOf('lucide', 'rocket'));
  expect(findIcon({ name: 'rocket' }, 'tabler')?.drawing).toBe(drawingOf('tabler', 'rocket'));
  expect(findIcon({ name: 'rocket' }, 'fontawesome')?.drawing).toBe(drawingOf('fa-solid', 'rocket'));
  expect(findIcon({ name: 'stripe' }, 'lucide')?.drawing).toBe(drawingOf('fa-brands', 'stripe'));
  expect(findIcon({ name: 'refresh-cw' }, 'fontawesome')?.drawing).toBe(drawingOf('lucide', 'refresh-cw'));
});

test('a style is the free one that is nearest', () => {
  const regular = drawingOf('fa-regular', 'circle');
  for (const type of ['regular', 'light', 'thin', 'sharp-light'])
    expect(findIcon({ name: 'circle', type }, 'fontawesome')?.drawing).toBe(regular);
  for (const type of ['solid', 'sharp-solid', 'duotone', undefined])
    expect(findIcon({ name: 'circle', type }, 'fontawesome')?.drawing).toBe(drawingOf('fa-solid', 'circle'));
  expect(findIcon({ name: 'rocket', type: 'regular' }, 'fontawesome')?.drawing).toBe(drawingOf('fa-solid', 'rocket'));
});

test('every way to write a name is read', () => {
  const house = findIcon({ name: 'house' }, 'fontawesome')?.drawing;
  for (const name of ['fa-house', 'fa-solid fa-house', 'fas fa-house', ' House ', 'home'])
    expect([name, findIcon({ name }, 'fontawesome')?.drawing.children]).toEqual([name, house?.children]);
  expect(findIcon({ name: 'fa-regular fa-circle' }, 'fontawesome')?.drawing).toBe(drawingOf('fa-regular', 'circle'));
  expect(findIcon({ name: 'CircleCheck' }, 'lucide')?.drawing).toBe(drawingOf('lucide', 'circle-check'));
  expect(findIcon({ name: 'GitHub' }, 'fontawesome')).toEqual({ drawing: drawingOf('fa-brands', 'github') });
  expect(findIcon({ name: 'IconHome' }, 'tabler')?.drawing).toBe(drawingOf('tabler', 'home'));
  // These aliases are only in the package.
  expect(findIcon({ name: 'alert-circle' }, 'lucide')?.drawing).toBe(drawingOf('lucide', 'circle-alert'));
});

test('an icon that is sold has a free one in its place', () => {
  expect(findIcon({ name: 'user-robot' }, 'fontawesome')).toEqual({ drawing: drawingOf('fa-solid', 'robot') });
  // The whole name is in no library, but its first word is in one.
  expect(findIcon({ name: 'rocket-of-ours' }, 'fontawesome')).toEqual({
    drawing: drawingOf('fa-solid', 'rocket'),
    instead: 'rocket',
  });
});

test('unknown names have no icon', () => {
  const names = ['', '-', ' ', '__proto__', 'constructor', 'x'.repeat(10_000), '<svg onload=x>', 'llama-of-nobody'];
  expect(names.filter((name) => findIcon({ name }, 'fontawesome') !== undefined)).toEqual([]);
});

test('attributes that all shapes share are on the svg element', () => {
  const { properties, children } = drawingOf('lucide', 'menu') ?? { properties: {}, children: [] };
  expect(properties).toEqual({
    viewBox: '0 0 24 24',
    fill: 'none',
    stroke: 'currentColor',
    strokeLineCap: 'round',
    strokeLineJoin: 'round',
    strokeWidth: '2',
  });
  expect(children.map((child) => Object.keys(child.properties))).toEqual([['d']]);
});

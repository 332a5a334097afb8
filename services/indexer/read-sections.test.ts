import type { Element, ElementContent } from 'hast';
import { expect, test } from 'vitest';
import { writeContent } from '#shared/docs/render/content/write-content.ts';
import { SafeHtml } from '#shared/docs/render/html.ts';
import { seededRandom } from '../../test/support/chaos/fault-injection.ts';
import { readSections } from './read-sections.ts';

const names =
  'p p div span li ul table tbody tr td th caption a a button h1 h2 h3 h5 br img hr svg title iframe script kbd pre code tooltip style center font blockquote'.split(
    ' ',
  );
const classes = [[], ['tab-title'], ['badge'], ['tooltip-content'], ['heading-anchor']];

function content(random: () => number, depth = 0): ElementContent[] {
  const below = (count: number): number => Math.floor(random() * count);
  return Array.from({ length: 1 + below(4) }, (): ElementContent => {
    const kind = below(depth > 4 ? 3 : 9);
    if (kind < 2) return { type: 'text', value: [' ', 'a', 'b \n c', ''][below(4)] ?? '' };
    const of = below(2) === 0 ? 'code' : 'formula';
    if (kind === 2) return { type: 'typeset', of, text: 'd\ne', html: () => new SafeHtml('<i>d</i>') };
    const element = (id: string): Element => ({
      type: 'element',
      tagName: names[below(names.length)] ?? '',
      properties: { className: classes[below(classes.length * 3)] ?? [], ...(id !== '' && { id }) },
      children: content(random, depth + 1),
    });
    const made = element(below(3) === 0 ? `id-${below(99)}` : '');
    return kind === 3
      ? { type: 'repeated', id: 'f', alike: {}, element: (id) => ({ ...made, properties: { id } }) }
      : made;
  });
}

test('sections have the text that the renderer writes', () => {
  const numbers = seededRandom(1);
  for (let tree = 0; tree < 2_000; tree += 1) {
    const made = content(() => numbers.fraction());
    expect(readSections(made), `tree ${tree}`).toEqual(writeContent(made).sections);
  }
});

test('hidden content is not read, nor are its headings', () => {
  const text = (value: string) => ({ type: 'text' as const, value });
  const hidden: Element = {
    type: 'element',
    tagName: 'div',
    properties: { style: 'display: none' },
    children: [{ type: 'element', tagName: 'h2', properties: { id: 'b' }, children: [text('b')] }, text('c')],
  };
  expect(readSections([text('a'), hidden, text('d')])).toEqual([{ anchor: '', heading: '', text: 'ad' }]);
});

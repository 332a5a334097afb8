import type { Element, ElementContent } from 'hast';
import { h, toText } from './content-tree.ts';

/** Tables with fewer rows are painted at once. */
const fewestRows = 24;
/** A wide column: longer words scroll, longer texts wrap. In characters. */
const longestWord = 48;
const longestText = 72;
/** Room for words of a text that has more, so that it is no ribbon. */
const fewestWords = 20;
/** What is between columns, and a table of the usual measure, in characters. */
const gap = 2;
const usualWidth = 78;
/** Characters of code are smaller. */
const codeSize = 0.85;

/**
 * A long table with fixed columns, as wide as a browser would make them. It paints such a table while it still reads it, and without fixed columns each
 * further row can move all that is there.
 */
export function withFixedColumns(table: Element): Element {
  const rows = table.children.flatMap((part) => elementsOf(part).filter(({ tagName }) => tagName === 'tr'));
  if (rows.length < fewestRows) return table;
  const columns: { word: number; text: number }[] = [];
  for (const row of rows)
    for (const [place, cell] of elementsOf(row).entries()) {
      const column = (columns[place] ??= { word: 0, text: 0 });
      const { word, text } = lengthsOf(cell);
      column.word = Math.max(column.word, Math.min(Math.max(word, Math.min(text, fewestWords)), longestWord) + gap);
      column.text = Math.max(column.text, Math.min(text, longestText) + gap, column.word);
    }
  // As tables without fixed columns: each has its longest word, and what is left goes where text would wrap.
  const words = columns.reduce((sum, { word }) => sum + word, 0);
  const wrapped = columns.reduce((sum, { word, text }) => sum + text - word, 0);
  const left = Math.max(0, usualWidth - words);
  const widths = columns.map(({ word, text }) => word + (wrapped === 0 ? 0 : (left * (text - word)) / wrapped));
  const total = widths.reduce((sum, width) => sum + width, 0);
  // So narrow that the fullest column has just its longest word.
  const least = Math.ceil(Math.max(...columns.map(({ word }, place) => (word * total) / (widths[place] ?? word))));
  return {
    ...table,
    properties: { ...table.properties, style: `table-layout: fixed; min-width: ${least}ch` },
    children: [
      h(
        'colgroup',
        widths.map((width) => h('col', { style: `width: ${((100 * width) / total).toFixed(1)}%` })),
      ),
      ...table.children,
    ],
  };
}

const elementsOf = (node: ElementContent): Element[] =>
  node.type === 'element' ? node.children.filter((child) => child.type === 'element') : [];

/** Characters of its longest word and of its whole text. Lines break at the same places as in a browser, or at fewer. */
function lengthsOf(cell: Element): { word: number; text: number } {
  const whole = toText(cell.children);
  const size = elementsOf(cell).some(({ tagName }) => tagName === 'code') ? codeSize : 1;
  const words = whole.split(cell.tagName === 'th' ? /\n/ : /[\s\u2e80-\uffef-]/u);
  return {
    word: size * words.reduce((most, { length }) => Math.max(most, length), 0),
    text: size * whole.trim().length,
  };
}

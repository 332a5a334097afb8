import type { Element, ElementContent } from 'hast';
import { h, toText } from './content-tree.ts';

/** Number of rows from which columns are fixed. Browsers paint shorter tables at once. */
const fewestRows = 24;
/** Maximum width of a column in characters: longer words scroll, longer texts wrap. */
const longestWord = 48;
const longestText = 72;
/** Minimum width of a column with a longer text, so that it does not become too narrow. */
const fewestWords = 20;
/** Space between columns, and usual width of a table, in characters. */
const gap = 2;
const usualWidth = 78;
/** Width of a character of code relative to text. */
const codeSize = 0.85;

/**
 * Fixes the columns of a long table at the widths that a browser would choose. Browsers paint a long table while they still load it, and without
 * fixed columns each further row can shift the rows above.
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
  // As in tables without fixed columns, each column gets the width of its longest word, and the remaining width goes to columns whose text wraps.
  const words = columns.reduce((sum, { word }) => sum + word, 0);
  const wrapped = columns.reduce((sum, { word, text }) => sum + text - word, 0);
  const left = Math.max(0, usualWidth - words);
  const widths = columns.map(({ word, text }) => word + (wrapped === 0 ? 0 : (left * (text - word)) / wrapped));
  const total = widths.reduce((sum, width) => sum + width, 0);
  // The minimum width at which the fullest column holds its longest word.
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

/** Number of characters of the cell's longest word and of its whole text. Words are split at the places where a browser breaks lines, or at fewer. */
function lengthsOf(cell: Element): { word: number; text: number } {
  const whole = toText(cell.children);
  const size = elementsOf(cell).some(({ tagName }) => tagName === 'code') ? codeSize : 1;
  const words = whole.split(cell.tagName === 'th' ? /\n/ : /[\s\u2e80-\uffef-]/u);
  return {
    word: size * words.reduce((most, { length }) => Math.max(most, length), 0),
    text: size * whole.trim().length,
  };
}

import type { Element } from 'hast';
import { describe, expect, test } from 'vitest';
import { h, toText } from './content-tree.ts';
import { withFixedColumns } from './table-columns.ts';

const table = (rows: number, ...cells: string[]): Element =>
  h('table', [
    h(
      'tbody',
      Array.from({ length: rows }, () =>
        h(
          'tr',
          cells.map((cell) => h('td', cell)),
        ),
      ),
    ),
  ]);

/** Widths of the table's columns in percent, and its minimum width in characters. */
function layoutOf(made: Element): { widths: number[]; least: number } | undefined {
  const [group] = made.children;
  if (group?.type !== 'element' || group.tagName !== 'colgroup') return undefined;
  const style = (column: unknown): string => String((column as Element).properties.style);
  return {
    widths: group.children.map((column) => Number(/^width: ([\d.]+)%$/.exec(style(column))?.[1])),
    least: Number(/table-layout: fixed; min-width: (\d+)ch/.exec(style(made))?.[1]),
  };
}

describe('columns of a table', () => {
  test('are left to the browser in a short table', () => {
    const short = table(23, 'a', 'b');
    expect(withFixedColumns(short)).toBe(short);
  });

  test('are fixed in a long table, wider for more text', () => {
    const made = withFixedColumns(
      table(24, 'name', 'a sentence of some length, which wraps where there is no room for it'),
    );
    const [name = 0, sentence = 0] = layoutOf(made)?.widths ?? [];
    expect(name + sentence).toBeCloseTo(100, 0);
    expect(sentence).toBeGreaterThan(5 * name);
    expect(toText(made.children)).toBe(
      toText(table(24, 'name', 'a sentence of some length, which wraps where there is no room for it').children),
    );
  });

  test('hold their longest words at the least width', () => {
    const word = 'BINDERY_ELASTICSEARCH_INDEX_PREFIX';
    const { widths, least } = layoutOf(withFixedColumns(table(30, word, 'x '.repeat(200), ''))) ?? {
      widths: [],
      least: 0,
    };
    expect((least * (widths[0] ?? 0)) / 100).toBeGreaterThan(word.length);
    expect(widths.every((width) => width > 0)).toBe(true);
  });
});

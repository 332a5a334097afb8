import { expect, test } from 'vitest';
import { searchesTable, viewsTable } from './site.ts';

const range = { domain: 'docs', from: '2026-02-01', to: '2026-03-01' };

test('page views are a table with what is not listed at its end', () => {
  const entries = [
    { name: 'news.example', views: 12 },
    { name: 'search.example', views: 3 },
  ];
  const table = viewsTable({ ...range, by: 'referrer', total: 40, direct: 20, entries, other: 5 });
  expect(table.split('\n').map((line) => line.trimEnd().replaceAll(/ {2,}/g, '  '))).toEqual([
    'Referrer  Views',
    'news.example  12',
    'search.example  3',
    '(none, or the site itself)  20',
    '(others)  5',
    '40 page views from 2026-02-01 to 2026-03-01 (UTC).',
  ]);
  expect(viewsTable({ ...range, by: 'day', total: 0, entries: [], other: 0 })).toBe(
    '0 page views from 2026-02-01 to 2026-03-01 (UTC).',
  );
  expect(viewsTable({ ...range, by: 'day', total: 1, entries: [], other: 0 })).toContain('1 page view from');
});

test('words of readers cannot write to the terminal', () => {
  const queries = [{ query: 'sso \u001b[31m', searches: 9, empty: 8 }];
  const table = searchesTable({ ...range, total: 10, empty: 8, queries, other: 1, days: [] });
  expect(table).not.toContain('\u001b');
  expect(table.split('\n').at(-1)).toBe('10 searches from 2026-02-01 to 2026-03-01 (UTC), 8 of them found nothing.');
});

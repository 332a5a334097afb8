import { expect, test } from 'vitest';
import { importsOfPages } from './page-imports.ts';

type Sources = Parameters<typeof importsOfPages>[1];

/** A number of pages that all import the first of a chain of snippets. Each snippet has a different link. */
function sourcesOf(pages: number, snippets: number): Sources {
  const sources = new Map<string, { imports: string[]; linkTargets: string[] }>();
  for (let at = 0; at < pages; at += 1) sources.set(`p${at}`, { imports: ['s0'], linkTargets: ['/own'] });
  for (let at = 1; at <= snippets; at += 1)
    sources.set(`s${at - 1}`, { imports: at < snippets ? [`s${at}`] : [], linkTargets: [`/to/${at}`] });
  return sources;
}
const pagesOf = (count: number): string[] => Array.from({ length: count }, (_, at) => `p${at}`);

test('entries of pages have the names of all files that the pages reach', () => {
  const imports = importsOfPages(pagesOf(2), sourcesOf(2, 3));
  const entry = { dependencies: ['s0', 's1', 's2'], linkTargets: ['/own', '/to/1', '/to/2', '/to/3'] };
  expect([...imports]).toEqual(pagesOf(2).map((file) => [file, entry]));
});

test('where thousands of pages reach thousands of files, entries have the own names of each page', () => {
  const imports = importsOfPages(pagesOf(3_000), sourcesOf(3_000, 3_000));
  expect(imports.size).toBe(3_000);
  expect(new Set([...imports.values()].map((entry) => JSON.stringify(entry)))).toEqual(
    new Set([JSON.stringify({ dependencies: ['s0'], linkTargets: ['/own'] })]),
  );
});

test('a page that imports itself through others does not name itself', () => {
  const sources = new Map([
    ['p0', { imports: ['p0', 's0'], linkTargets: [] }],
    ['s0', { imports: ['p0'], linkTargets: [] }],
  ]);
  expect(importsOfPages(['p0'], sources).get('p0')?.dependencies).toEqual(['s0']);
});

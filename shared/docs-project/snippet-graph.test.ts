import { expect, it } from 'vitest';
import { importCycles, reachableImports } from './snippet-graph.ts';

const graph = (edges: Record<string, string[]>) => (file: string) => edges[file] ?? [];

it('reaches through circles and shared files', () => {
  const of = graph({ a: ['b', 'c'], b: ['d'], c: ['d'], d: ['a'] });
  expect(reachableImports('a', of)).toEqual(['b', 'c', 'd']);
});

it('names circles by their chain, once', () => {
  const of = graph({ page: ['a'], a: ['b'], b: ['a', 'c'], c: ['c'] });
  expect(importCycles(['a', 'b', 'c', 'page'], of)).toEqual([
    ['a', 'b', 'a'],
    ['c', 'c'],
  ]);
  expect(importCycles(['a', 'b'], graph({ a: ['b', 'c'], b: ['c'] }))).toEqual([]);
});

it('follows chains of any length', () => {
  const of = (file: string): string[] => (Number(file) < 50_000 ? [String(Number(file) + 1)] : []);
  expect(reachableImports('0', of)).toHaveLength(50_000);
  expect(importCycles(['0'], of)).toEqual([]);
});

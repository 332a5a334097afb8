import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './source-files.ts';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const files = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'];

/** Our files and folders that a text names: in links, and as code that begins with a top-level folder. */
function namedPaths(text: string): string[] {
  const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, path = '']) => path);
  const code = [...text.matchAll(/`((?:services|shared|infra|test)\/[\w./-]+)`/g)].map(([, path = '']) => path);
  return [...links, ...code];
}

test.each(files)('every file that %s names exists', (file) => {
  expect(namedPaths('[a](b.md) `shared/none.ts`')).toEqual(['b.md', 'shared/none.ts']);
  expect(namedPaths(read(file)).filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test.each([
  ['Request to link', 45],
  ['Publish', 25],
  ['Question to answer', 20],
])('a reader of the flow "%s" opens at most %i files', (flow, most) => {
  const section = read('ARCHITECTURE.md').split(`### ${flow}\n`)[1]?.split(/^##/m)[0] ?? '';
  const listed = [...section.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, path]) => path);
  expect(listed.length).toBeGreaterThan(10);
  expect(listed.length).toBeLessThanOrEqual(most);
  expect(new Set(listed).size).toBe(listed.length);
});

test('the changelog is read in a few minutes, and says nothing twice', () => {
  const changelog = read('CHANGELOG.md');
  // A merge that keeps both sides of a conflict brings back lines that were removed.
  expect(changelog.split(/\s+/).length).toBeLessThan(4_500);
  const lines = changelog.split('\n').filter((line) => line.startsWith('- '));
  expect(lines.filter((line, index) => lines.indexOf(line) < index)).toEqual([]);
});

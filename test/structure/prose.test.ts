import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './source-files.ts';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');

test('the documentation gives a reason for every dependency, and for no other package', () => {
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
  const rows = read('infra/docs/operate/dependencies.mdx')
    .split('\n')
    .flatMap((line) => line.match(/^\| (`.*`) \| \S.*\|$/)?.[1] ?? []);
  const named = rows.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  expect(new Set(named)).toEqual(new Set(Object.keys(dependencies)));
});

const files = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'].filter((file) =>
  existsSync(join(root, file)),
);

/** Files and folders of ours that a text names: in links, and as code that begins with a top folder. */
function namedPaths(text: string): string[] {
  const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, path = '']) => path);
  const code = [...text.matchAll(/`((?:services|shared|infra|test)\/[\w./-]+)`/g)].map(([, path = '']) => path);
  return [...links, ...code];
}

test.each(files)('every file that %s names is there', (file) => {
  const named = namedPaths(read(file));
  expect(namedPaths('[a](b.md) `shared/none.ts`')).toEqual(['b.md', 'shared/none.ts']);
  expect(named.filter((path) => !existsSync(join(root, posix.normalize(path))))).toEqual([]);
});

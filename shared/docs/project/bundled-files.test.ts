import { expect, test } from 'vitest';
import { memoryProject } from '../../../test/support/memory-project.ts';
import { bundledFiles } from './bundled-files.ts';
import { readDocsProject } from './read-docs-project.ts';

const settings = { theme: 'mint', name: 'Acme', colors: { primary: '#112233' }, navigation: { pages: ['start'] } };

async function published(files: Record<string, string>) {
  const model = await readDocsProject(
    memoryProject({ 'docs.json': JSON.stringify(settings), 'start.mdx': 'x', ...files }),
  );
  return {
    pages: model.pages.map(({ path }) => path).filter((path) => path !== 'start'),
    files: [...model.assets, ...model.styles, ...model.scripts].map(({ path }) => path),
    found: model.diagnostics.map(({ severity, code, file }) => [severity, code, file]),
  };
}

test('pages and files yield to files that pages need', async () => {
  expect(
    await published({ '404.mdx': 'x', '_bindery/a.mdx': 'x', '_Bindery/theme.css': 'a{}', '_BINDERY/x.png': 'x' }),
  ).toEqual({
    pages: [],
    files: [],
    found: [
      ['error', 'name-taken', '404.mdx'],
      ['error', 'name-taken', '_bindery/a.mdx'],
      ['error', 'name-taken', '_BINDERY/x.png'],
      ['error', 'name-taken', '_Bindery/theme.css'],
    ],
  });
});

test('generated files yield to files of the project, and an odd spelling is reported', async () => {
  expect(await published({ 'robots.txt': 'x', 'sitemap.xml': 'x', 'LLMS.TXT': 'x', 'INDEX.mdx': 'x' })).toEqual({
    pages: ['INDEX'],
    files: ['LLMS.TXT', 'robots.txt', 'sitemap.xml'],
    found: [
      ['warning', 'generated-file-left-out', 'LLMS.TXT'],
      ['warning', 'generated-file-left-out', 'INDEX.mdx'],
    ],
  });
});

test.each([
  ['what Windows reserves', ['guides/con.mdx', 'Aux/a.mdx', 'nul.foo.png', 'com\u00b9.png']],
  ['what Windows drops', ['a./b.mdx', 'c /d.mdx']],
  ['what Windows does not allow', ['what?.mdx', 'a:b.png', 'x*.mdx']],
  ['too long', [`${'x'.repeat(251)}.mdx`, `${'x'.repeat(100)}/${'y'.repeat(200)}/${'z'.repeat(220)}.png`]],
])('names that are %s are left out', async (_why, names) => {
  const { pages, files, found } = await published(Object.fromEntries(names.map((name) => [name, 'x'])));
  expect([...pages, ...files]).toEqual([]);
  expect(found).toHaveLength(names.length);
});

test('of two names that are equal on some system one is left out, and so is a file whose name is a folder', () => {
  const named = (...paths: string[]) => paths.map((path) => ({ path }));
  const refused: string[] = [];
  const { pages, files } = bundledFiles(
    named('a', 'a.html/b', 'stra\u00dfe', 'x.png'),
    named('A.MD', 'STRASSE.html', 'b/e\u0301.png', 'B/\u00e9.png', 'x.png.html/y.png', 'ok/x.png'),
    (_what, path, problem) => refused.push(`${path} ${problem}`),
  );
  expect(pages).toEqual(named('a', 'stra\u00dfe', 'x.png'));
  expect(files).toEqual(named('b/e\u0301.png', 'ok/x.png'));
  expect(refused).toEqual([
    'a.html/b.html is in "a.html", which is a file',
    'A.MD has the same name as "a.md" on many systems',
    'STRASSE.html has the same name as "stra\u00dfe.html" on many systems',
    'B/\u00e9.png has the same name as "b/e\u0301.png" on many systems',
    'x.png.html/y.png is in "x.png.html", which is a file',
  ]);
});

import { expect, test } from 'vitest';
import { renderedContent, testProject } from './test-project.ts';

const barriers = new Set(['missing-alt-text', 'skipped-heading-level', 'empty-link-text', 'vague-link-text']);
const found = async (source: string): Promise<string[]> =>
  (await renderedContent(source)).page.diagnostics
    .filter(({ code }) => barriers.has(code))
    .map(({ code, line, column }) => `${line}:${column} ${code}`);

test.each([
  ['![](https://example.com/a.png)', ['1:1 missing-alt-text']],
  ['<img src="https://example.com/a.png" />', ['1:1 missing-alt-text']],
  ['![A chart](https://example.com/a.png)', []],
  ['<img src="https://example.com/a.png" alt="" />', []],
  ['<img src="https://example.com/a.png" role="presentation" />', []],
  ['<div aria-hidden="true"><img src="https://example.com/a.png" /></div>', []],
  ['# A\n\n### B\n\n#### C\n\n## D\n\n#### E', ['3:1 skipped-heading-level', '9:1 skipped-heading-level']],
  ['## A\n\n<Accordion title="X">\n\n#### In a part of its own\n\n</Accordion>\n\n### B', []],
  [
    'Click [here](https://example.com).\n\nMore [**Here.**](https://example.com)',
    ['1:7 vague-link-text', '3:6 vague-link-text'],
  ],
  ['[How to export](https://example.com), for [Go](https://example.com)', []],
  ['[](https://example.com) <a href="https://example.com"></a>', ['1:1 empty-link-text', '1:25 empty-link-text']],
  ['<a id="old-name"></a> <a href="#x" id="y"></a> <a href="https://example.com" aria-label="The tool"></a>', []],
  ['[![Build](https://example.com/b.svg)](https://example.com)', []],
])('%j', async (source, expected) => {
  expect(await found(source)).toEqual(expected);
});

test('a finding in a snippet names the snippet and its line', async () => {
  const { render } = await testProject({
    'page.mdx': 'import S from "/snippets/s.mdx"\n\n# Page\n\n<S />\n',
    'snippets/s.mdx': '\n\nRead [here](/page#nowhere).\n\n![A](/none.png)\n',
  });
  const { page } = render('page');
  expect(page.diagnostics.map(({ code, file, line }) => `${file}:${line} ${code}`)).toEqual([
    'snippets/s.mdx:3 vague-link-text',
    'snippets/s.mdx:5 missing-file',
  ]);
  expect(page.linkFiles).toEqual(['snippets/s.mdx']);
});

import type { List, Nodes } from 'mdast';
import { expect, test } from 'vitest';
import { renderedContent } from '../test-project.ts';
import { pageMarkdown } from './page-markdown.ts';

const markdownOf = async (source: string, others: Record<string, string> = {}): Promise<string> =>
  (await renderedContent(`---\ntitle: Title\n---\n\n${source}`, others)).markdown.replace(/^# Title\n\n/, '');

test('blocks without evaluated parts stay as their author wrote them', async () => {
  const source =
    '## É 𝒳\n* one\n* _two_\n\n1) a\n\n| b |\n|---|\n| **c** |\n\n```js title="d" {1}\ne\n```\n\n[f][g] &amp; \\{h}\n\n[g]: /page\n';
  expect(await markdownOf(source)).toBe(source);
});

test('evaluated blocks are Markdown, between unchanged ones', async () => {
  const source = '* é 𝒳\n\n<Note>a *b*</Note>\n\n{1 + 1} c\n\n* d\n* e\n\n{/* f */}\n\n* g\n';
  expect(await markdownOf(source)).toMatch(
    /^\* é 𝒳\n\n> .*\n> \n?.*a _b_\n\n2 c\n\n\* d\n\* e\n\n<!-- -->\n\n\* g\n$/s,
  );
});

test('ids of headings, comments and variables are not in it', async () => {
  const markdown = await markdownOf('## A {#b}\n\nc <!-- d --> {{e}}\n', {
    'docs.json':
      '{"name":"T","theme":"mint","colors":{"primary":"#000000"},"variables":{"e":"f"},"navigation":{"pages":["page"]}}',
  });
  expect(markdown).toBe('## A\n\nc  f\n');
});

test('a snippet is not part of the source of its page', async () => {
  const snippets = { 'snippets/s.mdx': 'from *the* snippet\n' };
  const source = "import S from '/snippets/s.mdx'\n\na *b*\n\n<S />\n\nc *d*\n";
  expect(await markdownOf(source, snippets)).toBe('a *b*\n\nfrom _the_ snippet\n\nc *d*\n');
});

test('code that is indented with its fence keeps its indentation', async () => {
  expect(await markdownOf('a\n\n  ```js\n  b\n    c\n  ```\n')).toBe('a\n\n```js\nb\n  c\n```\n');
});

test('tags that are only text in a broken page are escaped', async () => {
  expect(await markdownOf('a <3\n\n<your-key>\n')).toContain('\\<your-key>');
});

test('fields of an API are written as any list', () => {
  const words = (value: string): Nodes => ({ type: 'paragraph', children: [{ type: 'text', value }] });
  const list = (isOfFields: boolean, ...items: Nodes[][]): List => ({
    type: 'list',
    ordered: false,
    spread: true,
    children: items.map((children) => ({ type: 'listItem', spread: true, children: children as never })),
    ...(isOfFields && { data: { isOfFields } }),
  });
  const described = [words('field b'), list(false, [words('one')], [words('two\nthree')])];
  const fields = list(
    true,
    [words('field a'), words('first\r\nsecond\n\n third')],
    [...described, list(true, [words('field c')], [words('field d'), { type: 'code', lang: 'js', value: 'e\n\n  f' }])],
    [words('field g'), list(true, [words('field h'), list(true, [words('field i')])]), list(false, [words('j')])],
  );
  const below = [words('before'), fields, list(false, [words('after')])];
  const plainLists = structuredClone(below);
  const plain = (nodes: Nodes[]) => {
    for (const node of nodes) {
      if (node.type === 'list') delete node.data;
      if ('children' in node) plain(node.children);
    }
  };
  plain(plainLists);
  const written = (nodes: Nodes[]): string =>
    pageMarkdown(
      { title: 'T' },
      { tree: { type: 'root', children: nodes as never }, added: { above: [], below: nodes } },
    );
  expect(written(below)).toBe(written(plainLists));
  expect(written(below)).toContain('  * field c\n\n  * field d\n\n    ```js\n    e\n\n      f\n    ```');
});

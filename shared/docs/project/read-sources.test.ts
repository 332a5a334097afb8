import { describe, expect, it } from 'vitest';
import { importCycles, reachableImports, resolveImport, resolveSnippetFile, scanSource } from './read-sources.ts';

describe('references of a source', () => {
  it('are imports, except those in examples', () => {
    const text = `import A from '/snippets/a.mdx'\nimport {\n  B,\n  C\n} from "./b.jsx";\nexport { D } from '../d'\nimport '/x.js'\n\n\`\`\`js\nimport E from '/e.mdx'\n\`\`\`\n`;
    expect(scanSource(text, 'a/page.mdx').imports).toEqual(['/snippets/a.mdx', './b.jsx', '../d', '/x.js']);
  });

  it('are imports, except those in comments, including those beside text that looks like a comment', () => {
    const code = `import a from './a.js' // import b from './b.js'
/* import c from './c.js' */ import d from './d.js'
const url = 'https://x.example/*'; import e from './e.js'
const text = \`/* \${1} //\`
export { f } from './f.js'`;
    expect(scanSource(code, 'snippets/x.jsx').imports).toEqual(['./a.js', './d.js', './e.js', './f.js']);
    const page = `{/*\nimport A from '/a.mdx'\n*/}\n\nWrite \`{/*\` for it.\n\nimport B from '/b.mdx'\n\n\`*/}\``;
    expect(scanSource(page, 'x.mdx').imports).toEqual(['/b.mdx']);
  });

  it('are snippets by file', () => {
    expect(scanSource('<Snippet file="a/b.mdx" />\n<Snippet\n  file={"c.mdx"}/>', 'x.mdx').snippetFiles).toEqual([
      'a/b.mdx',
      'c.mdx',
    ]);
  });

  it('are links, rooted, without query and anchor', () => {
    const text = `[a](/a#x) [b](./b?y) [c](../c "t") [d]: /d\n[e](https://e.example) [f](#f)\n[g]: /g\n<Card href="/h" img='/i.png' />\n<a href={"/j/"}>\n{[{ to: "/k" }]}\n![](images/l.png)`;
    expect(scanSource(text, 'guides/x.mdx').linkTargets).toEqual(
      ['/a', '/c', '/g', '/guides/b', '/guides/images/l.png', '/h', '/i.png', '/j', '/k'].sort(),
    );
  });
});

describe('an import', () => {
  const files = new Set(['snippets/a.mdx', 'guides/b.jsx', '_snippets/old.mdx', 'top.mdx']);
  const has = (path: string): boolean => files.has(path);

  it.each([
    ['/snippets/a.mdx', 'snippets/a.mdx'],
    ['/snippets/a', 'snippets/a.mdx'],
    ['snippets/a.mdx', 'snippets/a.mdx'],
    ['./b.jsx', 'guides/b.jsx'],
    ['../snippets/a.mdx', 'snippets/a.mdx'],
    ['../../snippets/a.mdx', undefined],
    ['/../snippets/a.mdx', undefined],
    ['/%2e%2e/top.mdx', undefined],
    ['file:///etc/passwd', undefined],
    ['https://example.invalid/a.mdx', undefined],
    ['react', undefined],
  ])('%s names %s', (specifier, file) => {
    expect(resolveImport(specifier, 'guides/x.mdx', has)).toBe(file);
  });

  it('by <Snippet> is looked for in the snippet folders', () => {
    expect(resolveSnippetFile('a.mdx', has)).toBe('snippets/a.mdx');
    expect(resolveSnippetFile('old.mdx', has)).toBe('_snippets/old.mdx');
    expect(resolveSnippetFile('/top.mdx', has)).toBe('top.mdx');
    expect(resolveSnippetFile('../../x', has)).toBeUndefined();
  });
});

const graph = (edges: Record<string, string[]>) => (file: string) => edges[file] ?? [];

it('follows cycles and shared files', () => {
  const of = graph({ a: ['b', 'c'], b: ['d'], c: ['d'], d: ['a'] });
  expect(reachableImports('a', of)).toEqual(['b', 'c', 'd']);
});

it('reports each cycle once, by its chain', () => {
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

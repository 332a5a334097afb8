import { describe, expect, it } from 'vitest';
import { remoteFile } from '#shared/docs/reference/remote-files.ts';
import { localChildren } from '../../../test/support/local-children.ts';
import { memoryProject } from '../../../test/support/memory-project.ts';
import { analysisQuestion, expectedAnalysis } from './expected-analysis.ts';
import { type DocsProject, readDocsProject } from './read-docs-project.ts';

const description = {
  openapi: '3.1.0',
  info: { title: 'Things', version: '1' },
  paths: { '/things': { get: { summary: 'List things', responses: { 200: { description: 'Things' } } } } },
};
const address = 'https://api.example.com/openapi.json';
const files = memoryProject({
  'docs.json': JSON.stringify({
    name: 'Docs',
    navigation: {
      groups: [
        { group: 'A', pages: ['a'] },
        { group: 'API', openapi: 'openapi.json' },
        { group: 'More', openapi: address },
      ],
    },
  }),
  'a.mdx': "import X from '/snippets/x.mdx';\n\n# A\n\n![](/x.png)\n\n<X />\n",
  'b.mdx': '---\ngroups: ["staff"]\n---\n\n# B\n',
  'snippets/x.mdx': 'x\n',
  'x.png': 'png',
  'openapi.json': JSON.stringify(description),
  [remoteFile(address, 'json')]: JSON.stringify({
    openapi: '3.1.0',
    paths: { '/more': { get: { summary: 'Get more' } } },
  }),
});
const made = new Map<string, number>();
const honest = await readDocsProject(files, ({ sha256, text }) => {
  made.set(sha256, Buffer.byteLength(text));
  return Promise.resolve();
});
const elsewhere = 'f'.repeat(64);

const analyzed = (response: unknown) =>
  localChildren(() => structuredClone(response)).run(
    {},
    { deadlineMs: 1, expects: expectedAnalysis(files.files, made) },
  );

describe('a child that reads a project', () => {
  it("may return the project's content, with pages that it made", async () => {
    const sources = honest.pages.filter(({ sha256 }) => made.has(sha256)).map(({ file }) => file);
    expect(new Set(sources)).toEqual(new Set(['openapi.json', address]));
    expect(await analyzed({ project: honest })).toEqual({ project: honest });
  });

  const first = <T>(list: T[], change: object): T[] => list.map((one, at) => (at === 0 ? { ...one, ...change } : one));
  const lies: [string, (project: DocsProject) => object][] = [
    ['a page of another project', ({ pages }) => ({ pages: first(pages, { sha256: elsewhere }) })],
    [
      'a page with the text of another page',
      ({ pages }) => ({ pages: first(pages, { sha256: pages.at(-1)?.sha256 }) }),
    ],
    ['a page of another size', ({ pages }) => ({ pages: first(pages, { sizeBytes: 1 }) })],
    ['a page of a missing file', ({ pages }) => ({ pages: first(pages, { file: 'c.mdx' }) })],
    [
      'a page of an address that has no copy here',
      ({ pages }) => ({
        pages: pages.map((page) => (page.file === address ? { ...page, file: 'https://api.example.com/other' } : page)),
      }),
    ],
    ['a page by another path', ({ pages }) => ({ pages: first(pages, { path: 'c' }) })],
    ['a page by a path that climbs', ({ pages }) => ({ pages: first(pages, { path: '../../other/a' }) })],
    ['a page twice', ({ pages }) => ({ pages: [...pages, ...pages] })],
    ['a picture of another project', ({ assets }) => ({ assets: first(assets, { sha256: elsewhere }) })],
    ['a picture by another path', ({ assets }) => ({ assets: first(assets, { path: '/etc/passwd' }) })],
    ['a snippet of another project', ({ snippets }) => ({ snippets: first(snippets, { sha256: elsewhere }) })],
    ['a script that does not exist', () => ({ scripts: [{ path: 'x.js', sha256: elsewhere, sizeBytes: 1 }] })],
    ['a style sheet that does not exist', () => ({ styles: [{ path: 'x.css', sha256: elsewhere, sizeBytes: 1 }] })],
    ['a description of another project', ({ specs }) => ({ specs: first(specs, { sha256: elsewhere }) })],
    [
      'a slice that it did not make',
      ({ operations = [] }) => ({ operations: first(operations, { sha256: elsewhere }) }),
    ],
    ['a slice of another size', ({ operations = [] }) => ({ operations: first(operations, { sizeBytes: 1 }) })],
    ['pages that are none', () => ({ pages: [null] })],
    ['no settings', () => ({ settings: null })],
  ];
  it.each(lies)('may not name %s', async (_what, lie) => {
    await expect(analyzed({ project: { ...honest, ...lie(honest) } })).rejects.toThrow(/^it [a-z]/);
  });

  it('may not make a model that is larger than its project can have, because every service reads it', async () => {
    const settings = { ...honest.settings, api: Array.from({ length: 1_100_000 }, () => 0) };
    await expect(analyzed({ project: { ...honest, settings } })).rejects.toThrow(
      'it made a site model that is too large for its project',
    );
  });

  it('may not nest its navigation too deeply', async () => {
    let navigation: unknown[] = [];
    for (let depth = 0; depth < 20_000; depth += 1) {
      navigation = [{ kind: 'group', title: 'x', hidden: false, children: navigation }];
    }
    const pool = localChildren(() => ({ project: { ...honest, navigation } }));
    const run = pool.run({}, { deadlineMs: 1, expects: expectedAnalysis(files.files, made) });
    await expect(run).rejects.toThrow(/^it [a-z]/);
  });

  it.each([null, {}, { invalid: null }, { project: honest, invalid: { code: '', file: '', message: '' } }])(
    'may not answer %j',
    async (answer) => {
      await expect(analyzed(answer)).rejects.toThrow(/^it [a-z]/);
    },
  );

  it.each([
    null,
    [],
    [null],
    [{ path: 'a.mdx' }],
    [{ path: 'a.mdx', maxBytes: -1 }],
    [{ path: 'a.mdx', maxBytes: 1e300 }],
    Array.from({ length: 17 }, () => ({ path: 'a.mdx', maxBytes: 1 })),
    { made: { sha256: elsewhere } },
    { made: { sha256: elsewhere, text: 'x', path: '/etc/passwd' } },
  ])('may not ask %j', (question) => {
    expect(analysisQuestion.safeParse(question).success).toBe(false);
  });
});

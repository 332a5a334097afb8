import { describe, expect, it } from 'vitest';
import { memoryProject } from '../../../test/support/memory-project.ts';
import type { ProjectFiles } from './project-files.ts';
import { readDocsProject, type DocsProject } from './read-docs-project.ts';
import { siteModelSchema } from './site-model.ts';

const config = { theme: 'mint', name: 'Acme', colors: { primary: '#112233' } };
const docs = (navigation: unknown, more: object = {}): string => JSON.stringify({ ...config, navigation, ...more });

async function read(files: Record<string, string | Uint8Array>): Promise<DocsProject> {
  const model = await readDocsProject(memoryProject(files));
  siteModelSchema.parse({ contentVersion: `cv_${'0'.repeat(32)}`, ...model });
  return model;
}
const page = ({ pages }: DocsProject, path: string) => pages.find((entry) => entry.path === path);
const codes = ({ diagnostics }: DocsProject): string[] => diagnostics.map(({ code }) => code);

describe('a docs project', () => {
  it('becomes pages, snippets, assets and navigation with titles', async () => {
    const model = await read({
      'docs.json': docs({ pages: ['index', 'guides/set-up', 'out'] }),
      'index.mdx':
        '---\ntitle: Welcome\nsidebarTitle: Start\nicon: house\nkeywords: [a, b]\n---\n\nSee [set-up](/guides/set-up#x).\n',
      'guides/set-up.mdx': "import N from '/snippets/note.mdx'\n\n<N />\n",
      'guides/loose.md': 'Text',
      'out.mdx': '---\ntitle: Out\nurl: https://a.example\n---\n',
      'snippets/note.mdx': "import { x } from './x.jsx'\n\n{x}\n",
      'snippets/x.jsx': 'export const x = 1',
      'snippets/unused.mdx': 'Text',
      'images/a.png': 'png',
      'style.css': 'a{}',
      'script.js': '1',
      'api/openapi.json': '{"openapi": "3.1.0"}',
      'package.lock': 'x',
      '.mintlify/Assistant.md': 'Be kind.',
    });
    expect(model.pages.map(({ path }) => path)).toEqual(['guides/loose', 'guides/set-up', 'index']);
    expect(page(model, 'index')).toMatchObject({
      title: 'Welcome',
      sidebarTitle: 'Start',
      keywords: ['a', 'b'],
      linkTargets: ['/guides/set-up'],
      inNavigation: true,
    });
    expect(page(model, 'guides/set-up')).toMatchObject({
      title: 'Set up',
      dependencies: ['snippets/note.mdx', 'snippets/x.jsx'],
    });
    expect(page(model, 'guides/loose')).toMatchObject({ inNavigation: false, searchable: false });
    expect(model.snippets.map(({ path, dependencies }) => [path, dependencies.length])).toEqual([
      ['snippets/note.mdx', 1],
      ['snippets/unused.mdx', 0],
      ['snippets/x.jsx', 0],
    ]);
    expect(model.navigation).toEqual([
      { kind: 'page', path: 'index', title: 'Start', icon: 'house' },
      { kind: 'page', path: 'guides/set-up', title: 'Set up' },
      { kind: 'link', title: 'Out', href: 'https://a.example' },
    ]);
    expect(model.assets.map(({ path }) => path)).toEqual(['api/openapi.json', 'images/a.png']);
    expect([model.specs, model.styles, model.scripts].map((list) => list.map(({ path }) => path))).toEqual([
      ['api/openapi.json'],
      ['style.css'],
      ['script.js'],
    ]);
    expect(model.diagnostics).toEqual([]);
  });

  it('is independent of the order of its files', async () => {
    const files = {
      'docs.json': docs({ pages: ['a', 'gone'] }),
      'a.mdx': '---\nx: [\n---\n',
      'b.mdx': '{{x-y}}',
      'c.mdx': Buffer.from([255]),
    };
    const shuffled = Object.fromEntries(Object.entries(files).reverse());
    expect(await read(shuffled)).toEqual(await read(files));
  });

  it('may be a mint.json', async () => {
    const model = await read({
      'mint.json': JSON.stringify({ name: 'Keep', colors: config.colors, navigation: [{ group: 'A', pages: ['a'] }] }),
      'a.mdx': 'x',
    });
    expect(model.navigation).toMatchObject([{ kind: 'group', title: 'A', children: [{ path: 'a' }] }]);
    expect(codes(model)).toEqual([]);
  });

  it.each<[string, Record<string, string>]>([
    ['missing-config', { 'index.mdx': 'x' }],
    ['missing-setting', { 'docs.json': JSON.stringify(config), 'index.mdx': 'x' }],
    ['missing-setting', { 'docs.json': JSON.stringify({ navigation: { pages: ['index'] } }), 'index.mdx': 'x' }],
    ['bad-config', { 'docs.json': '[]' }],
    ['no-pages', { 'docs.json': docs({ pages: ['index'] }) }],
    [
      'undefined-variable',
      { 'docs.json': docs({ pages: ['a'] }, { variables: { a: 'b' } }), 'a.mdx': 'See {{nothing}}.' },
    ],
  ])('is none: %s', async (code, files) => {
    await expect(read(files)).rejects.toMatchObject({ name: 'InvalidProject', code });
  });

  it('without variables may show braces', async () => {
    const model = await read({ 'docs.json': docs({ pages: ['a'] }), 'a.mdx': 'A template has {{name-of-it}}.' });
    expect(codes(model)).toEqual(['undefined-variable']);
  });
});

describe('files that are pages', () => {
  it('exclude ignored ones, but not those that the navigation names', async () => {
    const model = await read({
      'docs.json': docs({ pages: ['build/a', 'snippets/b', 'guides'] }),
      '.mintignore': 'drafts/\n',
      'build/a.mdx': 'x',
      'build/b.mdx': 'x',
      'drafts/c.mdx': 'x',
      'snippets/b.mdx': 'x',
      'guides/index.mdx': 'x',
      'README.md': 'x',
    });
    expect(model.pages.map(({ path }) => path)).toEqual(['build/a', 'guides/index', 'snippets/b']);
  });

  it('exclude files that another file imports, which are snippets', async () => {
    const model = await read({ 'docs.json': docs({ pages: ['a'] }), 'a.mdx': "import B from './b.mdx'", 'b.mdx': 'x' });
    expect(model.pages.map(({ path }) => path)).toEqual(['a']);
    expect(model.snippets.map(({ path }) => path)).toEqual(['b.mdx']);
  });

  it('include one of two whose file name or address is the same, with a report', async () => {
    const model = await read({
      'docs.json': docs({ pages: ['Index', 'dir'] }),
      'Index.mdx': 'x',
      'index.mdx': 'x',
      'caf\u00e9.mdx': 'x',
      'cafe\u0301.mdx': 'x',
      'dir.mdx': 'x',
      'dir/index.mdx': 'x',
      'two.md': 'x',
      'two.mdx': 'x',
      'con.mdx': 'x',
      'a\\b.mdx': 'x',
      '../up.mdx': 'x',
    });
    expect(codes(model).sort()).toEqual([
      'bad-path',
      'bad-path',
      'bad-path',
      'generated-file-left-out',
      'page-collision',
      'page-collision',
      'path-collision',
      'path-collision',
    ]);
    expect(page(model, 'two')?.file).toBe('two.mdx');
  });

  it('reports pages that the navigation names and that do not exist', async () => {
    const model = await read({ 'docs.json': docs({ pages: ['a', 'gone'] }), 'a.mdx': 'x' });
    expect(model.diagnostics).toMatchObject([
      { code: 'missing-page', file: 'docs.json', message: expect.stringContaining('gone') },
    ]);
  });
});

describe('dependencies of pages', () => {
  it('end at cyclic snippets, which are reported by their chain', async () => {
    const model = await read({
      'docs.json': docs({ pages: ['a'] }),
      'a.mdx': '<Snippet file="x.mdx" />',
      'snippets/x.mdx': 'import Y from "/snippets/y.mdx"',
      'snippets/y.mdx': 'import X from "/snippets/x.mdx"',
    });
    expect(page(model, 'a')?.dependencies).toEqual(['snippets/x.mdx', 'snippets/y.mdx']);
    expect(model.diagnostics).toMatchObject([
      { code: 'snippet-cycle', message: expect.stringContaining('snippets/x.mdx → snippets/y.mdx → snippets/x.mdx') },
    ]);
  });

  it('are as many as the imports of a long chain of snippets, which each has only its next one', async () => {
    const snippets = Array.from({ length: 300 }, (_, at) => [
      `snippets/s${at}.mdx`,
      `import Next from '/snippets/s${at + 1}.mdx'\n\n<Next/>`,
    ]);
    const model = await read({
      'docs.json': docs({ pages: ['a'] }),
      'a.mdx': "import First from '/snippets/s0.mdx'\n\n<First/>",
      ...Object.fromEntries(snippets),
    });
    expect(page(model, 'a')?.dependencies).toHaveLength(300);
    expect(model.snippets.reduce((sum, { dependencies }) => sum + dependencies.length, 0)).toBe(299);
  });

  it('are those that a page names itself where many pages reach many snippets', async () => {
    const texts = (count: number, path: (at: number) => string, text: (at: number) => string) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [path(at), text(at)]));
    const model = await read({
      'docs.json': docs({ pages: ['p0'] }),
      ...texts(
        600,
        (at) => `p${at}.mdx`,
        () => "import First from '/snippets/s0.mdx'\n\n<First/>",
      ),
      ...texts(
        400,
        (at) => `snippets/s${at}.mdx`,
        (at) => `import Next from './s${at + 1}.mdx'\n\n[x](/p${at}) <Next/>`,
      ),
    });
    expect(page(model, 'p0')).toMatchObject({
      dependencies: ['snippets/s0.mdx'],
      linkTargets: ['/snippets/s0.mdx'],
    });
    expect(model.snippets[0]).toMatchObject({
      dependencies: ['snippets/s1.mdx'],
      linkTargets: ['/p0', '/snippets/s1.mdx'],
    });
    expect(model.pages.reduce((sum, { dependencies }) => sum + dependencies.length, 0)).toBe(600);
  });

  it('include the part of a specification that the page names', async () => {
    const model = await read({
      'docs.json': docs({ pages: ['a', 'b'] }),
      'a.mdx': '---\nopenapi: "one.json GET /x"\n---\n',
      'b.mdx': '---\nopenapi: "GET /x"\n---\n',
      'one.json': '{"openapi": "3.0.0", "paths": {"/x": {"get": {"summary": "Get x"}}}}',
      'two.yaml': 'asyncapi: 3.0.0',
      'three.json': '{"no": "spec"}',
    });
    for (const path of ['a', 'b'])
      expect(page(model, path)).toMatchObject({ title: 'Get x', dependencies: ['one.json#GET /x'] });
    expect(model.operations?.map(({ path }) => path)).toEqual(['one.json#GET /x']);
    expect(model.diagnostics).toEqual([]);
  });
});

describe('groups of a page', () => {
  it.each([
    ['groups: [admin, beta]', ['admin', 'beta']],
    ['groups: admin', ['admin']],
    ['groups: []', []],
    ['title: x', []],
    ['groups: [admin', ['unreadable-frontmatter']],
    ['title: a: b\ngroups: [admin]', ['unreadable-frontmatter']],
    ['groups: {admin: true}', ['unreadable-frontmatter']],
    ['groups: !x [admin]', ['unreadable-frontmatter']],
  ])('of %j are %j', async (yaml, groups) => {
    const model = await read({ 'docs.json': docs({ pages: ['a'] }), 'a.mdx': `---\n${yaml}\n---\n\nSecret\n` });
    expect(page(model, 'a')?.groups).toEqual(groups);
    const isClosed = groups.includes('unreadable-frontmatter');
    expect(model.diagnostics.some(({ code }) => code === 'groups-not-read')).toBe(isClosed);
  });

  it('stay closed when the frontmatter is not terminated', async () => {
    const model = await read({ 'docs.json': docs({ pages: ['a'] }), 'a.mdx': '---\ngroups: [admin]\n\nSecret\n' });
    expect(page(model, 'a')?.groups).toEqual(['unreadable-frontmatter']);
  });
});

it('reports a file that cannot be read, and continues', async () => {
  const project = memoryProject({ 'docs.json': docs({ pages: ['a', 'b'] }), 'a.mdx': 'x', 'b.mdx': 'x' });
  const broken: ProjectFiles = {
    files: project.files,
    read: (path, maxBytes) =>
      path === 'b.mdx' ? Promise.reject(new Error('disk error')) : project.read(path, maxBytes),
  };
  const model = await readDocsProject(broken);
  expect(model.pages.map(({ path }) => path)).toEqual(['a']);
  expect(model.diagnostics).toMatchObject([{ code: 'file-not-read', file: 'b.mdx' }]);
});

it('reports icons of sidebar and header that no library has, each with its file', async () => {
  const model = await read({
    'docs.json': docs(
      {
        groups: [
          { group: 'A', icon: 'house', iconType: 'regular', pages: ['index', 'b'] },
          { group: 'C', icon: '/no.svg', pages: ['c'] },
        ],
      },
      { navbar: { links: [{ label: 'x', href: '/b', icon: 'icon-of-nobody' }] } },
    ),
    'index.mdx': '---\nicon: icon-of-nobody\n---\n',
    'b.mdx': '---\nicon: /a.svg\n---\n',
    'c.mdx': '---\nicon: 🚀\n---\n',
    'a.svg': '<svg/>',
  });
  expect(model.diagnostics.map(({ code, file }) => [code, file])).toEqual([
    ['unknown-icon', 'index.mdx'],
    ['unknown-icon', 'docs.json'],
    ['unknown-icon', 'docs.json'],
  ]);
  expect(model.navigation[0]).toMatchObject({ title: 'A', icon: 'fa-regular fa-house' });
});

import { expect, test } from 'vitest';
import { chunkKey, pageKey } from './segment-keys.ts';
import { pageSlice } from './page-slice.ts';
import { indexSite } from './site-index.ts';
import { renderFailedPage, renderPage } from './render-page.ts';
import { renderedContent, testOptions, testProject } from './test-project.ts';

const files = {
  'docs.json': JSON.stringify({
    name: 'Test <site>',
    theme: 'mint',
    colors: { primary: '#0f766e' },
    variables: { product: 'Bindery' },
    navigation: { groups: [{ group: 'Start', pages: ['index', 'guides/one', 'guides/two'] }] },
  }),
  'index.mdx':
    '---\ntitle: Home\ndescription: "A & B"\n---\n\nSee [one](/guides/one#part), [two](guides/two), [none](/nowhere) and {{product}}.',
  'guides/one.mdx': '---\ntitle: One\n---\n\n## Part\n\nText\n\n### Deeper\n\nmore',
  'guides/two.mdx':
    '---\ntitle: Two\n---\n\nimport S from "/snippets/s.mdx";\n\n<S />\n\n![a](/logo.png) ![b](/none.png)',
  'snippets/s.mdx': 'shared',
  'logo.png': 'png',
};

test('a page and its Markdown twin, with relative addresses', async () => {
  const project = await testProject(files);
  const { files: made, page } = project.render('index');
  expect(made.map((file) => file.path)).toEqual(['index.html', 'index.md']);
  const html = made[0]?.body;
  expect(html).toContain('<title>Home - Test &lt;site&gt;</title>');
  expect(html).toContain('content="A &amp; B"');
  expect(html).toContain('<a href="./guides/one.html#part">one</a>');
  expect(html).toContain('and Bindery.');
  expect(page.links).toEqual(['/guides/one#part', '/guides/two', '/nowhere']);
  expect(page.linkLines).toEqual([6, 6, 6]);
  expect(page.diagnostics).toEqual([]);
  expect(made[1]?.body).toMatch(/^# Home\n\n> A & B\n\nSee \[one\]\(\/guides\/one#part\)/);
  const deeper = project.render('guides/two').files[0]?.body;
  expect(deeper).toContain('<img src="../logo.png" alt="a">');
  expect(deeper).toContain('<span class="missing-image">b</span>');
  expect(deeper).toContain('<link rel="stylesheet" href="../_bindery/theme.css">');
  expect(deeper).toContain('rel="prev" href="../guides/one.html"');
});

test.each(['logo.png', '/logo.png', './logo.png'])(
  'a logo that docs.json names as %s is on each page',
  async (logo) => {
    const settings = { ...(JSON.parse(files['docs.json']) as object), logo, favicon: logo };
    const html = (await testProject({ ...files, 'docs.json': JSON.stringify(settings) })).render('guides/one').files[0]
      ?.body;
    expect(html).toContain('<img src="../logo.png" alt="Test &lt;site&gt;" height="28">');
    expect(html).toContain('<link rel="icon" href="../logo.png"');
  },
);

test('pictures of the project have their sizes; a changed size changes the key of the page', async () => {
  const gif = (width: number) => Buffer.from([...Buffer.from('GIF89a'), width, 0, 20, 0]);
  const project = (width: number) =>
    testProject({
      ...files,
      'a b.gif': gif(width),
      'index.mdx': '![one](/a%20b.gif)\n\n<img src="/a b.gif" width="20" />\n\n<img src="/logo.png" alt="two" />',
    });
  const [before, after] = await Promise.all([project(40), project(60)]);
  const html = before.render('index').files[0]?.body;
  expect(html).toContain('<img src="./a%20b.gif" alt="one" width="40" height="20">');
  expect(html).toContain('width="20"');
  expect(html).toContain('height="10"');
  expect(html).toContain('<img src="./logo.png" alt="two">');
  const keyOf = ({ model }: typeof before) => pageKey('v1', indexSite(model), 'index', testOptions);
  expect(keyOf(after)).not.toBe(keyOf(before));
});

test('a page without a title in its frontmatter has the heading it begins with, once', async () => {
  const project = await testProject({
    'a.mdx': '{/* first */}\n\nimport X from "/snippets/x.mdx"\n\n# Only *this* `heading`\n\nBody.\n\n# Another',
    'b.mdx': '---\ntitle: Own\n---\n# Heading\n',
    'c.mdx': 'Text first.\n\n# Heading\n',
    'd.md': 'Set [out](/a)\n===\n\n<3\n',
    'snippets/x.mdx': 'x',
  });
  expect(project.model.pages.map(({ path, title }) => [path, title])).toEqual([
    ['a', 'Only this heading'],
    ['b', 'Own'],
    ['c', 'C'],
    ['d', 'Set out'],
  ]);
  const headings = (path: string) => {
    const [html, markdown] = project.render(path).files.map(({ body }) => body);
    const found = [...(html ?? '').matchAll(/<h1[^>]*>(.*?)<\/h1>/gs)].map(([, text = '']) =>
      text.replaceAll(/<[^>]*>/g, '').trim(),
    );
    return [found, [...(markdown ?? '').matchAll(/^# (.*)$/gm)].map(([, text]) => text)];
  };
  expect(headings('a')).toEqual([
    ['Only this heading', 'Another'],
    ['Only this heading', 'Another'],
  ]);
  expect(headings('b')).toEqual([
    ['Own', 'Heading'],
    ['Own', 'Heading'],
  ]);
  expect(headings('c')).toEqual([
    ['C', 'Heading'],
    ['C', 'Heading'],
  ]);
  expect(headings('d')).toEqual([['Set out'], ['Set out']]);
});

test.each([
  ['NOTE', 'note'],
  ['Tip', 'tip'],
  ['IMPORTANT', 'info'],
  ['WARNING', 'warning'],
  ['CAUTION', 'danger'],
])("GitHub's alert %s is a callout", async (kind, type) => {
  const { content, codes } = await renderedContent(`> [!${kind}]\n> Useful *thing*.\n>\n> - a`);
  expect(content).toMatch(
    new RegExp(`^<div class="callout callout-${type}".*<p>Useful <em>thing</em>\\.</p>\\s*<ul>`, 's'),
  );
  expect(content).not.toContain('[!');
  expect(codes).toEqual([]);
});

test("a quote that only resembles GitHub's alert stays a quote", async () => {
  for (const source of ['> [!NOTE] on one line', '> [!OTHER]\n> a', '> a\n>\n> [!NOTE]']) {
    expect((await renderedContent(source)).content).toMatch(/^<blockquote>.*\[!/s);
  }
});

test('sections, anchors and contents', async () => {
  const { page, files: made } = (await testProject(files)).render('guides/one');
  expect(JSON.parse(page.search)).toEqual([
    ['part', 'Part', 'Text'],
    ['deeper', 'Deeper', 'more'],
  ]);
  expect(page.anchors).toEqual(['part', 'deeper']);
  expect(made[0]?.body).toMatch(/toc-depth-2"><a href="#part">Part.*toc-depth-3"><a href="#deeper">Deeper/s);
});

test('the same input gives the same bytes', async () => {
  const project = await testProject(files);
  for (const path of ['index', 'guides/one', 'guides/two']) expect(project.render(path)).toEqual(project.render(path));
});

test('a key changes with what the page shows, and with nothing else', async () => {
  const keysOf = async (changed: Record<string, string>): Promise<Record<string, string>> => {
    const { model } = await testProject({ ...files, ...changed });
    const index = indexSite(model);
    return Object.fromEntries(
      model.pages.map(({ path }) => [path, pageKey('r-000000000000', index, path, testOptions)]),
    );
  };
  const before = await keysOf({});
  const changedPages = async (changed: Record<string, string>) => {
    const after = await keysOf(changed);
    return Object.keys(before).filter((path) => before[path] !== after[path]);
  };
  expect(await changedPages({})).toEqual([]);
  expect(await changedPages({ 'guides/one.mdx': files['guides/one.mdx'].replace('Text', 'Other') })).toEqual([
    'guides/one',
  ]);
  expect(await changedPages({ 'snippets/s.mdx': 'changed' })).toEqual(['guides/two']);
  expect(await changedPages({ 'guides/two.mdx': files['guides/two.mdx'].replace('Two', 'Second') })).toEqual([
    'guides/one',
    'guides/two',
    'index',
  ]);
  expect(await changedPages({ 'unlisted.mdx': 'x' })).toEqual([]);
  expect(await changedPages({ 'nowhere.mdx': 'x' })).toEqual(['index']);
});

test('a chunk’s key has only the options that change pages', () => {
  const key = chunkKey('acme', ['a'], testOptions);
  expect(chunkKey('acme', ['a'], { ...testOptions, deployment: 'air-gapped' })).toBe(key);
  expect(chunkKey('acme', ['a'], { ...testOptions, onPageError: 'report' })).not.toBe(key);
  expect(chunkKey('other', ['a'], testOptions)).not.toBe(key);
});

test('a slice is small and passes JSON', async () => {
  const { model } = await testProject(files);
  const slice = pageSlice(indexSite(model), 'index', testOptions);
  expect(JSON.parse(JSON.stringify(slice))).toEqual(slice);
  expect(JSON.stringify(slice).length).toBeLessThan(4000);
});

test('a page that breaks a limit throws, and can be shown as its source', async () => {
  const project = await testProject(files);
  const slice = pageSlice(indexSite(project.model), 'guides/one', testOptions);
  const source = `---\ntitle: One\n---\n${'<b>word</b> '.repeat(720_000)}`;
  expect(() => renderPage({ slice, source, dependencies: {}, options: testOptions })).toThrow(/page-too-large/);
  const { files: made, page } = renderFailedPage({ slice, source }, 'It was too large.');
  expect(made[0]?.body).toContain('&lt;b&gt;word&lt;/b&gt;');
  expect(page.failure).toBe('It was too large.');
  expect(made[1]?.body).toMatch(/^# One\n/);
});

test('tenants’ scripts are only in pages that may have them', async () => {
  const { model } = await testProject({ ...files, 'own.js': 'x', 'own.css': 'y' });
  const index = indexSite(model);
  expect(pageSlice(index, 'index', testOptions)).toMatchObject({ scripts: ['own.js'], styles: ['own.css'] });
  expect(pageSlice(index, 'index', { ...testOptions, allowTenantScripts: false })).toMatchObject({
    scripts: [],
    styles: ['own.css'],
  });
});

test('a paragraph with blocks inside is unwrapped', async () => {
  const { content } = await renderedContent('Text <div>block</div> more');
  expect(content).toBe('<div>Text <div>block</div> more</div>');
});

test('definitions of links are known inside components', async () => {
  const { content } = await renderedContent('<Note>\n\nSee [it][x].\n\n</Note>\n\n[x]: https://example.com');
  expect(content).toContain('href="https://example.com/"');
});

test('links of a snippet are resolved on the pages that include it', async () => {
  const project = await testProject({
    ...files,
    'snippets/s.mdx': '[one](/guides/one) [none](/not/there) ![x](/not-there.png)',
  });
  const { files: made, page } = project.render('guides/two');
  expect(made[0]?.body).toContain('href="../guides/one.html"');
  expect(page.diagnostics.map(({ code }) => code)).toEqual(['missing-file', 'missing-file']);
  expect(page.links).toContain('/not/there');
});

test('the output of a component of the project in a heading is not in the anchor', async () => {
  const { content, page, html } = await renderedContent(
    'export const Tag = ({ label }) => <span>{label}</span>;\n\n## Cache size <Tag label="new" />\n\n## Limits <Badge>beta</Badge>',
  );
  expect(page.anchors).toEqual(['cache-size', 'limits-beta']);
  expect(content).toContain('Cache size <span>new</span>');
  expect(html).toContain('<a href="#cache-size">Cache size</a>');
});

test('headings of an update are below its label in the contents', async () => {
  const { html } = await renderedContent('<Update label="May">\n\n## Fixes\n\n</Update>\n\n## More');
  const entries = [...html.matchAll(/toc-depth-(\d)"><a href="#([^"]*)"/g)].map(([, depth, anchor]) => [depth, anchor]);
  expect(entries.slice(0, 3)).toEqual([
    ['2', 'may'],
    ['3', 'fixes'],
    ['2', 'more'],
  ]);
});

test('each of two missing pictures shows in its own appearance, light or dark', async () => {
  const { content } = await renderedContent(
    '<img className="block dark:hidden w-4" src="/a.png" alt="A" /><img className="hidden dark:block" src="/b.png" alt="B" />',
  );
  expect(content).toContain('<span class="missing-image block dark:hidden">A</span>');
  expect(content).toContain('<span class="missing-image hidden dark:block">B</span>');
});

test.each([
  ['custom', false],
  ['frame', true],
])('a page in the mode "%s" is a blank sheet: the title is for screen readers only', async (mode, hasFooter) => {
  const docs = JSON.parse(files['docs.json']);
  const project = await testProject({
    ...files,
    'docs.json': JSON.stringify({ ...docs, footer: { socials: { github: 'https://github.com/acme' } } }),
    'index.mdx': `---\ntitle: Home\ndescription: Words\nmode: ${mode}\n---\n\n## Part`,
  });
  const html = project.render('index').files[0]?.body;
  expect(html).toContain('<h1 id="page-title" class="sr-only">Home</h1>');
  expect(html).not.toMatch(/page-description|class="pagination"|toc-inline|table-of-contents/);
  expect(html?.includes('class="footer"')).toBe(hasFooter);
});

test('invalid frontmatter is reported once, by the publication', async () => {
  const { model, render } = await testProject({ 'a.mdx': '---\ntitle: Part one: the start\n---\n\nText\n' });
  expect(model.diagnostics.map(({ code, file }) => [code, file])).toContainEqual(['bad-frontmatter', 'a.mdx']);
  expect(render('a').page.diagnostics).toEqual([]);
});

test('a social network without a sign is named once', async () => {
  const docs = JSON.parse(files['docs.json']);
  const footer = { socials: { github: 'https://github.com/acme', ours: 'https://acme.com' } };
  const project = await testProject({ ...files, 'docs.json': JSON.stringify({ ...docs, footer }) });
  const html = project.render('index').files[0]?.body ?? '';
  expect(html).toContain('</svg><span class="sr-only">github</span></a>');
  expect(html).toContain('rel="noopener noreferrer"><span>ours</span></a>');
});

test('links of the description are links of the page', async () => {
  const { page } = await renderedContent('---\ntitle: A\ndescription: As [said](/none#part)\n---\n\nSee [one](/one).');
  expect(page.links).toEqual(['/one', '/none#part']);
});

test.each([
  ['//unc.example/x', 'https://unc.example/x'],
  ['\\\\unc.example\\x', 'https://unc.example/x'],
  ['/\\unc.example/x', 'https://unc.example/x'],
  ['https://a.example/x', 'https://a.example/x'],
  ['/guides/first#part', '../guides/first.html#part'],
])('a tab that leads to %s names %s', async (href, written) => {
  const navigation = {
    tabs: [
      { tab: 'Guides', pages: ['guides/first', 'guides/second'] },
      { tab: 'Other', href },
    ],
  };
  const project = await testProject({
    'docs.json': JSON.stringify({ name: 'Test', theme: 'mint', colors: { primary: '#0f766e' }, navigation }),
    'guides/first.mdx': 'x',
    'guides/second.mdx': 'y',
  });
  const html = String(project.render('guides/second').files[0]?.body);
  expect(/<a class="nav-tabs-item" href="([^"]*)"><span>Other/.exec(html)?.[1]).toBe(written);
});

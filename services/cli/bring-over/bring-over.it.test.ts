import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { newFolder } from '../../../test/support/new-folder.ts';
import { runCommand } from '../../../test/support/start-installation.ts';
import { writeProject } from '../new-project/write-project.ts';
import { bringOver, type SourceFormat, sourceFormats } from './bring-over.ts';

/** A small project of each generator: the lines of its files, by path. */
const fixtures = JSON.parse(readFileSync(join(import.meta.dirname, 'test-fixtures.json'), 'utf8')) as Record<
  SourceFormat,
  Record<string, string[]>
>;

function projectOf(format: SourceFormat, crlf = false): string {
  const folder = newFolder();
  for (const [path, lines] of Object.entries(fixtures[format])) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), lines.join(crlf ? '\r\n' : '\n'));
  }
  return folder;
}

async function brought(format: SourceFormat) {
  const { files, left } = await bringOver(format, projectOf(format));
  const text = (path: string): string => {
    const content = files.get(path);
    if (content === undefined) throw new Error(`There is no ${path}: ${[...files.keys()].join(', ')}`);
    return Buffer.from(content as string).toString();
  };
  return {
    text,
    paths: [...files.keys()].sort(),
    docs: JSON.parse(text('docs.json')) as Record<string, unknown>,
    left: left.map(({ file, line, what }) => `${file}:${line}: ${what}`),
  };
}

test.for(sourceFormats)('a project of %s becomes one that bindery check has no errors for', async (format) => {
  const into = join(newFolder(), 'new');
  const made = await runCommand(['init', '--from', format, projectOf(format), '--into', into, '--json']);
  expect(made).toMatchObject({ code: 0, stderr: '' });
  const checked = await runCommand(['check', into, '--json']);
  const { diagnostics } = JSON.parse(checked.stdout) as {
    diagnostics: { severity: string; code: string; file: string }[];
  };
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  // Each of these was a link, or a mark of the old generator, that nobody converted.
  const unconverted = diagnostics.filter(({ code }) => /mdx-repaired|unresolved-import/.test(code));
  expect(unconverted).toEqual([]);
  const again = await runCommand(['init', '--from', format, projectOf(format), '--into', into]);
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('Nothing was written') });
});

test.for(sourceFormats)('line ends of Windows change nothing for %s', async (format) => {
  const [unix, windows] = [
    await bringOver(format, projectOf(format)),
    await bringOver(format, projectOf(format, true)),
  ];
  expect(windows.left).toEqual(unix.left);
  for (const [path, text] of unix.files) if (path.endsWith('.mdx')) expect(windows.files.get(path)).toEqual(text);
});

test('Docusaurus: sidebars are tabs, and blocks, tabs, partials, pictures and redirects have their counterparts', async () => {
  const { docs, text, left, paths } = await brought('docusaurus');
  expect(docs).toMatchObject({
    name: 'Rocket',
    logo: '/img/mark.svg',
    favicon: '/img/mark.svg',
    navbar: { links: [{ href: 'https://github.com/example/rocket' }] },
    navigation: {
      tabs: [
        {
          tab: 'Guide',
          groups: [
            { group: 'Guide', pages: ['intro'] },
            { group: 'Building', pages: ['building/engine', 'building/wings'] },
          ],
        },
        { tab: 'API', groups: [{ group: 'API', pages: ['api/overview'] }] },
      ],
      global: { anchors: [{ anchor: 'Status', href: 'https://status.example' }] },
    },
    redirects: [
      { source: '/start', destination: '/intro' },
      { source: '/begin', destination: '/intro' },
      { source: '/docs/:slug*', destination: '/:slug*' },
    ],
  });
  expect(text('intro.mdx')).toBe(`---
title: Introduction
sidebarTitle: Start
keywords:
  - begin
---

<Tip>

**Read this**

See [the engine](/building/engine#fuel) or [the API](/api/overview).

</Tip>

![The mark](/img/mark.svg) and [nothing](./nothing.md).<br />
{/* a remark */}
`);
  const engine = text('building/engine.mdx');
  expect(engine).toContain("import Fuel from '/snippets/building-fuel.mdx';");
  expect(engine).toContain('<Tab title="macOS">');
  expect(engine).toContain('```js title="engine.js" {1,3-4} lines\nconst tabs = \'<TabItem>\';\n```');
  expect(engine).toMatch(/<Warning>\s+\*\*Outer\*\*\s+<Danger>\s+Inner\s+<\/Danger>\s+<\/Warning>/);
  expect(engine).not.toContain('@theme');
  expect(text('building/wings.mdx')).toContain('Words about `<TabItem>` stay.');
  expect(paths).toContain('snippets/building-fuel.mdx');
  expect(left).toEqual([
    'blog/first.md:1: The blog (blog/) are not brought over',
    'docs/building/01-engine.mdx:8: The component Chart of "@site/src/components/Chart" is not brought over',
    'docs/intro.md:13: The link to "./nothing.md" leads to nothing that was brought over',
    'docusaurus.config.ts:12: There is no counterpart of the plugin "./plugins/own"',
    'docusaurus.config.ts:25: This expression of the configuration is not run, so its value is not known',
    'sidebars.js:1: The sidebar names "gone", which is no page',
  ]);
});

test('Starlight: components of its own become ours', async () => {
  const { docs, text, left } = await brought('starlight');
  expect(docs).toMatchObject({
    name: 'Comet',
    logo: '/assets/mark.svg',
    navigation: {
      groups: [
        { group: 'Guides', pages: ['guides/first', 'guides/second'] },
        { group: 'Reference', pages: ['reference/a', 'reference/b'] },
      ],
    },
    redirects: [{ source: '/old', destination: '/guides/first' }],
  });
  expect(text('index.mdx')).toMatch(/Fast docs\n\n\[Begin\]\(\/guides\/first\)/);
  expect(text('index.mdx')).toContain('<Card title="Two" href="/guides/second">More words</Card>');
  expect(text('guides/first.mdx')).toContain('sidebarTitle: The first');
  expect(text('guides/first.mdx')).toMatch(/<Warning>\s+\*\*Careful\*\*\s+Do not \\\{hurry\\\}\.\s+<\/Warning>/);
  expect(text('guides/first.mdx')).toContain('![Mark](/assets/mark.svg)');
  const second = text('guides/second.mdx');
  expect(second).toContain('<Tab title="npm">npm</Tab>');
  expect(second).toContain('2. Two [first](/guides/first)');
  expect(second).toContain('<Badge>New</Badge>');
  expect(second).not.toContain('Steps');
  expect(left).toEqual([
    'astro.config.mjs:11: "customCss" has no counterpart',
    'src/content/docs/index.mdx:12: The component Planet of "../../components/Planet.astro" is not brought over',
    'src/content/docs/index.mdx:19: The icon "rocket" is not brought over',
  ]);
});

test('VitePress: sidebars of folders are tabs, and code groups, containers and home pages have their counterparts', async () => {
  const { docs, text, left } = await brought('vitepress');
  expect(docs).toMatchObject({
    name: 'Star',
    logo: '/mark.svg',
    navigation: {
      tabs: [
        { tab: 'Star', groups: [{ pages: ['index'] }] },
        { tab: 'Handbook', groups: [{ group: 'Start', pages: ['guide/index', 'guide/code'] }] },
        { tab: 'More', groups: [{ group: 'More', pages: ['more/things'] }] },
      ],
    },
    redirects: [
      { source: '/old/:slug*', destination: '/guide/:slug*' },
      { source: '/go', destination: 'https://elsewhere.example' },
    ],
  });
  expect(text('index.mdx')).toContain('<Card title="Fast" href="/guide/code">Very fast</Card>');
  expect(text('index.mdx')).toContain('Written in \\{braces\\}');
  const guide = text('guide/index.mdx');
  expect(guide).toMatch(/<Accordion title="More">\s+Words with .*\\\{brace\\\}\.\s+<\/Accordion>/);
  expect(guide).toMatch(/<CodeGroup>\s+```sh title="npm"\nnpm i\n```\s+```ts title="config.ts" \{1,3\} lines/);
  expect(guide).toContain('<img src="/mark.svg" alt="Mark" />');
  expect(text('guide/code.mdx')).toContain('See [things](/more/things) and [the guide](/guide/index#more).');
  expect(left).toEqual([
    '.vitepress/config.mts:13: "vite" has no counterpart',
    'guide/code.md:1: The program of this page (<script>) is not brought over',
    'guide/code.md:7: The code of the file "@/snippets/a.js" is not brought over',
    'guide/code.md:11: The component Own of the old site is not brought over',
    'guide/index.md:6: The expression "{{ $frontmatter.title }}" is not run',
    'more/things.md:3: There is no counterpart of the block "strange", so its content stands alone',
    'public/_redirects:4: This rule is no redirect of a path',
  ]);
});

test('MkDocs: indented blocks, tabs, keys and attributes become ours, also in lists', async () => {
  const { docs, text, left } = await brought('mkdocs');
  expect(docs).toMatchObject({
    name: 'Moon',
    description: 'Docs of a moon',
    logo: '/images/mark.svg',
    navigation: {
      tabs: [
        { tab: 'Moon', groups: [{ group: 'Moon', pages: ['index'] }] },
        { tab: 'Guide', groups: [{ group: 'Guide', pages: ['guide/start', 'guide/deep'] }] },
      ],
      global: { anchors: [{ anchor: 'Elsewhere', href: 'https://elsewhere.example' }] },
    },
    redirects: [{ source: '/old', destination: '/guide/start' }],
  });
  const index = text('index.mdx');
  expect(index).toContain('with [start](/guide/start) and `{code}`.');
  expect(index).toMatch(
    /<Warning>\s+\*\*Cold\*\*\s+It is cold\.\s+```py title="a.py" \{2,3\} lines\na = \{"b": 1\}\n\nc = 2\n```\s+<\/Warning>/,
  );
  expect(index).toContain('After it \\{braces\\}.');
  const start = text('guide/start.mdx');
  expect(start).toMatch(
    /<Tabs>\s+<Tab title="Linux">\s+1\. One\s+<Tip>\s+Inside a list\.\s+<\/Tip>\s+<\/Tab>\s+<Tab title="Windows">/,
  );
  expect(start).toMatch(
    /<kbd>ctrl<\/kbd>\+<kbd>alt<\/kbd>\+<kbd>del<\/kbd>\.\s+<\/Tab>\s+<\/Tabs>\s+<Accordion title="Folded">\s+Folded words\.\s+<\/Accordion>/,
  );
  expect(start).toContain('## Heading {#own-id}');
  expect(start).toContain('See [deep](/guide/deep#part) and [gone](gone.md).');
  expect(text('guide/deep.mdx')).toContain('<mark>Marked</mark> words.');
  expect(text('guide/deep.mdx')).toContain('![Mark](/images/mark.svg)');
  expect(text('guide/deep.mdx')).toContain('[ref]: /');
  expect(left).toEqual([
    'docs/guide/start.md:22: The link to "gone.md" leads to nothing that was brought over',
    'docs/guide/start.md:24: Included files ("--8<--") are not brought over',
    'docs/index.md:3: The attributes "{ .md-button }" have no counterpart',
    'docs/index.md:3: The icon ":material-moon:" is not brought over',
    'docs/own.css:1: Styles and programs of the old site are not brought over',
    'mkdocs.yml:14: The navigation names "gone.md", which is no page',
    'mkdocs.yml:20: There is no counterpart of the plugin "macros"',
    'mkdocs.yml:24: "extra_css" is not brought over: styles and programs of the old site do not fit',
  ]);
});

test('a folder that is no such project is refused by name', async () => {
  const refused = await runCommand(['init', '--from', 'mkdocs', newFolder()]);
  expect(refused).toMatchObject({ code: 1, stderr: 'bindery: There is no mkdocs.yml: name the folder that has it.\n' });
});

test('a new project never overwrites, needs no answers without a terminal, and has no findings', async () => {
  const folder = newFolder();
  const options = ['--name', 'Space {Station} "1"', '--color', '#c02', '--api'];
  expect(await runCommand(['init', folder, ...options])).toMatchObject({ code: 0 });
  const docs = JSON.parse(readFileSync(join(folder, 'docs.json'), 'utf8')) as object;
  expect(docs).toMatchObject({ name: 'Space {Station} "1"', colors: { primary: '#cc0022' } });
  expect(await runCommand(['check', folder])).toMatchObject({ code: 0, stdout: '5 pages: no problems.\n' });
  expect(await runCommand(['init', folder, '--yes'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Nothing was written'),
  });
  expect(await runCommand(['init', join(folder, 'other'), '--color', 'reddish'])).toMatchObject({
    code: 1,
    stderr: 'bindery: "reddish" is no colour. Give six digits, such as #0f766e.\n',
  });
});

function projectWith(files: Record<string, string>): string {
  const folder = newFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

const classic = (more = ''): string =>
  `export default { title: 'T', presets: [['classic', { docs: {} }]], ${more} };\n`;

test('an address that a page gives itself never leads out of the new project', async () => {
  const page = (slug: string): string => `---\nslug: ${slug}\n---\n\nWords.\n`;
  const docusaurus = projectWith({
    'docusaurus.config.js': classic(),
    'docs/a.md': page('/../../../evil'),
    'docs/sub/b.md': page('../../../../other'),
    'docs/c.md': page('/fine'),
    'docs/d.md': page('/Fine'),
  });
  const { files, left } = await bringOver('docusaurus', docusaurus);
  expect([...files.keys()].filter((path) => path.endsWith('.mdx')).sort()).toEqual(['a.mdx', 'fine.mdx', 'sub/b.mdx']);
  expect(left.map(({ file, what }) => `${file}: ${what}`)).toEqual([
    'docs/a.md: The address "../../../evil" points outside its folder, so the page has that of its file',
    'docs/d.md: The page has the address of docs/c.md, so it is not brought over',
    'docs/sub/b.md: The address "../../../other" points outside its folder, so the page has that of its file',
  ]);
  const starlight = projectWith({
    'astro.config.mjs': "export default { integrations: [starlight({ title: 'T' })] };\n",
    'src/content/docs/a.md': page('../../evil'),
    'src/content/docs/b.md': page('/etc/evil'),
  });
  expect([...(await bringOver('starlight', starlight)).files.keys()]).toEqual(['a.mdx', 'b.mdx', 'docs.json']);
  const into = join(newFolder(), 'a/b');
  await expect(writeProject(into, new Map([['../evil.mdx', '']]))).rejects.toThrow('../evil.mdx is not a path in');
});

test('a configuration that repeats itself without end, or is broken, is reported and the pages are brought over', async () => {
  const doubling = Array.from({ length: 40 }, (_, at) => `const a${at + 1} = [...a${at}, ...a${at}];`).join('\n');
  const configs = {
    itself: `const a = [a, a];\n${classic('plugins: a')}`,
    doubling: `const a0 = ['x', 'y'];\n${doubling}\n${classic('plugins: a40')}`,
    broken: classic('title: '),
  };
  for (const [name, config] of Object.entries(configs)) {
    const folder = projectWith({ 'docusaurus.config.js': config, 'docs/a.md': 'Words.\n' });
    const { files, left } = await bringOver('docusaurus', folder);
    expect([...files.keys()], name).toContain('a.mdx');
    expect(left.map(({ what }) => what).join(), name).toMatch(/is too large, so a part|cannot be read/);
  }
  const other = projectWith({
    'docusaurus.config.js': classic(),
    'sidebars.json': '{"a": [',
    'docs/k/_category_.json': '{"a": [',
    'docs/k/a.md': 'Words.\n',
  });
  expect((await bringOver('docusaurus', other)).left.map(({ file }) => file)).toEqual([
    'docs/k/_category_.json',
    'sidebars.json',
  ]);
});

test('a file in YAML whose aliases repeat it without end is refused', async () => {
  const lines = ['a: &a [x, x, x, x, x, x, x, x]'];
  for (const [at, name] of 'bcdefghij'.split('').entries()) {
    const before = `*${'abcdefghi'[at]}`;
    lines.push(`${name}: &${name} [${Array.from({ length: 8 }, () => before).join(', ')}]`);
  }
  const folder = projectWith({ 'mkdocs.yml': `${lines.join('\n')}\nnav: *j\n`, 'docs/index.md': 'Words.\n' });
  await expect(bringOver('mkdocs', folder)).rejects.toThrow('mkdocs.yml cannot be read: its aliases repeat parts');
});

test('the places of a page with many lines are right', async () => {
  const lines = Array.from({ length: 400 }, (_, at) => `[a](none-${at}.md) and \`code\` <img src="a.png"/>\n`);
  const folder = projectWith({ 'mkdocs.yml': 'site_name: X\n', 'docs/index.md': lines.join('\n') });
  const { files, left } = await bringOver('mkdocs', folder);
  expect(left.filter(({ what }) => what.includes('none-')).map(({ line }) => line)).toEqual(
    lines.map((_, at) => 2 * at + 1),
  );
  expect(String(files.get('index.mdx'))).toContain('<img src="a.png" />');
});

test('code at the end of a line, addresses in angle brackets and identifiers in a line keep what follows them', async () => {
  const folder = projectWith({
    'mkdocs.yml': 'site_name: X\n',
    'docs/index.md':
      '**default**: `docs`\n\n### site_dir\n\n`a\nb`\n\n* **`locale`**{ #own-locale }: See <https://example.com/a>.\n',
  });
  const { files, left } = await bringOver('mkdocs', folder);
  expect(String(files.get('index.mdx'))).toContain(
    '**default**: `docs`\n\n### site_dir\n\n`a\nb`\n\n* **`locale`**<span id="own-locale"></span>: See [https://example.com/a](https://example.com/a).',
  );
  expect(left).toEqual([]);
});

test('pages in a folder beside that of the configuration are brought over, if it is in the same repository', async () => {
  const files = {
    'site/docusaurus.config.js':
      "export default { title: 'T', presets: [['classic', { docs: { path: '../docs', sidebarPath: './sidebars.json' } }]] };\n",
    'site/sidebars.json': '{ "all": ["a", "k/b"] }',
    'docs/a.md': 'See [the other](k/b.md) and ![it](k/x.png).\n\n:::tip\n\nNever closed.\n',
    'docs/k/b.md': 'Back to [the first](../a.md).\n',
    'docs/k/x.png': 'x',
  };
  const folder = projectWith({ ...files, '.git/HEAD': '' });
  const found = await bringOver('docusaurus', join(folder, 'site'));
  expect([...found.files.keys()].sort()).toEqual(['a.mdx', 'docs.json', 'k/b.mdx', 'k/x.png']);
  expect(String(found.files.get('a.mdx'))).toContain('See [the other](/k/b) and ![it](/k/x.png).');
  expect(String(found.files.get('a.mdx'))).toMatch(/<Tip>\s+Never closed\.\s+<\/Tip>\s*$/);
  expect(String(found.files.get('docs.json'))).toContain('"k/b"');
  expect(found.left.map(({ what }) => what)).toEqual(['A block with ":::" is never closed, so it ends with the page']);
  await expect(bringOver('docusaurus', join(projectWith(files), 'site'))).rejects.toThrow(
    'The pages are in ../docs, which is no folder of the same repository.',
  );
});

test('the first heading is the title where the old site shows it, and the title of the frontmatter names the page in menus', async () => {
  const page =
    '---\ntitle: Short\nhide_title: true\n---\n\nimport X from "@theme/Tabs";\n\n&nbsp;\n\n# A long title\n\n[x](none.md)\n';
  const { files, left } = await bringOver(
    'docusaurus',
    projectWith({ 'docusaurus.config.js': classic(), 'docs/a.mdx': page }),
  );
  expect(String(files.get('a.mdx'))).toMatch(/^---\ntitle: A long title\nsidebarTitle: Short\n---\n\n\[x\]/);
  expect(left.map(({ line }) => line)).toEqual([12]);
  const starlight = projectWith({
    'astro.config.mjs': "export default { integrations: [starlight({ title: 'T' })] };\n",
    'src/content/docs/a.md': '---\ntitle: Short\n---\n\n# A long title\n',
  });
  expect(String((await bringOver('starlight', starlight)).files.get('a.mdx'))).toContain('# A long title');
  const mkdocs = projectWith({
    'mkdocs.yml': 'site_name: X\nnav:\n  - guide/\n  - More: other/\n',
    'docs/guide/index.md': '# Guide\n',
    'docs/other/a.md': '# A\n',
  });
  const docs = JSON.parse(String((await bringOver('mkdocs', mkdocs)).files.get('docs.json'))) as object;
  expect(docs).toMatchObject({
    navigation: {
      groups: [
        { group: 'Guide', pages: ['guide/index'] },
        { group: 'More', pages: ['other/a'] },
      ],
    },
  });
});

import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { exportedHtml } from '../../../test/support/exported-pages.ts';
import { newFolder } from '../../../test/support/new-folder.ts';
import { type DevSite, devSite } from './dev-site.ts';

const docs = (more: object = {}) =>
  JSON.stringify({
    name: 'Plants',
    theme: 'mint',
    colors: { primary: '#0f766e' },
    variables: { tool: 'spade' },
    navigation: {
      groups: [
        { group: 'Start', pages: ['index', 'guides/trees', 'guides/index'] },
        { group: 'API', openapi: 'api.json', pages: ['GET /plants'] },
      ],
    },
    redirects: [
      { source: '/old', destination: '/guides/trees' },
      { source: '/was/:slug*', destination: '/guides/:slug*' },
    ],
    ...more,
  });

const project: Record<string, string> = {
  'docs.json': docs(),
  'index.mdx':
    '---\ntitle: Start\n---\n\nDig with a {{tool}}. See [trees](/guides/trees) and [herbs](/guides/herbs).\n',
  'guides/index.mdx': '---\ntitle: Guides\n---\n\n![A leaf](/leaf.svg)\n\n<span className="font-bold">Bold</span>\n',
  'guides/trees.mdx':
    "---\ntitle: Trees\n---\n\nimport Care from '/snippets/care.mdx';\n\n<Care />\n\n```mermaid\ngraph TD; A-->B\n```\n",
  'guides/secret.mdx': '---\ntitle: Secret\ngroups: [staff]\n---\n\nFor a few.\n',
  'snippets/care.mdx': 'Water them. Then read [the start](/index).\n',
  'leaf.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="20"></svg>',
  'own.css': '.mdx-content { color: black; }\n',
  'own.js': 'window.own = 1;\n',
  'api.json': JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Plants', version: '1' },
    paths: { '/plants': { get: { summary: 'List plants', responses: { 200: { description: 'Them.' } } } } },
  }),
};

describe('the site of a project while its author writes', () => {
  const open: DevSite[] = [];
  afterEach(async () => {
    for (const site of open.splice(0)) await site.close();
  });

  async function start(files = project) {
    const folder = newFolder();
    const write = (path: string, text: string): void => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    };
    for (const [path, text] of Object.entries(files)) write(path, text);
    const refused: string[] = [];
    const site = await devSite(folder, () => [], { onRefused: (why) => refused.push(why) });
    open.push(site);
    return { site, folder, write, refused };
  }
  const bodyOf = async (site: DevSite, target: string): Promise<string> => {
    const file = await site.answer(target);
    return file.kind === 'file' ? Buffer.from(file.body).toString() : file.kind;
  };
  async function expectExport(site: DevSite, folder: string): Promise<void> {
    const exported = await exportedHtml(folder);
    expect(site.pageCount()).toBe(exported.size);
    for (const [path, html] of exported) expect(await bodyOf(site, `/${path}`), path).toBe(html);
  }

  test('has the pages of an export, also after each kind of change', async () => {
    const { site, folder, write } = await start();
    await expectExport(site, folder);
    write('index.mdx', '---\ntitle: Start\n---\n\nOther words, [a new link](/guides) and ![a leaf](/leaf.svg).\n');
    expect(await site.change(['index.mdx'])).toMatchObject({ names: ['index.mdx'], affected: 1 });
    write('snippets/care.mdx', 'Water them twice. See [guides](/guides).\n');
    expect(await site.change(['snippets/care.mdx'])).toMatchObject({ affected: 1 });
    await expectExport(site, folder);
    write('guides/trees.mdx', '---\r\ntitle: Tall trees\r\n---\r\n\r\nWith Windows line ends.\r\n');
    expect(await site.change(['guides/trees.mdx'])).toMatchObject({ affected: 5 });
    await expectExport(site, folder);
    write('leaf.svg', '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"></svg>');
    write('guides/herbs.mdx', '---\ntitle: Herbs\n---\n\nA new page.\n');
    await site.change(['leaf.svg', 'guides']);
    write('docs.json', docs({ name: 'Trees', variables: { tool: 'fork' } }));
    await site.change(['docs.json']);
    await expectExport(site, folder);
    renameSync(join(folder, 'guides'), join(folder, 'manuals'));
    rmSync(join(folder, 'snippets'), { recursive: true });
    await site.change(['guides', 'manuals', 'snippets']);
    await expectExport(site, folder);
    expect(await site.change(['index.mdx', 'not-there.mdx'])).toBeUndefined();
  });

  test('answers the files of a bundle at their addresses, and redirects', async () => {
    const { site } = await start();
    expect(await site.answer('/guides')).toEqual({ kind: 'redirect', to: '/guides/index.html' });
    expect(await site.answer('/old')).toEqual({ kind: 'redirect', to: '/guides/trees.html' });
    expect(await site.answer('/was/trees')).toEqual({ kind: 'redirect', to: '/guides/trees' });
    expect(await bodyOf(site, '/guides/trees')).toBe(await bodyOf(site, '/guides/trees.html'));
    expect(await bodyOf(site, '/')).toContain('Dig with a spade');
    expect(await bodyOf(site, '/guides/trees.md')).toContain('Water them');
    expect(await bodyOf(site, '/own.js')).toBe(project['own.js']);
    expect(JSON.parse(await bodyOf(site, '/api.json'))).toEqual(JSON.parse(project['api.json'] ?? ''));
    expect(await bodyOf(site, '/_bindery/theme.css')).toContain('0f766e');
    expect(await bodyOf(site, '/guides/index.html')).toContain('font-bold');
    expect(await bodyOf(site, '/_bindery/classes.css')).toContain('font-weight');
    expect(await bodyOf(site, '/_bindery/diagrams.js')).toContain('mermaid');
    expect(await bodyOf(site, '/_bindery/search-index.js')).toContain('"Trees"');
    expect(await bodyOf(site, '/_bindery/search/0.js')).toContain('Water them');
    expect(await bodyOf(site, '/llms-full.txt')).toContain('Water them');
    expect(await bodyOf(site, '/guides/secret')).toContain('For a few');
    for (const target of ['/nothing', '/_bindery/search/9.js', '/_bindery/nothing.js', '/guides/trees/rss.xml'])
      expect(await bodyOf(site, target), target).toBe('missing');
    for (const target of ['/..%2fdocs.json', '//evil.example', '/a\\b', '/%00'])
      expect(await bodyOf(site, target), target).toBe('refused');
  });

  test('keeps the last good site while the project cannot be read, and says why', async () => {
    const { site, folder, write } = await start();
    write('docs.json', docs().replace('"theme"', "'theme'"));
    expect(await site.change(['docs.json'])).toMatchObject({
      problems: [{ severity: 'error', code: 'bad-config', file: 'docs.json', line: 1 }],
    });
    write('index.mdx', '---\ntitle: Start\n---\n\nWords of the last good site.\n');
    await site.change(['index.mdx']);
    expect(await bodyOf(site, '/')).toContain('Words of the last good site');
    rmSync(join(folder, 'docs.json'));
    expect(await site.change(['docs.json'])).toMatchObject({ problems: [{ code: 'missing-config' }] });
    expect(await bodyOf(site, '/')).toContain('Words of the last good site');
    write('docs.json', docs());
    expect(await site.change(['docs.json'])).toMatchObject({ problems: [] });
    await expectExport(site, folder);
  });

  test('starts with a project that cannot be read', async () => {
    const { site, folder, write } = await start({ ...project, 'docs.json': '{' });
    expect(site.problems()).toMatchObject([{ code: 'bad-config', file: 'docs.json' }]);
    expect(await site.answer('/')).toEqual({ kind: 'missing', body: undefined });
    write('docs.json', docs());
    await site.change(undefined);
    await expectExport(site, folder);
  });

  test('leaves out links out of the project that are made later, and says so once', async () => {
    const { site, folder, write, refused } = await start();
    const outside = newFolder();
    writeFileSync(join(outside, 'secret.mdx'), 'A password.\n');
    mkdirSync(join(folder, '.git'));
    writeFileSync(join(folder, '.git/config'), 'password = x\n');
    symlinkSync(join(outside, 'secret.mdx'), join(folder, 'guides/secret.txt'));
    symlinkSync('.git/config', join(folder, 'config.txt'));
    symlinkSync(outside, join(folder, 'folder'));
    symlinkSync('leaf.svg', join(folder, 'same.svg'));
    const links = ['guides/secret.txt', 'config.txt', 'folder/secret.mdx', 'same.svg'];
    await site.change(links);
    for (const path of links.slice(0, 3)) expect(await bodyOf(site, `/${path}`), path).toBe('missing');
    expect(await bodyOf(site, '/same.svg')).toBe(project['leaf.svg']);
    // With these links, a look at the whole folder finds other changes.
    write('index.mdx', 'Later words.\n');
    await site.change(undefined);
    await site.change(['guides']);
    expect(await bodyOf(site, '/')).toContain('Later words');
    const named = refused.map((why) => why.replaceAll(folder, '').split(' ')[0]);
    expect(new Set(named)).toEqual(new Set(['/config.txt', '/folder/secret.mdx', '/guides/secret.txt']));
    expect(named).toHaveLength(3);
    // A file of the project that is replaced by such a link is gone.
    rmSync(join(folder, 'own.css'));
    symlinkSync(join(outside, 'secret.mdx'), join(folder, 'own.css'));
    await site.change(['own.css']);
    expect(await bodyOf(site, '/own.css')).toBe('missing');
  });

  test('lives with files that vanish, with long names, and with links in circles', async () => {
    const { site, folder, write } = await start();
    write(`guides/${'n'.repeat(240)}.mdx`, '---\ntitle: Long\n---\n\nA long name.\n');
    symlinkSync(folder, join(folder, 'circle'));
    symlinkSync('gone.mdx', join(folder, 'dangling.mdx'));
    await site.change(undefined);
    await expectExport(site, folder);
    const gone = site.answer('/guides/trees');
    rmSync(join(folder, 'guides/trees.mdx'));
    expect((await gone).kind).toBe('file');
    await site.change(undefined);
    expect((await site.answer('/guides/trees')).kind).toBe('missing');
  });
});

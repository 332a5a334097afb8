import { readFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { memoryProject } from '../../../test/support/memory-project.ts';
import { newFolder } from '../../../test/support/new-folder.ts';
import { answering, description, otherSite } from '../../../test/support/other-site.ts';
import { runCommand } from '../../../test/support/start-installation.ts';
import { remoteParts } from './remote-parts.ts';
import { withFiles } from './with-files.ts';
import type { ProjectFiles } from '#shared/docs/project/project-files.ts';
import { pageSlice } from '#shared/docs/render/page-slice.ts';
import { fontCss } from '#shared/docs/render/site/font-css.ts';
import { indexSite } from '#shared/docs/render/site-index.ts';
import { testOptions, testProject } from '#shared/docs/render/test-project.ts';
import { packageFile } from '#shared/runtime/installed-packages.ts';
import { readDocsProject } from '#shared/docs/project/read-docs-project.ts';

const elsewhere = otherSite();
let cache: string;
let folder: string;

beforeEach(() => {
  cache = newFolder();
  folder = newFolder();
});

const docs = (navigation: unknown, more: object = {}) =>
  JSON.stringify({ name: 'A', theme: 'mint', colors: { primary: '#0f766e' }, navigation, ...more });
const options = (more: object = {}) => ({ allowPrivate: true, folder, cache, ...more });
const codesOf = (found: { diagnostics: readonly { code: string }[] }) => found.diagnostics.map(({ code }) => code);

const api = () => memoryProject({ 'docs.json': docs({ openapi: `${elsewhere.origin}/openapi.json` }) });
const lockText = () => readFile(join(folder, 'docs.lock.json'), 'utf8');
const changed = () => answering(`openapi: 3.0.1\npaths:\n  /users:\n    get: { summary: Changed }\n`);
const titlesOf = async (project: ProjectFiles, { files }: { files: ReadonlyMap<string, Uint8Array> }) =>
  (await readDocsProject(withFiles(project, files))).pages.map(({ title }) => title);

describe('an API description that a project names by address', () => {
  test('is fetched once each, wherever it is named, and its operations have pages', async () => {
    elsewhere.answers['/own'] = answering(`# Ours\nopenapi: 3.1.0\npaths:\n  /a:\n    get:\n      summary: Get A\n`, {
      'content-type': 'text/plain',
    });
    elsewhere.answers['/events.json'] = answering(
      JSON.stringify({ asyncapi: '3.0.0', channels: { lights: { address: 'lights', title: 'Lights' } } }),
    );
    const project = memoryProject({
      'docs.json': docs(
        {
          tabs: [
            { tab: 'API', openapi: { source: `${elsewhere.origin}/openapi.json`, directory: 'api' } },
            {
              tab: 'More',
              groups: [
                { group: 'G', pages: ['index', `${elsewhere.origin}/own GET /a`, `${elsewhere.origin}/linked`] },
              ],
            },
          ],
        },
        { api: { openapi: [`${elsewhere.origin}/openapi.json#part`] } },
      ),
      'index.mdx': `---\nasyncapi: "${elsewhere.origin}/events.json lights"\n---\n`,
      'same.mdx': `---\nopenapi: "${elsewhere.origin}/openapi.json GET /users"\n---\n`,
    });
    const first = await remoteParts(project, options());
    expect(elsewhere.asked.sort()).toEqual(['/events.json', '/openapi.json', '/own']);
    expect(first.diagnostics).toEqual([]);
    const model = await readDocsProject(withFiles(project, first.files));
    expect(model.diagnostics).toEqual([]);
    expect(model.pages.map(({ path, title }) => [path, title])).toEqual([
      ['api-reference/get-a', 'Get A'],
      ['api/list-users', 'List users'],
      ['index', 'Lights'],
      ['same', 'List users'],
    ]);
    expect(JSON.stringify(model)).not.toContain('_remote');
    // The bytes of the lock come from the cache, also without a connection.
    await elsewhere.stop();
    const later = await remoteParts(project, options());
    expect(later.diagnostics).toEqual([]);
    expect(later.files).toEqual(first.files);
    const manifest = JSON.parse(Buffer.from(first.files.get('_remote/manifest.json') ?? '').toString()) as unknown;
    expect(manifest).toMatchObject({
      formatVersion: 2,
      files: [
        { address: `${elsewhere.origin}/events.json` },
        {
          address: `${elsewhere.origin}/openapi.json`,
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
          file: expect.stringMatching(/^_remote\/[0-9a-f]{32}\.json$/) as string,
        },
        { address: `${elsewhere.origin}/own`, file: expect.stringMatching(/\.yaml$/) as string },
      ],
    });
  });

  test('comes from the project itself where there is no other copy, and a fetched one wins over that', async () => {
    const { files } = await remoteParts(api(), options());
    const own = Object.fromEntries([...files].map(([path, bytes]) => [path, bytes]));
    const project = memoryProject({ 'docs.json': docs({ openapi: `${elsewhere.origin}/openapi.json` }), ...own });
    elsewhere.answers['/openapi.json'] = changed();
    expect(await titlesOf(project, await remoteParts(project, options({ refresh: true })))).toEqual(['Changed']);
    [cache, folder] = [newFolder(), newFolder()];
    elsewhere.answers['/openapi.json'] = answering('gone', {}, 500);
    const kept = await remoteParts(project, options());
    expect(codesOf(kept)).toEqual(['remote-copy-used']);
    expect(await titlesOf(project, kept)).toEqual(['List users']);
    expect((await readDocsProject(withFiles(project, kept.files))).assets).toEqual([]);
  });
});

describe('the lock of a project', () => {
  test('is written by the first run, sorted, and stays the same until something changes', async () => {
    elsewhere.answers['/b.json'] = answering(description('B'));
    const project = memoryProject({
      'docs.json': docs({ openapi: [`${elsewhere.origin}/openapi.json`, `${elsewhere.origin}/b.json`] }),
    });
    await remoteParts(project, options());
    const written = await lockText();
    const lines = written.trim().split('\n');
    expect(lines).toHaveLength(7);
    expect(lines[3]).toMatch(
      /^ {4}"http.*\/b\.json": \{ "sha256": "[0-9a-f]{64}", "sizeBytes": \d+, "type": "application\/json" \},$/,
    );
    await remoteParts(project, options({ cache: newFolder() }));
    expect(await lockText()).toBe(written);
    // An address that is no longer named leaves the lock.
    await remoteParts(api(), options());
    expect(Object.keys((JSON.parse(await lockText()) as { parts: object }).parts)).toEqual([
      `${elsewhere.origin}/openapi.json`,
    ]);
  });

  test('refuses other bytes, until they are taken over', async () => {
    await remoteParts(api(), options());
    const written = await lockText();
    elsewhere.answers['/openapi.json'] = changed();
    expect(await titlesOf(api(), await remoteParts(api(), options()))).toEqual(['List users']);
    cache = newFolder();
    const refused = await remoteParts(api(), options());
    expect(refused.diagnostics).toMatchObject([
      {
        severity: 'error',
        code: 'remote-changed',
        file: 'docs.json',
        message: expect.stringContaining('--refresh') as string,
      },
    ]);
    expect([refused.files.size, await lockText()]).toEqual([0, written]);
    const taken = await remoteParts(api(), options({ refresh: true }));
    expect(taken.diagnostics).toEqual([]);
    expect(await titlesOf(api(), taken)).toEqual(['Changed']);
    expect(await lockText()).not.toBe(written);
  });

  test('keeps its entry and the copy where a site does not answer', async () => {
    await remoteParts(api(), options());
    const written = await lockText();
    elsewhere.answers['/openapi.json'] = answering('gone', {}, 500);
    const refreshed = await remoteParts(api(), options({ refresh: true }));
    expect([codesOf(refreshed), refreshed.files.size, await lockText()]).toEqual([['remote-copy-used'], 2, written]);
    // A damaged copy is ignored.
    for (const name of await readdir(cache)) await writeFile(join(cache, name), '{}');
    const broken = await remoteParts(api(), options());
    expect([codesOf(broken), broken.files.size, await lockText()]).toEqual([['remote-fetch-failed'], 0, written]);
  });

  test('is only read in CI, which says what it lacks and what nothing names', async () => {
    const found = await remoteParts(api(), options({ isCi: true }));
    expect(found.diagnostics).toMatchObject([
      { severity: 'warning', code: 'lock-out-of-date', file: 'docs.lock.json' },
    ]);
    expect([found.files.size, await readdir(folder)]).toEqual([2, []]);
    await remoteParts(api(), options());
    const written = await lockText();
    elsewhere.answers['/b.json'] = answering(description('B'));
    const other = memoryProject({ 'docs.json': docs({ openapi: `${elsewhere.origin}/b.json` }) });
    const said = await remoteParts(other, options({ isCi: true }));
    expect(said.diagnostics.map(({ severity, code }) => [severity, code])).toEqual([
      ['warning', 'lock-out-of-date'],
      ['info', 'lock-out-of-date'],
    ]);
    expect(await lockText()).toBe(written);
    await remoteParts(other, options({ isCi: true, refresh: true }));
    expect(await lockText()).toContain('/b.json');
  });

  test.each([
    ['{', 'JSON'],
    ['{"lockVersion": 2, "parts": {}}', 'lockVersion'],
    ['{"lockVersion": 1, "parts": {"https://a.test/": {"sha256": "x", "sizeBytes": 1, "type": "a"}}}', 'sha256'],
    ['<<<<<<< ours\n{}', 'JSON'],
  ])('that is damaged is an error, and --refresh writes it anew: %s', async (text, why) => {
    await writeFile(join(folder, 'docs.lock.json'), text);
    const refused = await remoteParts(api(), options());
    expect(refused.diagnostics).toMatchObject([
      { severity: 'error', code: 'bad-lock', message: expect.stringContaining(why) as string },
    ]);
    expect(elsewhere.asked).toEqual([]);
    expect(codesOf(await remoteParts(api(), options({ refresh: true })))).toEqual([]);
    expect(codesOf(await remoteParts(api(), options()))).toEqual([]);
  });

  test('is not a file of the site', async () => {
    const model = await readDocsProject(
      memoryProject({ 'docs.json': docs({ pages: ['index'] }), 'index.mdx': 'A', 'docs.lock.json': '{}' }),
    );
    expect(model.assets).toEqual([]);
  });
});

describe('fonts', () => {
  const woff2 = readFileSync(packageFile('katex/dist/fonts/KaTeX_Main-Regular.woff2'));
  const fontAnswer = answering(woff2, { 'content-type': 'font/woff2' });
  const cssOf = async (project: ProjectFiles, { files }: { files: ReadonlyMap<string, Uint8Array> }) => {
    const { settings, assets, diagnostics } = await readDocsProject(withFiles(project, files));
    const there = new Set(assets.map(({ path }) => path));
    return { css: fontCss(settings.fonts ?? {}, (path) => there.has(path)), diagnostics };
  };

  test('at an address are files of the site', async () => {
    elsewhere.answers['/acme.woff2'] = fontAnswer;
    const project = memoryProject({
      'docs.json': docs({ pages: ['index'] }, { fonts: { family: 'Acme', source: `${elsewhere.origin}/acme.woff2` } }),
      'index.mdx': 'A',
    });
    const { css, diagnostics } = await cssOf(project, await remoteParts(project, options()));
    expect(css).toMatch(/font-family: "Acme";\n {2}src: url\("\.\.\/_remote\/[0-9a-f]{32}\.woff2"\) format\("woff2"\)/);
    expect([diagnostics, css.includes(elsewhere.origin)]).toEqual([[], false]);
  });

  test('of Google Fonts have a file for each range of characters, and readers load nothing from there', async () => {
    const face = (weight: number, name: string, range: string) =>
      `/* ${name} */ @font-face { font-family: 'Inter'; font-style: normal; font-weight: ${weight}; src: url(${elsewhere.origin}/s/${name}.woff2) format('woff2'); unicode-range: ${range}; }`;
    const style = [
      face(400, 'latin', 'U+0000-00FF, U+2000-206F'),
      face(700, 'latin', 'U+0000-00FF, U+2000-206F'),
      face(400, 'greek', 'U+0370-03FF'),
    ];
    const styleAnswer = answering(style.join('\n'), { 'content-type': 'text/css' });
    // A family without one of the weights of the theme.
    elsewhere.answers['/css2?family=Inter:wght@400;600;700&display=swap'] = answering('no', {}, 400);
    elsewhere.answers['/css2?family=Inter:wght@400;700&display=swap'] = styleAnswer;
    elsewhere.answers['/s/latin.woff2'] = elsewhere.answers['/s/greek.woff2'] = fontAnswer;
    const project = memoryProject({
      'docs.json': docs({ pages: ['index'] }, { fonts: { family: 'Inter' } }),
      'index.mdx': 'A',
    });
    const parts = await remoteParts(project, options({ fontService: elsewhere.origin }));
    const { css, diagnostics } = await cssOf(project, parts);
    expect([parts.diagnostics, diagnostics]).toEqual([[], []]);
    expect(css.match(/@font-face/g)).toHaveLength(3);
    expect(css).toContain('  font-weight: 400;\n  font-display: swap;\n  unicode-range: U+0370-03FF;\n');
    expect(css).not.toMatch(/https?:/);
    const addresses = Object.keys((JSON.parse(await lockText()) as { parts: object }).parts);
    expect(addresses).toEqual([
      `${elsewhere.origin}/s/greek.woff2`,
      `${elsewhere.origin}/s/latin.woff2`,
      'https://fonts.googleapis.com/css2?family=Inter:wght@400;700&display=swap',
    ]);
    await elsewhere.stop();
    const offline = await remoteParts(project, options({ fontService: elsewhere.origin }));
    expect([offline.diagnostics, offline.files]).toEqual([[], parts.files]);
    expect((await remoteParts(project, options({ fetch: false }))).files).toEqual(parts.files);
  });

  test('that Google Fonts does not have are left to the system, as the reader of the project says', async () => {
    const project = memoryProject({
      'docs.json': docs({ pages: ['index'] }, { fonts: { family: 'Acme Sans', weight: 450 } }),
      'index.mdx': 'A',
    });
    for (const weights of [':wght@400;450;600;700', ':wght@400;450;700', ':wght@400;700', ''])
      elsewhere.answers[`/css2?family=Acme+Sans${weights}&display=swap`] = answering('no', {}, 400);
    const parts = await remoteParts(project, options({ fontService: elsewhere.origin }));
    expect(parts.diagnostics).toEqual([]);
    expect(elsewhere.asked).toHaveLength(4);
    const { diagnostics } = await cssOf(project, parts);
    expect(parts.withoutSaid(diagnostics)).toMatchObject([{ code: 'font-without-file' }]);
  });

  test('whose style sheet leads to another private host are not fetched from there', async () => {
    const other = elsewhere.origin.replace('127.0.0.1', 'localhost');
    elsewhere.answers['/css2?family=Inter:wght@400;600;700&display=swap'] = answering(
      `@font-face { src: url(${other}/s.woff2) } @font-face { src: url(http://169.254.169.254/key) }`,
      { 'content-type': 'text/css' },
    );
    const project = memoryProject({
      'docs.json': docs({ pages: ['index'] }, { fonts: { family: 'Inter' } }),
      'index.mdx': '',
    });
    const { diagnostics } = await remoteParts(project, options({ fontService: elsewhere.origin }));
    expect(diagnostics.map(({ code }) => code)).toEqual(['remote-fetch-failed', 'remote-fetch-failed']);
    expect(elsewhere.asked).toEqual(['/css2?family=Inter:wght@400;600;700&display=swap']);
  });
});

describe('pictures of other sites', () => {
  const png = readFileSync(new URL('../../../infra/docs/images/console-audit.png', import.meta.url));
  const pictures = () =>
    memoryProject({
      'docs.json': docs(
        { pages: ['index'] },
        { logo: { light: `${elsewhere.origin}/logo.png`, dark: `${elsewhere.origin}/logo.png` } },
      ),
      'index.mdx': `![A](${elsewhere.origin}/a.png?x=1&amp;y=2)\n\n<img alt="B" src="${elsewhere.origin}/b.png" />\n\n<Part />\n\n\`\`\`md\n![C](${elsewhere.origin}/code.png)\n\`\`\`\n\n<iframe src="${elsewhere.origin}/frame" title="x" />\n`,
      'snippets/part.mdx': `<Card title="D" img="${elsewhere.origin}/d.png" href="/index">Words</Card>`,
    });

  test('stay there, unless the author asks for them once', async () => {
    for (const path of ['/logo.png', '/a.png?x=1&y=2', '/b.png', '/d.png'])
      elsewhere.answers[path] = answering(png, { 'content-type': 'image/png' });
    expect((await remoteParts(pictures(), options())).files.size).toBe(0);
    expect(elsewhere.asked).toEqual([]);
    const found = await remoteParts(pictures(), options({ pictures: true }));
    expect(found.diagnostics).toEqual([]);
    expect(elsewhere.asked.sort()).toEqual(['/a.png?x=1&y=2', '/b.png', '/d.png', '/logo.png']);
    expect(await lockText()).toContain('"pictures": true');
    // The lock keeps the wish for later commands.
    expect((await remoteParts(pictures(), options())).files).toEqual(found.files);
    const none = await remoteParts(pictures(), options({ pictures: false }));
    expect([none.files.size, await lockText()]).toEqual([0, '{\n  "lockVersion": 1,\n  "parts": {}\n}\n']);
  });

  test('that cannot be fetched are reported with the line that names them', async () => {
    elsewhere.answers['/a.png?x=1&y=2'] = answering('<html>', { 'content-type': 'text/html' });
    const { diagnostics } = await remoteParts(pictures(), options({ pictures: true }));
    expect(diagnostics.map(({ code, file, line }) => [code, file, line])).toEqual(
      expect.arrayContaining([
        ['remote-fetch-failed', 'docs.json', 1],
        ['remote-fetch-failed', 'index.mdx', 1],
        ['remote-fetch-failed', 'index.mdx', 3],
        ['remote-fetch-failed', 'snippets/part.mdx', 1],
      ]),
    );
    expect(diagnostics).toHaveLength(4);
  });

  test('are shown from the site itself, with their sizes', async () => {
    for (const path of ['/logo.png', '/a.png?x=1&y=2', '/b.png', '/d.png'])
      elsewhere.answers[path] = answering(png, { 'content-type': 'image/png' });
    const project = pictures();
    const { files } = await remoteParts(project, options({ pictures: true }));
    const texts = Object.fromEntries(
      await Promise.all(
        project.files.map(async ({ path }) => [path, Buffer.from(await project.read(path, 1e6)).toString()] as const),
      ),
    );
    const source = `import Part from "/snippets/part.mdx"\n\n${texts['index.mdx']}`;
    const site = await testProject({ ...texts, ...Object.fromEntries(files), 'index.mdx': source });
    expect(pageSlice(indexSite(site.model), 'index', testOptions).settings.logo?.light).toMatch(
      /^_remote\/[0-9a-f]{32}\.png$/,
    );
    const html = String(site.render('index').files.find(({ path }) => path === 'index.html')?.body);
    const shown = [...html.matchAll(/<img[^>]*>/g)].map(([tag]) => tag);
    expect(shown.filter((tag) => tag.includes('src="./_remote/')).length).toBeGreaterThanOrEqual(4);
    expect(shown.filter((tag) => tag.includes(elsewhere.origin))).toEqual([]);
    expect(shown.find((tag) => tag.includes('alt="B"'))).toMatch(/ width="\d+"/);
  });
});

describe('the archive is not believed', () => {
  test('a copy is read for the address of its name alone, whatever a manifest says', async () => {
    const { files } = await remoteParts(
      memoryProject({ 'docs.json': docs({ openapi: `${elsewhere.origin}/openapi.json` }) }),
      options(),
    );
    const forged = memoryProject({
      'docs.json': docs({ pages: ['index'], openapi: 'https://other.example/openapi.json' }),
      'index.mdx': '---\nopenapi: GET /users\n---\n',
      ...Object.fromEntries(files),
      '_remote/manifest.json': JSON.stringify({
        formatVersion: 1,
        descriptions: [{ address: 'https://other.example/openapi.json', file: [...files.keys()][0], sha256: 'x' }],
      }),
    });
    const model = await readDocsProject(forged);
    expect(model.pages.map(({ path, reference }) => [path, reference])).toEqual([['index', undefined]]);
    expect(codesOf(model)).toEqual(expect.arrayContaining(['openapi-not-fetched', 'openapi-operation-missing']));
    expect([...model.assets, ...model.specs]).toEqual([]);
  });
});

test('check fetches unless it must not, reports failures, and asks no private address by default', async () => {
  await writeFile(join(folder, 'docs.json'), docs({ openapi: `${elsewhere.origin}/openapi.json` }));
  await writeFile(join(folder, 'index.mdx'), 'Hello.');
  const env = { BINDERY_CACHE: cache, CI: '' };
  const without = await runCommand(['check', folder, '--no-remote'], env);
  expect(without.stdout).toMatch(/^docs\.json\n {2}\d+(?::\d+)? {2}warning {2}.* Publish with "bindery publish"/m);
  expect(without.stdout).toMatch(/^API descriptions and fonts that are named by address were not fetched/m);
  const careful = await runCommand(['check', folder], env);
  expect(careful.stdout).toMatch(/^ {2}[\d:]+ {2}warning {2}.* needs --private-addresses\. Its pages are missing\./m);
  expect(careful.stdout).not.toContain('openapi-not-fetched');
  expect(elsewhere.asked).toEqual([]);
  const fetched = await runCommand(['check', folder, '--private-addresses'], env);
  expect(fetched.stdout).toBe('2 pages: no problems.\n');
  expect(elsewhere.asked).toEqual(['/openapi.json']);
  expect((await readdir(folder)).sort()).toEqual(['docs.json', 'docs.lock.json', 'index.mdx']);
  elsewhere.answers['/openapi.json'] = changed();
  const refused = await runCommand(['check', folder, '--private-addresses'], { ...env, BINDERY_CACHE: newFolder() });
  expect(refused.stdout).toContain('remote-changed');
  expect(refused.code).toBe(1);
});

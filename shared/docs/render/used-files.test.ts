import { expect, test } from 'vitest';
import { exportedPages, filesOfSite } from './site-index.ts';
import { testProject } from './test-project.ts';

const description = (title: string, path: string) =>
  JSON.stringify({ openapi: '3.1.0', info: { title, version: '1' }, paths: { [path]: { get: { responses: {} } } } });

const files = {
  'docs.json': JSON.stringify({
    name: 'T',
    theme: 'mint',
    colors: { primary: '#000000' },
    logo: '/brand/logo.svg',
    navigation: { pages: ['index', 'secret/plan', 'secret/api'] },
    redirects: [{ source: '/old', destination: '/files/kept-by-redirect.pdf' }],
  }),
  'index.mdx':
    '---\ntitle: Start\n"og:image": images/social.png\n---\nimport Shared from "/snippets/shared.mdx"\n\n![a](/images/public.png) ![b](./images/my%20file.png) [file](/files/public.pdf) ![both](/images/both.png)\n\n<Shared />\n',
  'secret/plan.mdx':
    '---\ntitle: Plan\ngroups: [admins]\nicon: /images/icon.svg\n---\nimport Own from "/snippets/own.mdx"\n\n![a](/images/secret.png) ![b](./near.png) ![both](/images/both.png) ![css](/images/by-style.png) ![js](/images/by-script.png) ![logo](/brand/logo.svg) [pdf](/files/kept-by-redirect.pdf)\n\n<Own />\n',
  'secret/api.mdx': '---\ntitle: API\ngroups: [admins]\nopenapi: internal.json GET /internal\n---\n',
  'snippets/shared.mdx': '![s](/images/of-shared.png)',
  'snippets/own.mdx': '![s](/images/of-own.png)',
  'openapi.json': description('Public', '/public'),
  'internal.json': description('Internal', '/internal'),
  'style.css': '.a { background: url("images/by-style.png") }',
  'own.js': 'const folder = "/images/"; show(folder + "by-script.png");',
  ...Object.fromEntries(
    [
      ...['images/public.png', 'images/my file.png', 'images/both.png', 'images/secret.png', 'images/social.png'],
      ...[
        'images/of-shared.png',
        'images/of-own.png',
        'images/by-style.png',
        'images/by-script.png',
        'images/icon.svg',
      ],
      ...['images/nobody.png', 'secret/near.png', 'secret/unnamed.png', 'brand/logo.svg', 'unnamed.png'],
      ...['files/public.pdf', 'files/kept-by-redirect.pdf'],
    ].map((path) => [path, path]),
  ),
};

test('files that only left-out pages name are not in the bundle, all others are', async () => {
  const { model } = await testProject(files);
  const filesFor = (groups: string[]) =>
    filesOfSite(model, new Set(exportedPages(model, groups))).files.map(({ path }) => path);
  const all = filesOfSite(model).files.map(({ path }) => path);
  expect(all.filter((path) => !filesFor([]).includes(path)).sort()).toEqual([
    'images/icon.svg',
    'images/of-own.png',
    'images/secret.png',
    'internal.json',
    'secret/near.png',
    'secret/unnamed.png',
  ]);
  expect(filesFor(['admins'])).toEqual(all);
});

test('all files stay if the model does not list the names in style sheets and scripts', async () => {
  const { model } = await testProject(files);
  const { namedFiles: _, ...earlier } = model;
  const exported = new Set(exportedPages(model, []));
  expect(filesOfSite(earlier, exported).files).toEqual(filesOfSite(model).files);
});

test('files stay if a style sheet or script is too large to be read', async () => {
  const large = `${' '.repeat(2 * 1024 * 1024)}x`;
  const { model } = await testProject({ ...files, 'own.js': large });
  expect(filesOfSite(model, new Set(exportedPages(model, []))).files.map(({ path }) => path)).toContain(
    'images/secret.png',
  );
});

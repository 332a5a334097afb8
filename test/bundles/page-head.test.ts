import { expect, test } from 'vitest';
import type { ProjectFiles } from '#shared/docs/project/project-files.ts';
import { renderPage } from '#shared/docs/render/render-page.ts';
import { renderSite } from '#shared/docs/render/site/render-site.ts';
import { indexSite } from '#shared/docs/render/site-index.ts';
import { testOptions } from '#shared/docs/render/test-project.ts';
import { memoryProject } from '../support/memory-project.ts';
import { publishedProject } from '../support/published-project.ts';
import { fullProject, fullSettings, plainProject } from './projects.ts';

/* The complete heads of pages, and the scripts of their bodies. A tag that is missing, new or at another place makes a test here fail. */

async function pageOf(project: ProjectFiles, path: string): Promise<string> {
  const { model, pageInput } = await publishedProject(project);
  const ofSite = renderSite(model, testOptions).find((file) => file.path === `${path}.html`);
  const file = ofSite ?? renderPage(await pageInput(indexSite(model), path, testOptions)).files[0];
  return Buffer.from(file?.body ?? '').toString();
}

/** The tags of a page's head, one per line of its source. Hashes, the policy and structured data are shortened. */
async function headOf(project: ProjectFiles, path: string): Promise<string[]> {
  const [, head = ''] = /<head>\n([^]*?)<\/head>/.exec(await pageOf(project, path)) ?? [];
  return head
    .split('\n')
    .filter((line) => line !== '')
    .map((line) =>
      line
        .replace(/("Content-Security-Policy" content=")[^"]+"/, '$1…"')
        .replace(/[0-9a-f]{16}/, '<hash>')
        .replace(/(?<=<script type="application\/ld\+json">).*(?=<\/script>)/, typesIn)
        .replace(/(?<=<style>)[^]+(?=<\/style>)/, '…'),
    );
}

/** The types of the nodes of structured data, in the order of its graph. */
const typesIn = (json: string): string =>
  (JSON.parse(json) as { '@graph': { '@type': string }[] })['@graph'].map((node) => node['@type']).join(', ');

const beginning = (top: string): string[] => [
  '<meta charset="utf-8">',
  '<meta http-equiv="Content-Security-Policy" content="…">',
  '<meta name="viewport" content="width=device-width, initial-scale=1">',
  `<script src="${top}_bindery/config.js"></script>`,
  `<script src="${top}_bindery/start.js"></script>`,
];

test('a page with all features has each tag of a head', async () => {
  expect(await headOf(fullProject, 'guides/rich')).toEqual([
    ...beginning('../'),
    '<title>Rich - Acme</title>',
    '<meta name="description" content="All features">',
    '<meta name="keywords" content="one, two">',
    '<meta name="robots" content="nofollow">',
    '<link rel="canonical" href="https://acme.test/docs/guides/rich">',
    '<link rel="alternate" hreflang="en" href="https://acme.test/docs/guides/rich">',
    '<link rel="alternate" hreflang="ja" href="https://acme.test/docs/ja/guides/rich">',
    '<link rel="alternate" hreflang="x-default" href="https://acme.test/docs/guides/rich">',
    '<meta name="application-name" content="Acme">',
    '<meta name="generator" content="Bindery">',
    '<meta property="og:title" content="Rich">',
    '<meta property="og:type" content="website">',
    '<meta property="og:site_name" content="Acme">',
    '<meta property="og:url" content="https://acme.test/docs/guides/rich">',
    '<meta property="og:description" content="All features">',
    '<meta property="og:image" content="https://acme.test/docs/_bindery/cards/<hash>.png">',
    '<meta property="og:image:type" content="image/png">',
    '<meta property="og:image:width" content="1200">',
    '<meta property="og:image:height" content="630">',
    '<meta property="og:image:alt" content="Rich">',
    '<meta name="twitter:site" content="@acme">',
    '<meta name="theme-color" content="#0f766e">',
    '<meta property="article:author" content="Acme">',
    '<meta name="twitter:title" content="Short">',
    '<meta name="twitter:card" content="summary_large_image">',
    '<script type="application/ld+json">TechArticle, BreadcrumbList</script>',
    '<link rel="icon" href="../light.svg" media="(prefers-color-scheme: light)">',
    '<link rel="icon" href="../dark.svg" media="(prefers-color-scheme: dark)">',
    '<link rel="alternate" type="application/rss+xml" href="../guides/rich/rss.xml">',
    '<link rel="alternate" type="text/markdown" href="../guides/rich.md">',
    '<link rel="prev" href="../guides/first.html">',
    '<link rel="next" href="../changelog.html">',
    '<link rel="stylesheet" href="../_bindery/theme.css">',
    '<link rel="stylesheet" href="../_bindery/classes.css">',
    '<link rel="stylesheet" href="../_bindery/math.css">',
    '<link rel="stylesheet" href="../own.css">',
    '<link rel="stylesheet" href="../_bindery/styles/<hash>.css">',
  ]);
});

test('a page of an operation is an API reference in its structured data', async () => {
  expect(await headOf(fullProject, 'guides/first')).toContain(
    '<script type="application/ld+json">APIReference, BreadcrumbList</script>',
  );
});

test('a page that is not indexed has no structured data, and a page without a card no picture', async () => {
  expect(await headOf(fullProject, 'ja/guides/plain')).toEqual([
    ...beginning('../../'),
    '<title>普通 - Acme</title>',
    '<meta name="robots" content="noindex">',
    '<link rel="canonical" href="https://acme.test/docs/ja/guides/plain">',
    '<meta name="application-name" content="Acme">',
    '<meta name="generator" content="Bindery">',
    '<meta property="og:title" content="普通">',
    '<meta property="og:type" content="website">',
    '<meta property="og:site_name" content="Acme">',
    '<meta property="og:url" content="https://acme.test/docs/ja/guides/plain">',
    '<meta name="twitter:site" content="@acme">',
    '<meta name="theme-color" content="#0f766e">',
    '<meta property="article:author" content="Acme">',
    '<meta name="twitter:card" content="summary">',
    '<link rel="icon" href="../../light.svg" media="(prefers-color-scheme: light)">',
    '<link rel="icon" href="../../dark.svg" media="(prefers-color-scheme: dark)">',
    '<link rel="alternate" type="text/markdown" href="../../ja/guides/plain.md">',
    '<link rel="prev" href="../../ja/guides/rich.html">',
    '<link rel="stylesheet" href="../../_bindery/theme.css">',
    '<link rel="stylesheet" href="../../_bindery/classes.css">',
    '<link rel="stylesheet" href="../../own.css">',
  ]);
});

const plainHead = [
  ...beginning('./'),
  '<title>Start - Plain</title>',
  '<meta name="application-name" content="Plain">',
  '<meta name="generator" content="Bindery">',
  '<meta property="og:title" content="Start">',
  '<meta property="og:type" content="website">',
  '<meta property="og:site_name" content="Plain">',
  '<meta name="twitter:card" content="summary">',
  '<script type="application/ld+json">TechArticle</script>',
  '<link rel="alternate" type="text/markdown" href="./index.md">',
  '<link rel="stylesheet" href="./_bindery/theme.css">',
  '<link rel="stylesheet" href="./_bindery/classes.css">',
];

test('a plain page has these tags and no others', async () => {
  expect(await headOf(plainProject, 'index')).toEqual(plainHead);
});

test('one icon for both appearances is one tag', async () => {
  const { name, theme, colors } = fullSettings;
  const settings = { name, theme, colors, favicon: '/icon.svg', navigation: { pages: ['index'] } };
  const project = memoryProject({
    'docs.json': JSON.stringify(settings),
    'index.mdx': 'Words.',
    'icon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  });
  const icons = (await headOf(project, 'index')).filter((tag) => tag.includes('rel="icon"'));
  expect(icons).toEqual(['<link rel="icon" href="./icon.svg">']);
});

test('the page for missing addresses has these tags and no others', async () => {
  expect(await headOf(fullProject, '404')).toEqual([
    '<meta charset="utf-8">',
    '<meta http-equiv="Content-Security-Policy" content="…">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<title>Page not found - Acme</title>',
    '<meta name="robots" content="noindex">',
    '<style>…</style>',
  ]);
});

test('the page of a redirect has these tags and no others', async () => {
  expect(await headOf(fullProject, 'old')).toEqual([
    '<meta charset="utf-8">',
    '<meta http-equiv="Content-Security-Policy" content="…">',
    '<title>This page has moved.</title>',
    '<meta name="robots" content="noindex">',
    '<link rel="canonical" href="https://acme.test/docs/guides/first">',
    '<meta http-equiv="refresh" content="0; url=./guides/first.html">',
    '<meta name="redirect" content="permanent">',
    '<link rel="stylesheet" href="./_bindery/theme.css">',
  ]);
});

/** Addresses of the scripts that a page loads, in their order, without hashes. */
async function scriptsOf(project: ProjectFiles, path: string): Promise<string[]> {
  const scripts = (await pageOf(project, path)).matchAll(/<script src="([^"]+)"/g);
  return [...scripts].map(([, address = '']) => address.replace(/[0-9a-f]{16}/, '<hash>'));
}

test('a page loads the scripts of its parts, after those of every page', async () => {
  const files = (top: string, ...names: string[]) => names.map((name) => `${top}_bindery/${name}`);
  expect(await scriptsOf(plainProject, 'index')).toEqual(
    files('./', 'config.js', 'start.js', 'navigation/main.js', 'sidebar.js', 'site.js'),
  );
  expect(await scriptsOf(fullProject, 'guides/rich')).toEqual([
    ...files('../', 'config.js', 'start.js', 'navigation/en.js', 'sidebar.js', 'site.js', 'diagrams.js', 'islands.js'),
    '../own.js',
  ]);
  expect(await scriptsOf(fullProject, 'ja/guides/plain')).toEqual([
    ...files('../../', 'config.js', 'start.js', 'navigation/ja.js', 'sidebar.js', 'texts/ja.js', 'site.js'),
    '../../own.js',
  ]);
});

/** Directives of a page's content security policy. */
async function policyOf(project: ProjectFiles, path: string): Promise<string[]> {
  const [, policy = ''] = /"Content-Security-Policy" content="([^"]+)"/.exec(await pageOf(project, path)) ?? [];
  return policy.replaceAll('&#39;', "'").split('; ');
}

test('the policy of a page allows its own files, and files of other sites only for the scripts and styles of its project', async () => {
  const plain = {
    'default-src': "'self' file:",
    'script-src': "'self' file:",
    'style-src': "'self' file:",
    'style-src-attr': "'unsafe-inline'",
    'img-src': "'self' file: https: data:",
    'media-src': "'self' file: https:",
    'font-src': "'self' file: https: data:",
    'frame-src': 'https:',
    'connect-src': "'self' https: http:",
    'form-action': "'none'",
    'object-src': "'none'",
    'base-uri': "'none'",
  };
  const directives = (policy: object) => Object.entries(policy).map(([name, sources]) => `${name} ${sources}`);
  expect(await policyOf(plainProject, 'index')).toEqual(directives(plain));
  expect(await policyOf(fullProject, 'old')).toEqual(directives(plain));
  expect(await policyOf(fullProject, 'guides/rich')).toEqual(
    directives({
      ...plain,
      'script-src': "'self' file: https:",
      'style-src': "'self' file: https: 'unsafe-inline'",
      'img-src': "'self' file: https: data: blob:",
      'media-src': "'self' file: https: blob:",
      'frame-src': 'https: blob:',
      'form-action': "'self' https:",
    }),
  );
  const hash = expect.stringMatching(/^'self' file: 'sha256-[\w+/]{43}='$/) as unknown;
  const ofMissing = (await policyOf(fullProject, '404')).map((directive) => directive.split(/ (.*)/).slice(0, 2));
  expect(Object.fromEntries(ofMissing)).toEqual({ ...plain, 'script-src': hash, 'style-src': hash });
});

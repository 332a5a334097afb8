import { describe, expect, test } from 'vitest';
import { findFile } from './find-file.ts';
import { wildcardRedirects } from '#shared/docs/render/redirects.ts';

const files = new Set([
  'index.html',
  '404.html',
  'guides/x.html',
  'guides/x.md',
  'api/index.html',
  'my page.html',
  '_bindery/site.js',
  'crème.html',
]);
const site = (base = '') => ({
  base,
  has: (path: string) => files.has(path),
  wildcard: wildcardRedirects([
    { source: '/guides/:slug*', destination: '/help/:slug*#top', permanent: true },
    { source: '/loop/:slug*', destination: '/loop/again/:slug*', permanent: false },
    { source: '/broken/*', destination: '/%zz/*', permanent: false },
  ]),
  redirect: (source: string) =>
    ({
      '/docs/Welcome to it': { to: `${base}/guides/x`, permanent: false },
      '/old': { to: `${base}/guides/x#part`, permanent: false },
      '/away': { to: 'https://example.com/', permanent: true },
    })[source],
});
const ask = (target: string, base?: string) => findFile(target, site(base));

test.each([
  ['/', 'index.html'],
  ['/guides/x', 'guides/x.html'],
  ['/guides/x?from=mail', 'guides/x.html'],
  ['/guides/x.md', 'guides/x.md'],
  ['/api', 'api/index.html'],
  ['/my%20page', 'my page.html'],
  ['/cr%C3%A8me', 'crème.html'],
  ['/_bindery/site.js', '_bindery/site.js'],
])('%s is the file %s', (target, path) => {
  expect(ask(target)).toEqual({ kind: 'file', path });
});

test.each([
  ['/guides/x/', '/guides/x'],
  ['/guides/x/?a=1', '/guides/x?a=1'],
  ['/guides/x.html', '/guides/x'],
  ['/index.html', '/'],
  ['/index', '/'],
  ['/api/index', '/api'],
  ['/api/index.html', '/api'],
])('%s leads to %s for good', (target, to) => {
  expect(ask(target)).toEqual({ kind: 'redirect', to, permanent: true });
});

test('redirects with wildcards are for addresses without a page, and lead to no circle', () => {
  const redirect = (to: string, permanent = true) => ({ kind: 'redirect', to, permanent });
  expect(ask('/guides/gone/deep?a=1')).toEqual(redirect('/help/gone/deep?a=1#top'));
  expect(ask('/guides/gone/')).toEqual(redirect('/help/gone#top'));
  expect(ask('/guides/gone.html')).toEqual(redirect('/help/gone.html#top'));
  expect(ask('/docs/guides/gone', '/docs')).toEqual(redirect('/docs/help/gone#top'));
  expect(ask('/guides/x')).toEqual({ kind: 'file', path: 'guides/x.html' });
  expect(ask('/broken/x')).toEqual(redirect('/%zz/x', false));
  expect(ask('/loop/x')).toEqual({ kind: 'missing' });
});

test('redirects of the project lead to their target', () => {
  expect(ask('/old')).toEqual({ kind: 'redirect', to: '/guides/x#part', permanent: false });
  expect(ask('/docs/Welcome%20to%20it')).toMatchObject({ kind: 'redirect', to: '/guides/x' });
  expect(ask('/old.html')).toMatchObject({ to: '/guides/x#part' });
  expect(ask('/away')).toEqual({ kind: 'redirect', to: 'https://example.com/', permanent: true });
});

test('a site below a path answers only there', () => {
  expect(ask('/docs', '/docs')).toEqual({ kind: 'file', path: 'index.html' });
  expect(ask('/docs/', '/docs')).toMatchObject({ kind: 'redirect', to: '/docs' });
  expect(ask('/docs/guides/x/', '/docs')).toMatchObject({ to: '/docs/guides/x' });
  expect(ask('/docs/index.html', '/docs')).toMatchObject({ to: '/docs' });
  expect(ask('/guides/x', '/docs')).toEqual({ kind: 'missing' });
  expect(ask('/docsx', '/docs')).toEqual({ kind: 'missing' });
  expect(ask('/', '/docs')).toEqual({ kind: 'redirect', to: '/docs', permanent: false });
});

test('an address of a version names the bytes', () => {
  const digest = '0123456789abcdef';
  expect(ask(`/_bindery/@${digest}/_bindery/site.js`)).toEqual({ kind: 'versioned', digest, path: '_bindery/site.js' });
  expect(ask('/_bindery/@short/_bindery/site.js')).toEqual({ kind: 'missing' });
});

describe('hostile addresses', () => {
  test.each([
    '/../etc/passwd',
    '/guides/../../etc/passwd',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/guides/%2E%2E/x',
    '/./guides/x',
    '/guides%2fx',
    '/guides%5Cx',
    '/guides\\x',
    '/x%00.html',
    '/x%0d%0aSet-Cookie:a=b',
    '/%c0%af',
    '/%',
    '/%zz',
    'http://other.example/guides/x',
    '*',
    `/${'a'.repeat(5_000)}`,
  ])('%s is refused', (target) => {
    expect(ask(target).kind).toBe('refused');
  });

  test.each([
    '//evil.example/',
    '//evil.example//',
    '/guides//x',
    '/con',
    '/nul.html',
    '/404',
    '/404.html',
    '/__proto__',
    '/constructor',
    '/_bindery/@0123456789abcdef/',
  ])('%s is no page', (target) => {
    expect(ask(target)).toEqual({ kind: 'missing' });
  });
});

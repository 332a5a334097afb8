import { expect, it } from 'vitest';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import { readRedirects } from './read-redirects.ts';

function read(redirects: { source: string; destination: string; permanent?: boolean }[]) {
  const diagnostics: Diagnostic[] = [];
  const kept = readRedirects(
    redirects,
    'docs.json',
    (path) => path === 'page',
    (found) => diagnostics.push(found),
  );
  return { sources: kept.map(({ source }) => source), kept, codes: diagnostics.map(({ code }) => code) };
}

it('keeps paths, patterns and addresses; permanent unless it says no', () => {
  const { kept, codes } = read([
    { source: '/a', destination: '/b' },
    { source: 'c', destination: 'd', permanent: false },
    { source: '/old/:slug*', destination: '/new/:slug*' },
    { source: '/x', destination: 'https://a.example/x' },
  ]);
  expect(kept).toEqual([
    { source: '/a', destination: '/b', permanent: true },
    { source: '/c', destination: '/d', permanent: false },
    { source: '/old/:slug*', destination: '/new/:slug*', permanent: true },
    { source: '/x', destination: 'https://a.example/x', permanent: true },
  ]);
  expect(codes).toEqual([]);
});

it('keeps sources with spaces and letters of any language, whether encoded or not', () => {
  const { kept, codes } = read([
    { source: '/docs/Welcome to it', destination: '/page' },
    { source: '/docs/Hello%20there/', destination: '/page' },
    { source: '/gr%C3%BC%C3%9Fe', destination: '/page' },
    { source: '/old files/:slug*', destination: '/new files/:slug*' },
    { source: '/50%', destination: '/page' },
    { source: '/a%3Ab', destination: '/page' },
  ]);
  expect(kept.map(({ source }) => source)).toEqual([
    '/docs/Welcome to it',
    '/docs/Hello there/',
    '/grüße',
    '/old files/:slug*',
    '/50%',
    '/a%3Ab',
  ]);
  expect(codes).toEqual([]);
});

it.each([
  ['bad-redirect', [{ source: '/a\nb', destination: '/b' }]],
  [
    'duplicate-redirect',
    [
      { source: '/a b', destination: '/c' },
      { source: '/a%20b', destination: '/c' },
    ],
  ],
])('treats both forms as equal: %s', (code, redirects) => {
  expect(read(redirects).codes).toEqual([code]);
});

it.each([
  ['bad-redirect', [{ source: '/:p*', destination: '//example.invalid/:p*' }]],
  ['bad-redirect', [{ source: '/a', destination: 'javascript:alert(1)' }]],
  ['bad-redirect', [{ source: '/a?b', destination: '/b' }]],
  ['bad-redirect', [{ source: String.raw`/a\_b`, destination: '/b' }]],
  ['bad-redirect', [{ source: '', destination: '/b' }]],
  ['redirect-hides-page', [{ source: '/page', destination: '/b' }]],
  ['redirect-loop', [{ source: '/a', destination: '/a' }]],
  ['redirect-loop', [{ source: '/a/:x*', destination: '/a/b/:x*' }]],
])('leaves out with %s', (code, redirects) => {
  expect(read(redirects)).toMatchObject({ sources: [], codes: [code] });
});

it('breaks cycles and keeps the other redirects', () => {
  const found = read([
    { source: '/a', destination: '/b' },
    { source: '/b', destination: '/a' },
    { source: '/ok', destination: '/page' },
    { source: '/ok', destination: '/other' },
  ]);
  expect(found.sources).toEqual(['/ok']);
  expect(found.codes.sort()).toEqual(['duplicate-redirect', 'redirect-loop', 'redirect-loop']);
});

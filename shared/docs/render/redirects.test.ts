import { describe, expect, test } from 'vitest';
import { siteRedirects, wildcardRedirects } from './redirects.ts';

const rule = (source: string, destination: string, permanent = true) => ({ source, destination, permanent });

test.each([
  ['/old/:slug*', '/new/:slug*', '/old/a/b', '/new/a/b'],
  ['/old/*', '/new/*', '/old/a b', '/new/a%20b'],
  ['/a/concepts-:name*', '/b/:name*', '/a/concepts-keys', '/b/keys'],
  ['/:lang/start', '/:lang/begin', '/fr/start', '/fr/begin'],
  ['/wild/*', '/start', '/wild/x', '/start'],
  ['/out/:slug*', 'https://new.example/:slug*?from=old', '/out/x', 'https://new.example/x?from=old'],
  ['/ü/:slug*', '/ö/:slug*', '/ü/x', '/%C3%B6/x'],
  // The reader's part of the path must not turn the target into an address of another server.
  ['/go:slug*', ':slug*', '/go/evil.example', '/evil.example'],
  ['/go:slug*', '/:slug*', '/go//evil.example', '/evil.example'],
])('%s to %s takes %s to %s', (source, destination, path, to) => {
  expect(wildcardRedirects([rule(source, destination)])(path)).toEqual({ to, permanent: true });
});

test.each([
  ['/old/:slug*', '/older'],
  ['/:lang/start', '/fr/deep/start'],
  ['/a.b/*', '/axb/c'],
  // With two stars in a source, finding out that it does not match would take long.
  ['/*/x/*', '/a/x/b'],
])('%s does not match %s', (source, path) => {
  expect(wildcardRedirects([rule(source, '/new')])(path)).toBeUndefined();
});

test.each([
  // The reader's part of the path would choose the server.
  ['/old*', 'https://new.example*', '/old.evil.example/x'],
  ['/old/*', 'https://*.new.example', '/old/evil.example/x'],
  ['/old/:a', 'https://:a/x', '/old/evil.example'],
  // Matching three wildcards in one part would take time with the third power of its length.
  ['/:a-:b-:c/end', '/new', '/a-b-c/end'],
])('%s to %s leads nowhere from %s', (source, destination, path) => {
  expect(wildcardRedirects([rule(source, destination)])(path)).toBeUndefined();
});

test.each([
  ['/old*', 'https://new.example*', '/old/x', 'https://new.example/x'],
  ['/of/:name/:page', 'https://:name.new.example/:page', '/of/acme/x', 'https://acme.new.example/x'],
  ['/:from-to-:to', '/:to/:from', '/a-b-to-c', '/c/a-b'],
])('%s to %s keeps its server, from %s', (source, destination, path, to) => {
  expect(wildcardRedirects([rule(source, destination)])(path)?.to).toBe(to);
});

test('the first match counts', () => {
  const lead = wildcardRedirects([rule('/a/b/:x*', '/one', false), rule('/a/:x*', '/two')]);
  expect([lead('/a/b/c'), lead('/a/c')]).toEqual([
    { to: '/one', permanent: false },
    { to: '/two', permanent: true },
  ]);
});

describe('links of pages', () => {
  const pages = new Set(['v2/en/start', 'v2/en/a b', 'v3/index', 'moved']);
  const endOf = (path: string, ...rules: [source: string, destination: string][]) =>
    siteRedirects(
      rules.map(([source, destination]) => rule(source, destination)),
      (page) => pages.has(page),
    ).endOf(path);

  test.each<[string, string | undefined, ...[string, string][]]>([
    ['/en/start', 'v2/en/start', ['/en/:slug*', '/v2/en/:slug*']],
    ['/en/a b', 'v2/en/a b', ['/en/:slug*', '/v2/en/:slug*']],
    ['/en/start', 'v2/en/start#top', ['/en/*', '/v2/en/*#top']],
    ['/en/gone', undefined, ['/en/:slug*', '/v2/en/:slug*']],
    ['/en/start', 'https://a.example/start', ['/:lang/start', 'https://a.example/start']],
    ['/old/start', 'v2/en/start', ['/old/:a', '/en/:a'], ['/en/:a', '/v2/en/:a']],
    ['/old', 'v2/en/start', ['/old', '/en/start'], ['/en/:a', '/v2/en/:a']],
    ['/old', 'moved', ['/:any', '/v2/en/start'], ['/old', '/moved']],
    ['/en/x', undefined, ['/en/:a', '/en/:a']],
    ['/latest', 'v3/index#part', ['/latest', '/v3#part']],
    ['/latest/index', 'v3/index', ['/latest/:slug*', '/v3/:slug*']],
    ['/en/x', 'v2/en/start', ['/en/x', '/v2/en/start'], ['/en/:a', '/moved']],
  ])('to %s lead to %s', (path, to, ...rules) => {
    expect(endOf(path, ...rules)).toBe(to);
  });

  test('do not take long where a project has many redirects and links', () => {
    const many = Array.from({ length: 5_000 }, (_, n): [string, string] => [`/a/${n}-:x`, '/moved']);
    const redirects = siteRedirects(
      many.map(([source, destination]) => rule(source, destination)),
      (page) => pages.has(page),
    );
    expect(['/a/199-x', '/a/200-x', '/b'].map((path) => redirects.endOf(path))).toEqual([
      'moved',
      undefined,
      undefined,
    ]);
  });
});

import { describe, expect, test, vi } from 'vitest';
import { seededRandom } from '../../../test/support/chaos/fault-injection.ts';
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

describe('many redirects', () => {
  const oneByOne = (rules: ReturnType<typeof rule>[]) => {
    const each = rules.map((one) => wildcardRedirects([one]));
    return (path: string) => each.map((lead) => lead(path)).find((found) => found !== undefined);
  };

  test('lead where they lead when they are compared one by one', () => {
    const random = seededRandom(7);
    const pick = <T>(of: readonly T[]): T => of[random.between(0, of.length - 1)] as T;
    const parts = ['a', 'b', 'a-b', ':x', ':y', 'a-:x', ':x-:y', '*', ':x*', 'a-:x*', '', ':x-:y-:z'];
    const pathParts = ['a', 'b', 'a-b', 'a-c', 'c-d', 'c', ''];
    const written = (of: readonly string[]) =>
      `/${Array.from({ length: random.between(0, 6) }, () => pick(of)).join('/')}`;
    let found = 0;
    for (let round = 0; round < 300; round += 1) {
      const rules = Array.from({ length: 20 }, (_, at) => rule(written(parts), `/to-${at}`));
      const [lead, expected] = [wildcardRedirects(rules), oneByOne(rules)];
      for (let at = 0; at < 20; at += 1) {
        const path = written(pathParts);
        const to = expected(path);
        expect([path, lead(path)]).toEqual([path, to]);
        if (to !== undefined) found += 1;
      }
    }
    expect(found).toBeGreaterThan(1_000);
  });

  test.each<[what: string, source: (at: number) => string, path: string, mostCompared: number]>([
    ['with the same first part', (at) => `/old/${at}/*`, '/old/x/y', 0],
    ['after a wildcard', (at) => `/:lang/${at}/:page`, '/en/x/y', 0],
    ['with a text in their last part', (at) => `/${at}-:x`, '/x', 0],
    ['that begin with a star', (at) => `/*/${at}`, `/${'x/'.repeat(2_000)}y`, 0],
    ['that all could match', (at) => `/:a/:b-${at}-:c`, '/x/y', 500],
    ['with a star and a wildcard', (at) => `/*/x${at}-:b`, `/${'x/'.repeat(2_000)}y`, 500],
  ])('%s are compared with a missing path up to a limit', (_what, source, path, mostCompared) => {
    const lead = wildcardRedirects(Array.from({ length: 10_000 }, (_, at) => rule(source(at), '/new')));
    const compared = vi.spyOn(RegExp.prototype, 'exec');
    try {
      expect(lead(path)).toBeUndefined();
      // `String.matchAll` and `replace` of the pattern are done with `exec`, too.
      const patterns = compared.mock.contexts.filter((pattern) => (pattern as RegExp).flags === 's');
      expect(patterns.length).toBe(mostCompared);
    } finally {
      compared.mockRestore();
    }
    const last = source(9_999)
      .replaceAll(/:[a-z]+/g, 'w')
      .replace('*', 'w');
    if (mostCompared === 0) expect(lead(last)).toEqual({ to: '/new', permanent: true });
  });
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
    expect(['/a/199-x', '/a/4999-x', '/b'].map((path) => redirects.endOf(path))).toEqual(['moved', 'moved', undefined]);
  });
});

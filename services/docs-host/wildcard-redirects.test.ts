import { expect, test } from 'vitest';
import { wildcardRedirects } from './wildcard-redirects.ts';

const rule = (source: string, destination: string, permanent = true) => ({ source, destination, permanent });

test.each([
  ['/old/:slug*', '/new/:slug*', '/old/a/b', '/new/a/b'],
  ['/old/*', '/new/*', '/old/a b', '/new/a%20b'],
  ['/a/concepts-:name*', '/b/:name*', '/a/concepts-keys', '/b/keys'],
  ['/:lang/start', '/:lang/begin', '/fr/start', '/fr/begin'],
  ['/wild/*', '/start', '/wild/x', '/start'],
  ['/out/:slug*', 'https://new.example/:slug*?from=old', '/out/x', 'https://new.example/x?from=old'],
  ['/ü/:slug*', '/ö/:slug*', '/ü/x', '/%C3%B6/x'],
  // What the reader wrote does not make it an address of another server.
  ['/go:slug*', ':slug*', '/go/evil.example', '/evil.example'],
  ['/go:slug*', '/:slug*', '/go//evil.example', '/evil.example'],
])('%s to %s takes %s to %s', (source, destination, path, to) => {
  expect(wildcardRedirects([rule(source, destination)])(path)).toEqual({ to, permanent: true });
});

test.each([
  ['/old/:slug*', '/older'],
  ['/:lang/start', '/fr/deep/start'],
  ['/a.b/*', '/axb/c'],
  // With two stars in a source it would take long to see that it does not fit.
  ['/*/x/*', '/a/x/b'],
])('%s is not for %s', (source, path) => {
  expect(wildcardRedirects([rule(source, '/new')])(path)).toBeUndefined();
});

test.each([
  // What the reader wrote would name the server.
  ['/old*', 'https://new.example*', '/old.evil.example/x'],
  ['/old/*', 'https://*.new.example', '/old/evil.example/x'],
  ['/old/:a', 'https://:a/x', '/old/evil.example'],
  // Three wildcards in one part would take time with the third power of its length.
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

test('the first that fits counts', () => {
  const lead = wildcardRedirects([rule('/a/b/:x*', '/one', false), rule('/a/:x*', '/two')]);
  expect([lead('/a/b/c'), lead('/a/c')]).toEqual([
    { to: '/one', permanent: false },
    { to: '/two', permanent: true },
  ]);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { requestedHost } from './requested-host.ts';

const asked = (host: string, url = '/', forwarded?: string) =>
  requestedHost({ rawHeaders: ['Accept', '*/*', 'hOsT', host], url }, forwarded);

test.each([
  ['docs.acme.com', 'docs.acme.com'],
  ['DOCS.Acme.com:8090', 'docs.acme.com'],
  ['docs.acme.com.', 'docs.acme.com'],
  ['docs.acme.com.:443', 'docs.acme.com'],
  ['localhost', 'localhost'],
  ['[::1]:8090', '[::1]'],
  ['pr-12--docs.localhost', 'pr-12--docs.localhost'],
  ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
])('the host %s has the name %s', (host, name) => {
  expect(asked(host)).toEqual({ name, target: '/' });
});

test.each([
  'a..b',
  '.a',
  'a.b..',
  'a b',
  'a/b',
  'a@b',
  'a:b',
  'a:123456',
  'a,b',
  'ä.b',
  '[::1',
  '[g]',
  'a\u0000',
  `${'a'.repeat(64)}.b`,
  `${'a.'.repeat(127)}aa`,
  '*.a',
  'a%2eb',
])('the host %j cannot be read', (host) => {
  expect(asked(host)).toMatchObject({ status: 421 });
});

test('the target of a request with a whole address is its path', () => {
  expect(asked('a.b', 'http://A.b:80/x?y=1')).toEqual({ name: 'a.b', target: '/x?y=1' });
  expect(asked('a.b', 'HTTPS://a.b?y=1')).toEqual({ name: 'a.b', target: '/?y=1' });
  expect(asked('a.b', 'http://c.d/x')).toMatchObject({ status: 400 });
  expect(asked('a.b', 'http:///x')).toMatchObject({ status: 400 });
  expect(asked('a.b', '*')).toEqual({ name: 'a.b', target: '*' });
  expect(asked('a.b', '//c.d/x')).toEqual({ name: 'a.b', target: '//c.d/x' });
});

test('the last forwarded host counts, and an odd one is refused', () => {
  expect(asked('proxy', '/', 'evil.example, docs.acme.com')).toMatchObject({ name: 'docs.acme.com' });
  expect(asked('proxy', '/', 'docs.acme.com, a b')).toMatchObject({ status: 421 });
});

test('any text is a name in lower case, or refused', () => {
  fc.assert(
    fc.property(fc.string(), fc.webUrl(), (host, url) => {
      const found = asked(host, url);
      if ('name' in found) expect(found.name).toMatch(/^(\[[0-9a-f:.]+\]|[a-z0-9_.-]*[a-z0-9_-])$/);
      else expect([400, 421]).toContain(found.status);
    }),
  );
});

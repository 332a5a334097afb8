import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { askHost, sendRaw } from '../../test/support/ask-host.ts';
import { exampleBundle } from '../../test/support/example-bundle.ts';
import { expectShown, hostedSites, shownVersion, waiting } from '../../test/support/hosted-sites.ts';

const { platform, started, sitesFolder, siteFolder } = hostedSites();
const versionsOf = async () => await readdir(join(await siteFolder(), 'versions'));

test('the base says how sites are addressed', async () => {
  platform().deploy({ domain: 'one', bundle: await exampleBundle('one') });
  const running = await started({ BINDERY_SITES_BASE: 'https://sites.test:8443' });
  await expectShown(running, 'one.localhost', 'one');
  const atBase = await askHost(running.url, 'sites.test:8443');
  expect([atBase.status, atBase.text]).toEqual([
    404,
    expect.stringContaining(
      'Each site has an address of its own: its name before this one, such as https://acme.sites.test:8443',
    ),
  ]);
  expect((await askHost(running.url, 'two.sites.test')).text).toContain('There is no site at this address');
});

test('two sites are served by their host names, and a name that leads nowhere is answered with a sentence', async () => {
  platform().deploy({ domain: 'one', bundle: await exampleBundle('one') });
  platform().deploy({
    domain: 'two',
    hosts: ['two.localhost', 'docs.two.example'],
    bundle: await exampleBundle('two'),
  });
  const running = await started();
  await expectShown(running, 'one.localhost', 'one');
  await expectShown(running, 'two.localhost:8090', 'two');
  await expectShown(running, 'DOCS.two.example.', 'two');
  const other = await askHost(running.url, 'three.localhost');
  expect([other.status, other.text]).toEqual([
    404,
    expect.stringContaining('There is no site at this address, or nothing has been published'),
  ]);
  // The files of one site are not reached under the name of another, neither by their path nor by their bytes.
  const { text } = await askHost(running.url, 'one.localhost');
  const asset = /src="(\/_bindery\/@[^"]+site.js)"/.exec(text)?.[1] ?? '';
  expect((await askHost(running.url, 'one.localhost', asset)).status).toBe(200);
  expect((await askHost(running.url, 'two.localhost', asset)).status).toBe(404);
  const answers = await Promise.all(
    [{}, { 'if-none-match': '*' }].map((headers) => askHost(running.url, 'two.localhost', '/', { headers })),
  );
  expect(answers.map(({ status, headers }) => [status, headers['x-bindery-content']])).toEqual([
    [200, 'cv_two'],
    [304, 'cv_two'],
  ]);
  // `bindery publish` looks at the first address of a site, which may be a redirect or have no page.
  const others = await Promise.all(['/index', '/nowhere'].map((path) => askHost(running.url, 'two.localhost', path)));
  expect(others.map(({ status, headers }) => [status, headers['x-bindery-content']])).toEqual([
    [308, 'cv_two'],
    [404, 'cv_two'],
  ]);
  const script = await askHost(running.url, 'docs.two.example', '/_bindery/config.js');
  expect(script.text).toContain('"siteUrl": "http://two.localhost:8090"');
  expect(script.headers['set-cookie']).toBeUndefined();
});

describe('the host of a request', () => {
  const raw = (first: string, ...headers: string[]) =>
    `${[first, ...headers, 'Connection: close'].join('\r\n')}\r\n\r\n`;
  const root = 'GET / HTTP/1.1';

  const requests: [what: string, sent: string, status: number][] = [
    ['its name', raw(root, 'Host: docs.localhost'), 200],
    ['with a port and capitals', raw(root, 'Host: Docs.LOCALHOST:8090'), 200],
    ['with a dot at its end', raw(root, 'Host: docs.localhost.:8090'), 200],
    ['an address as the target', raw('GET http://docs.localhost:8090/ HTTP/1.1', 'Host: docs.localhost'), 200],
    ['an address without a path', raw('GET http://docs.localhost HTTP/1.1', 'Host: docs.localhost'), 200],
    ['an address with a query only', raw('GET http://docs.localhost?a=1 HTTP/1.1', 'Host: docs.localhost'), 200],
    ['two hosts', raw('GET http://docs.localhost/ HTTP/1.1', 'Host: other.localhost'), 400],
    ['an address with a user', raw('GET http://docs.localhost@other/ HTTP/1.1', 'Host: docs.localhost'), 400],
    ['an unknown name', raw(root, 'Host: other.localhost'), 404],
    ['an address of IPv4', raw(root, 'Host: 127.0.0.1:8090'), 404],
    ['an address of IPv6', raw(root, 'Host: [::1]:8090'), 404],
    ['two dots at its end', raw(root, 'Host: docs.localhost..'), 421],
    ['a path', raw(root, 'Host: docs.localhost/../other'), 421],
    ['a user', raw(root, 'Host: x@docs.localhost'), 421],
    ['a space', raw(root, 'Host: docs.localhost other'), 421],
    ['a list', raw(root, 'Host: docs.localhost,other.localhost'), 421],
    ['other letters', raw(root, 'Host: döcs.localhost'), 421],
    ['a port that is none', raw(root, 'Host: docs.localhost:http'), 421],
    ['a long name', raw(root, `Host: ${'a.'.repeat(200)}localhost`), 421],
    ['the name of a property of every object', raw(root, 'Host: constructor'), 404],
    ['nothing', raw(root, 'Host: '), 400],
    ['no Host header', raw(root), 400],
    ['no Host header, in HTTP/1.0', raw('GET / HTTP/1.0'), 400],
    ['two Host headers', raw(root, 'Host: docs.localhost', 'Host: docs.localhost'), 400],
    [
      'a forwarded name, of a proxy that is not trusted',
      raw(root, 'Host: other', 'X-Forwarded-Host: docs.localhost'),
      404,
    ],
    ['a method without an answer', raw('DELETE / HTTP/1.1', 'Host: docs.localhost'), 405],
  ];

  test('is read strictly, and leads to one site or none', async () => {
    platform().deploy({ bundle: await exampleBundle('one') });
    const running = await started();
    await expectShown(running, 'docs.localhost', 'one');
    for (const [what, sent, status] of requests) {
      const [line = ''] = (await sendRaw(running.url, sent)).split('\r\n');
      expect([what, line]).toEqual([what, expect.stringMatching(new RegExp(`^HTTP/1.1 ${status} `))]);
    }
  });

  test('a trusted proxy may name it', async () => {
    platform().deploy({ bundle: await exampleBundle('one') });
    const running = await started({ BINDERY_TRUST_PROXY: 'loopback' });
    await expectShown(running, 'docs.localhost', 'one');
    const forwarded = (name: string) =>
      askHost(running.url, '127.0.0.1', '/', { headers: { 'x-forwarded-host': name } });
    expect((await forwarded('evil.example, docs.localhost:443')).status).toBe(200);
    expect((await forwarded('docs.localhost, evil.example')).status).toBe(404);
  });

  test('a name that moves to another site, and one that is given up, lead elsewhere at once', async () => {
    const [one, two] = [await exampleBundle('one'), await exampleBundle('two')];
    platform().deploy({ domain: 'a', hosts: ['a.localhost', 'docs.example'], bundle: one });
    platform().deploy({ domain: 'b', hosts: ['b.localhost'], bundle: two });
    const running = await started();
    await expectShown(running, 'docs.example', 'one');
    await expectShown(running, 'b.localhost', 'two');
    platform().deploy({ domain: 'b', hosts: ['b.localhost', 'docs.example'], bundle: two });
    await expectShown(running, 'docs.example', 'two');
    platform().deploy({ domain: 'a', hosts: ['a.localhost'], bundle: one });
    platform().deploy({ domain: 'b', hosts: ['b.localhost'], bundle: two });
    await expect.poll(async () => (await askHost(running.url, 'docs.example')).status, waiting).toBe(404);
    expect([await shownVersion(running, 'a.localhost'), await shownVersion(running, 'b.localhost')]).toEqual([
      'one',
      'two',
    ]);
  });
});

describe('a preview', () => {
  test('says what it is, is not indexed, and is served until it is gone', async () => {
    const page = '<!doctype html>\n<html lang="en">\n<head></head>\n<body class="a"><p>Own</p></body>\n</html>\n';
    const more = { 'own.html': page, 'robots.txt': 'User-agent: *\nAllow: /\n' };
    platform().deploy({ bundle: await exampleBundle('live', more) });
    platform().deploy({
      label: 'pr-12',
      liveSince: '2026-11-28T10:00:00.000Z',
      bundle: await exampleBundle('draft', more),
    });
    const running = await started();
    const name = 'pr-12--docs.localhost';
    await expectShown(running, name, 'draft');
    await expectShown(running, 'docs.localhost', 'live');
    const requests: [path: string, headers: Record<string, string>, status: number][] = [
      ['/', {}, 200],
      ['/own', {}, 200],
      ['/own', { accept: 'text/markdown' }, 200],
      ['/guides/x', { 'if-none-match': '*' }, 304],
      ['/guides/x/', {}, 308],
      ['/nowhere', {}, 404],
      ['/%00', {}, 400],
      ['/_bindery/config.js', {}, 200],
      ['/_bindery/site.js', { range: 'bytes=9999999-' }, 416],
      ['/favicon.ico', {}, 204],
    ];
    for (const [path, headers, status] of requests) {
      const answer = await askHost(running.url, name, path, { headers });
      expect([path, answer.status, answer.headers['x-robots-tag']]).toEqual([path, status, 'noindex, nofollow']);
      const live = await askHost(running.url, 'docs.localhost', path, { headers });
      expect([live.status, live.headers['x-robots-tag']]).toEqual([status, undefined]);
    }
    const removed = await askHost(running.url, name, '/', { method: 'DELETE' });
    expect([removed.status, removed.headers['x-robots-tag']]).toEqual([405, 'noindex, nofollow']);
    expect((await askHost(running.url, name, '/robots.txt')).text).toBe('User-agent: *\nDisallow: /\n');
    expect((await askHost(running.url, 'docs.localhost', '/robots.txt')).text).toContain('Allow: /');
    const own = (await askHost(running.url, name, '/own')).text;
    const note = /<body class="a">(<link rel="stylesheet" href="([^"]+)"><div .*<\/div>)<p>Own/.exec(own);
    expect(note?.[1]).toContain('Preview “pr-12” of <time datetime="2026-11-28">2026-11-28</time>');
    const sheet = await askHost(running.url, name, note?.[2]);
    expect([sheet.status, sheet.headers['content-type'], sheet.headers['cache-control']]).toEqual([
      200,
      'text/css; charset=utf-8',
      'public, max-age=31536000, immutable',
    ]);
    expect((await askHost(running.url, name, '/nowhere')).text).toContain('bindery-preview-note');
    expect((await askHost(running.url, 'docs.localhost', '/own')).text).not.toContain('preview');
    expect((await askHost(running.url, name, '/_bindery/config.js')).text).toContain(
      `"siteUrl": "http://${name}:8090"`,
    );
    platform().end('acme/docs/pr-12');
    await expect.poll(async () => (await askHost(running.url, name)).status, waiting).toBe(404);
    await expect.poll(() => readdir(sitesFolder()), waiting).toHaveLength(1);
    expect(await shownVersion(running, 'docs.localhost')).toBe('live');
  });

  test('of another day has that day, and needs no download', async () => {
    const bundle = await exampleBundle('draft');
    platform().deploy({ label: 'x', liveSince: '2026-11-28T10:00:00.000Z', bundle });
    const running = await started();
    await expectShown(running, 'x--docs.localhost', 'draft');
    platform().deploy({ label: 'x', liveSince: '2026-11-29T10:00:00.000Z', bundle });
    const text = async () => (await askHost(running.url, 'x--docs.localhost')).text;
    await expect.poll(text, waiting).toContain('2026-11-29');
    expect(platform().downloads()).toBe(1);
    await expect.poll(() => versionsOf(), waiting).toHaveLength(1);
  });
});

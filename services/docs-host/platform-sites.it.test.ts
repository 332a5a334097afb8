import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ServedSite } from '#shared/interfaces/http/sites.ts';
import { askHost, sendRaw, visitHost } from '../../test/support/ask-host.ts';
import { docsHosts, hostReadiness, isReady, withMetrics } from '../../test/support/docs-host.ts';
import { exampleBundle } from '../../test/support/example-bundle.ts';
import { type SitesPlatform, sitesPlatform } from '../../test/support/sites-platform.ts';
import { contentFile } from './content-folder.ts';
import type { SitesTimes } from './serve-platform-sites.ts';
import { readVersionList } from './version-list.ts';

const { folder, host, atEnd } = docsHosts();
const quick: SitesTimes = {
  feed: { silentMs: 1_000, retries: { firstPauseMs: 50, longestPauseMs: 200 } },
  retries: {
    unavailable: { firstPauseMs: 50, longestPauseMs: 200 },
    refused: { firstPauseMs: 50, longestPauseMs: 300 },
  },
  sweepMs: 100,
  goneMs: 0,
};
const waiting = { timeout: 20_000, interval: 20 };

let platform: SitesPlatform;
beforeEach(async () => {
  platform = await sitesPlatform();
  atEnd(() => platform.close());
});

const started = (env: Record<string, string> = {}, times = quick) => host({ ...platform.env, ...env }, times);
const shown = async ({ url }: { url: string }, name: string, path = '/') =>
  /Version (\S+)<\/p>/.exec((await askHost(url, name, path)).text)?.[1];
async function expectShown(at: { url: string }, name: string, version: string): Promise<void> {
  await expect.poll(() => shown(at, name), waiting).toBe(version);
}
const sitesFolder = () => join(folder(), 'docs-host/sites');
async function versionsOf(count = 1): Promise<string[]> {
  const names = await readdir(sitesFolder());
  expect(names).toHaveLength(count);
  return await readdir(join(sitesFolder(), names[0] ?? '', 'versions'));
}

test('the base says how sites are addressed', async () => {
  platform.deploy({ domain: 'one', bundle: await exampleBundle('one') });
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

test.skipIf(!existsSync('/proc/self/io'))(
  'a large file of a host that has started again is read once for its check, however many readers ask for parts of it',
  async () => {
    const large = 'video '.repeat(2_000_000);
    platform.deploy({ bundle: await exampleBundle('one', { 'video.mp4': large }) });
    const first = await started();
    await expectShown(first, 'docs.localhost', 'one');
    await first.stop();
    // The memory has room for no file, as on a host of many sites.
    const second = await started({ BINDERY_DOCS_HOST_MEMORY_MB: '0' });
    await expectShown(second, 'docs.localhost', 'one');
    const readBytes = async () => Number(/rchar: (\d+)/.exec(await readFile('/proc/self/io', 'utf8'))?.[1]);
    const before = await readBytes();
    const parts = Array.from({ length: 30 }, async (_, at) => {
      const headers = { range: `bytes=${at * 6_000}-${at * 6_000 + 5}` };
      const { status, text } = await askHost(second.url, 'docs.localhost', '/video.mp4', { headers });
      return [status, text];
    });
    expect(new Set((await Promise.all(parts)).map(String))).toEqual(new Set(['206,video ']));
    expect((await readBytes()) - before).toBeLessThan(5 * large.length);
  },
);

test('two sites are served by their host names, and a name that leads nowhere is answered with a sentence', async () => {
  platform.deploy({ domain: 'one', bundle: await exampleBundle('one') });
  platform.deploy({ domain: 'two', hosts: ['two.localhost', 'docs.two.example'], bundle: await exampleBundle('two') });
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
    platform.deploy({ bundle: await exampleBundle('one') });
    const running = await started();
    await expectShown(running, 'docs.localhost', 'one');
    for (const [what, sent, status] of requests) {
      const [line = ''] = (await sendRaw(running.url, sent)).split('\r\n');
      expect([what, line]).toEqual([what, expect.stringMatching(new RegExp(`^HTTP/1.1 ${status} `))]);
    }
  });

  test('a trusted proxy may name it', async () => {
    platform.deploy({ bundle: await exampleBundle('one') });
    const running = await started({ BINDERY_TRUST_PROXY: 'loopback' });
    await expectShown(running, 'docs.localhost', 'one');
    const forwarded = (name: string) =>
      askHost(running.url, '127.0.0.1', '/', { headers: { 'x-forwarded-host': name } });
    expect((await forwarded('evil.example, docs.localhost:443')).status).toBe(200);
    expect((await forwarded('docs.localhost, evil.example')).status).toBe(404);
  });

  test('a name that moves to another site, and one that is given up, lead elsewhere at once', async () => {
    const [one, two] = [await exampleBundle('one'), await exampleBundle('two')];
    platform.deploy({ domain: 'a', hosts: ['a.localhost', 'docs.example'], bundle: one });
    platform.deploy({ domain: 'b', hosts: ['b.localhost'], bundle: two });
    const running = await started();
    await expectShown(running, 'docs.example', 'one');
    await expectShown(running, 'b.localhost', 'two');
    platform.deploy({ domain: 'b', hosts: ['b.localhost', 'docs.example'], bundle: two });
    await expectShown(running, 'docs.example', 'two');
    platform.deploy({ domain: 'a', hosts: ['a.localhost'], bundle: one });
    platform.deploy({ domain: 'b', hosts: ['b.localhost'], bundle: two });
    await expect.poll(async () => (await askHost(running.url, 'docs.example')).status, waiting).toBe(404);
    expect([await shown(running, 'a.localhost'), await shown(running, 'b.localhost')]).toEqual(['one', 'two']);
  });
});

describe('health', () => {
  test('is answered where the host leads to no site', async () => {
    platform.deploy({ bundle: await exampleBundle('one', { livez: 'a page', readyz: 'a page' }) });
    const running = await started();
    await hostReadiness(running, isReady);
    await expectShown(running, 'docs.localhost', 'one');
    for (const path of ['/livez', '/readyz']) {
      expect((await askHost(running.url, 'docs.localhost', path)).text).toBe('a page');
      expect((await askHost(running.url, '10.0.0.7:8090', path)).text).toContain('docs-host');
    }
  });

  test('a host is ready when the platform has named all sites, and its metrics count them', async () => {
    platform.state.isSilent = true;
    const running = await started(withMetrics);
    const { missing } = await hostReadiness({ url: running.insideUrl }, ({ ready }) => !ready);
    expect(missing.site).toMatch(/no site is here/);
    platform.state.isSilent = false;
    platform.deploy({ bundle: await exampleBundle('one') });
    platform.dropFeeds();
    await hostReadiness({ url: running.insideUrl }, isReady);
    await expectShown(running, 'docs.localhost', 'one');
    platform.deploy({ bundle: await exampleBundle('two') });
    await expectShown(running, 'docs.localhost', 'two');
    const metrics = await (await fetch(`${running.insideUrl}/metrics`)).text();
    expect(metrics).toContain('bindery_docs_host_sites{service="docs-host"} 1');
    expect(metrics).toContain('bindery_docs_host_sites_served{service="docs-host"} 1');
    expect(metrics).toContain('bindery_docs_host_bundles_total{outcome="taken",service="docs-host"} 2');
    expect(metrics).toContain('bindery_docs_host_deployment_lag_seconds_count{service="docs-host"} 1');
  });

  test('a key that the platform refuses is named', async () => {
    const running = await started({ BINDERY_SITES_KEY: `svc_site_${'b'.repeat(36)}` });
    await expect
      .poll(() => running.log.map(({ msg }) => msg).join(), waiting)
      .toMatch(/401.*Look at BINDERY_SITES_KEY/);
  });
});

test('deployments under load: every answer is whole, and pages that are open keep their files', {
  timeout: 90_000,
}, async () => {
  const swaps = 15;
  platform.deploy({ domain: 'a', bundle: await exampleBundle('a0-') });
  platform.deploy({ domain: 'b', bundle: await exampleBundle('b0-') });
  const running = await started();
  await expectShown(running, 'a.localhost', 'a0-');
  await expectShown(running, 'b.localhost', 'b0-');
  const problems: string[] = [];
  const over = new AbortController();
  let visits = 0;
  const read = async (name: string): Promise<void> => {
    while (!over.signal.aborted) {
      problems.push(...(await visitHost(running.url, name)));
      visits += 1;
    }
  };
  const readers = [read('a.localhost'), read('b.localhost')];
  try {
    for (let at = 1; at <= swaps; at += 1) {
      const open = (await askHost(running.url, 'a.localhost')).text;
      for (const domain of ['a', 'b']) platform.deploy({ domain, bundle: await exampleBundle(`${domain}${at}-`) });
      await expectShown(running, 'a.localhost', `a${at}-`);
      await expectShown(running, 'b.localhost', `b${at}-`);
      const asset = /src="(\/_bindery\/@[^"]+site.js)"/.exec(open)?.[1] ?? '';
      expect((await askHost(running.url, 'a.localhost', asset)).text).toContain(`'a${at - 1}-'`);
    }
  } finally {
    over.abort();
  }
  await Promise.all(readers);
  expect(problems).toEqual([]);
  expect(visits).toBeGreaterThan(swaps);
});

test('of deployments that come faster than they are taken, the last one is served', async () => {
  platform.deploy({ bundle: await exampleBundle('v0') });
  const running = await started();
  for (let at = 1; at <= 12; at += 1) platform.deploy({ bundle: await exampleBundle(`v${at}`) });
  await expectShown(running, 'docs.localhost', 'v12');
  expect(platform.downloads()).toBeLessThan(8);
});

test('a rollback needs no download, to any of the last five versions', async () => {
  const bundles = await Promise.all([0, 1, 2, 3, 4, 5, 6].map((at) => exampleBundle(`v${at}`)));
  const running = await started();
  for (const [at, bundle] of bundles.entries()) {
    platform.deploy({ bundle });
    await expectShown(running, 'docs.localhost', `v${at}`);
  }
  expect(platform.downloads()).toBe(7);
  for (const at of [1, 5, 2, 6]) {
    platform.deploy({ bundle: bundles[at] ?? Buffer.alloc(0) });
    await expectShown(running, 'docs.localhost', `v${at}`);
  }
  expect(platform.downloads()).toBe(7);
  await running.stop();
  const again = await started();
  await expectShown(again, 'docs.localhost', 'v6');
  platform.deploy({ bundle: bundles[3] ?? Buffer.alloc(0) });
  await expectShown(again, 'docs.localhost', 'v3');
  expect(platform.downloads()).toBe(7);
  expect((await versionsOf()).length).toBe(6);
});

describe('a preview', () => {
  test('says what it is, is not indexed, and is served until it is gone', async () => {
    const page = '<!doctype html>\n<html lang="en">\n<head></head>\n<body class="a"><p>Own</p></body>\n</html>\n';
    const more = { 'own.html': page, 'robots.txt': 'User-agent: *\nAllow: /\n' };
    platform.deploy({ bundle: await exampleBundle('live', more) });
    platform.deploy({
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
    platform.end('acme/docs/pr-12');
    await expect.poll(async () => (await askHost(running.url, name)).status, waiting).toBe(404);
    await expect.poll(() => readdir(sitesFolder()), waiting).toHaveLength(1);
    expect(await shown(running, 'docs.localhost')).toBe('live');
  });

  test('of another day has that day, and needs no download', async () => {
    const bundle = await exampleBundle('draft');
    platform.deploy({ label: 'x', liveSince: '2026-11-28T10:00:00.000Z', bundle });
    const running = await started();
    await expectShown(running, 'x--docs.localhost', 'draft');
    platform.deploy({ label: 'x', liveSince: '2026-11-29T10:00:00.000Z', bundle });
    const text = async () => (await askHost(running.url, 'x--docs.localhost')).text;
    await expect.poll(text, waiting).toContain('2026-11-29');
    expect(platform.downloads()).toBe(1);
    await expect.poll(() => versionsOf(), waiting).toHaveLength(1);
  });
});

describe('a bundle that cannot be taken', () => {
  test('of one site delays no other site, and what it served stays', async () => {
    const good = await exampleBundle('one');
    platform.deploy({ domain: 'bad', bundle: good });
    const running = await started();
    await expectShown(running, 'bad.localhost', 'one');
    const tampered = await exampleBundle('two', {}, { tampered: { 'index.html': 'not what the manifest says' } });
    platform.deploy({ domain: 'bad', bundle: tampered });
    platform.deploy({ domain: 'none', organization: 'other', bundle: Buffer.from('This is no archive.') });
    for (let at = 0; at < 5; at += 1) platform.deploy({ domain: `good-${at}`, bundle: await exampleBundle(`g${at}`) });
    for (let at = 0; at < 5; at += 1) await expectShown(running, `good-${at}.localhost`, `g${at}`);
    const lines = () => running.log.map(({ msg }) => msg).join('\n');
    await expect.poll(lines, waiting).toMatch(/version that was served stays: the bundle does not match its manifest/);
    expect(await shown(running, 'bad.localhost')).toBe('one');
    expect((await askHost(running.url, 'none.localhost')).status).toBe(503);
    platform.deploy({ domain: 'bad', bundle: await exampleBundle('three') });
    await expectShown(running, 'bad.localhost', 'three');
  });

  test('because it does not arrive keeps no other site waiting', async () => {
    platform.state.bundle = ({ domain }, response) => {
      if (domain !== 'slow') return undefined;
      response.writeHead(200, { 'content-length': 100_000_000 }).write('a');
      return 'answered';
    };
    const running = await started();
    platform.deploy({ domain: 'slow', bundle: await exampleBundle('slow') });
    for (let at = 0; at < 4; at += 1) platform.deploy({ domain: `d${at}`, bundle: await exampleBundle(`v${at}`) });
    for (let at = 0; at < 4; at += 1) await expectShown(running, `d${at}.localhost`, `v${at}`);
  });

  test('because it does not arrive keeps an empty host from being ready for a while, and one that failed does not', async () => {
    let arrives = Promise.withResolvers<void>();
    platform.state.bundle = ({ domain }, response) => {
      if (domain === 'one') return undefined;
      void arrives.promise.then(() => response.writeHead(404).end());
      return 'answered';
    };
    platform.deploy({ domain: 'one', bundle: await exampleBundle('one') });
    platform.deploy({ domain: 'late', bundle: await exampleBundle('late') });
    const first = await started();
    await expectShown(first, 'one.localhost', 'one');
    const { ready, ...why } = await hostReadiness(first, (found) => !found.ready);
    expect([ready, JSON.stringify(why)]).toEqual([false, expect.stringContaining('1 of 2 sites are here yet')]);
    arrives.resolve();
    await hostReadiness(first, isReady);
    await first.stop();
    // With a stored site, or after its limit, a host is ready nevertheless.
    arrives = Promise.withResolvers();
    const second = await started();
    await hostReadiness(second, isReady);
    await second.stop();
    await rm(sitesFolder(), { recursive: true });
    await hostReadiness(await started({}, { ...quick, firstMs: 100 }), isReady);
    arrives.resolve();
  });

  test('because it is gone from the platform keeps what is served', async () => {
    platform.deploy({ bundle: await exampleBundle('one') });
    const running = await started();
    await expectShown(running, 'docs.localhost', 'one');
    platform.state.link = (_served, response) => {
      response.writeHead(404).end('{"error":"The bundle is gone.","code":"not_found"}');
      return 'answered';
    };
    platform.deploy({ bundle: await exampleBundle('two') });
    const problem = async () => (await hostReadiness(running, isReady)).degraded;
    await expect.poll(problem, waiting).toMatchObject({
      sites: expect.stringMatching(
        /^acme\/docs: The version that was served stays: the platform answered 404/,
      ) as string,
    });
    expect(await shown(running, 'docs.localhost')).toBe('one');
    platform.state.link = undefined;
    await expectShown(running, 'docs.localhost', 'two');
  });

  test('because links are refused for a while is taken afterwards', async () => {
    let refused = 0;
    platform.state.link = (_served, response) => {
      refused += 1;
      if (refused > 3) return undefined;
      response.writeHead(503).end();
      return 'answered';
    };
    platform.deploy({ bundle: await exampleBundle('one') });
    await expectShown(await started(), 'docs.localhost', 'one');
  });
});

describe('a host that starts again', () => {
  test('after a kill at any time serves whole versions, without the platform', { timeout: 90_000 }, async () => {
    const run = () =>
      spawn(process.execPath, ['services/cli/bindery.mjs', 'run', 'docs-host'], {
        env: {
          ...process.env,
          ...platform.env,
          BINDERY_DATA: folder(),
          BINDERY_DOCS_HOST_PORT: '0',
          BINDERY_LOG_LEVEL: 'warn',
        },
        stdio: 'ignore',
      });
    const inside = async (): Promise<string> => (await readdir(sitesFolder()).catch(() => [])).join();
    const large = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [`large/${at}.html`, `${at}`.repeat(200_000)]),
    );
    platform.deploy({ bundle: await exampleBundle('v0') });
    const first = run();
    atEnd(async () => first.kill('SIGKILL'));
    await expect.poll(inside, waiting).not.toBe('');
    await expect
      .poll(async () => (await versionsOf()).filter((name) => !name.startsWith('unfinished')), waiting)
      .toHaveLength(1);
    platform.deploy({ bundle: await exampleBundle('v1', large) });
    await expect
      .poll(async () => (await versionsOf()).some((name) => name.startsWith('unfinished')), waiting)
      .toBe(true);
    first.kill('SIGKILL');
    await once(first, 'exit');
    await platform.close();
    const running = await started();
    expect(await visitHost(running.url, 'docs.localhost')).toEqual([]);
    expect(await shown(running, 'docs.localhost')).toBe('v0');
    expect((await versionsOf()).filter((name) => name.startsWith('unfinished'))).toEqual([]);
    await hostReadiness(running, isReady);
  });

  test('serves its sites and previews at once, and learns what changed meanwhile', async () => {
    platform.deploy({ domain: 'a', bundle: await exampleBundle('a1') });
    platform.deploy({ domain: 'a', label: 'pr', bundle: await exampleBundle('p1') });
    platform.deploy({ domain: 'b', bundle: await exampleBundle('b1') });
    const first = await started();
    for (const [name, version] of [
      ['a', 'a1'],
      ['pr--a', 'p1'],
      ['b', 'b1'],
    ])
      await expectShown(first, `${name}.localhost`, version ?? '');
    await first.stop();
    platform.state.isSilent = true;
    const second = await started();
    expect(await shown(second, 'a.localhost')).toBe('a1');
    expect(await shown(second, 'b.localhost')).toBe('b1');
    expect((await askHost(second.url, 'pr--a.localhost')).headers['x-robots-tag']).toBe('noindex, nofollow');
    platform.end('acme/b');
    platform.deploy({ domain: 'a', bundle: await exampleBundle('a2') });
    platform.state.isSilent = false;
    platform.dropFeeds();
    await expectShown(second, 'a.localhost', 'a2');
    await expect.poll(async () => (await askHost(second.url, 'b.localhost')).status, waiting).toBe(404);
  });

  test.each([
    ['a page', 'page'],
    ['a copy', 'br'],
    ['the list', 'site.list'],
    ['its facts', 'site.json'],
  ])('with %s that is damaged does not serve it, and makes it again without a download', async (_what, damaged) => {
    const more = { 'index.html': `<html><body><p>Version one</p>${'text '.repeat(300)}</body></html>` };
    platform.deploy({ bundle: await exampleBundle('one', more) });
    const first = await started();
    await expectShown(first, 'docs.localhost', 'one');
    await first.stop();
    const [version = ''] = await versionsOf();
    const [site = ''] = await readdir(sitesFolder());
    const at = join(sitesFolder(), site);
    const page = (await readVersionList(join(at, 'versions', version)))?.file('index.html');
    const isFile = damaged.startsWith('site.');
    const sha256 = (damaged === 'br' ? page?.br : page)?.sha256 ?? '';
    const name = isFile ? join(at, 'versions', version, damaged) : contentFile(join(at, 'content'), sha256);
    await writeFile(name, 'damaged');
    const second = await started();
    const headers = { 'accept-encoding': damaged === 'br' ? 'br' : 'identity' };
    const status = async () => {
      const answer = await askHost(second.url, 'docs.localhost', '/', { headers });
      expect(answer.text).not.toContain('damaged');
      return answer.status;
    };
    await expect.poll(status, waiting).toBe(200);
    expect(await shown(second, 'docs.localhost')).toBe('one');
    expect(platform.downloads()).toBe(1);
    await expect.poll(() => versionsOf(), waiting).not.toContain(version);
  });

  test('whose list is lost while its state cannot be written tries again until it can, and answers for other sites', async () => {
    platform.deploy({ bundle: await exampleBundle('one') });
    const first = await started();
    await expectShown(first, 'docs.localhost', 'one');
    platform.deploy({ bundle: await exampleBundle('two') });
    await expectShown(first, 'docs.localhost', 'two');
    await first.stop();
    const [site = ''] = await readdir(sitesFolder());
    const at = join(sitesFolder(), site);
    const { active } = JSON.parse(await readFile(join(at, 'state.json'), 'utf8')) as { active: string };
    await rm(join(at, 'versions', active, 'site.list'));
    // As on a full disk, no new state is stored.
    await mkdir(join(at, 'state.json.next'));
    const second = await started();
    const failures = () => second.log.filter(({ msg }) => msg.startsWith('The version that was served stays')).length;
    await expect.poll(failures, waiting).toBeGreaterThan(0);
    platform.deploy({ domain: 'other', bundle: await exampleBundle('other') });
    await expectShown(second, 'other.localhost', 'other');
    await rm(join(at, 'state.json.next'), { recursive: true });
    await expectShown(second, 'docs.localhost', 'two');
  });

  test('with damaged files of the bundle downloads it again', async () => {
    platform.deploy({ bundle: await exampleBundle('one') });
    const first = await started();
    await expectShown(first, 'docs.localhost', 'one');
    await first.stop();
    const [version = ''] = await versionsOf();
    const [site = ''] = await readdir(sitesFolder());
    const at = join(sitesFolder(), site);
    const logo = (await readVersionList(join(at, 'versions', version)))?.file('logo.svg');
    await rm(contentFile(join(at, 'content'), logo?.sha256 ?? ''));
    const second = await started();
    const status = async () => (await askHost(second.url, 'docs.localhost', '/logo.svg')).status;
    expect(await status()).toBe(503);
    await expect.poll(status, waiting).toBe(200);
    expect(platform.downloads()).toBe(2);
  });
});

describe('the feed', () => {
  test('that breaks off is read again, and a site that it does not name any more is gone', async () => {
    platform.deploy({ domain: 'a', bundle: await exampleBundle('a1') });
    platform.deploy({ domain: 'b', bundle: await exampleBundle('b1') });
    const running = await started();
    await expectShown(running, 'a.localhost', 'a1');
    await expectShown(running, 'b.localhost', 'b1');
    platform.sites.delete('acme/b');
    platform.dropFeeds();
    await expect.poll(async () => (await askHost(running.url, 'b.localhost')).status, waiting).toBe(404);
    expect(await shown(running, 'a.localhost')).toBe('a1');
    await expect.poll(() => readdir(sitesFolder()), waiting).toHaveLength(1);
    // A name that comes back is the same site.
    platform.deploy({ domain: 'b', bundle: await exampleBundle('b2') });
    await expectShown(running, 'b.localhost', 'b2');
  });

  test('that is silent is given up and read again', async () => {
    platform.deploy({ bundle: await exampleBundle('one') });
    const running = await started();
    await expectShown(running, 'docs.localhost', 'one');
    platform.state.isSilent = true;
    platform.deploy({ bundle: await exampleBundle('two') });
    await expect.poll(() => running.log.map(({ msg }) => msg).join(), waiting).toMatch(/silent for 1 s/);
    platform.state.isSilent = false;
    await expectShown(running, 'docs.localhost', 'two');
  });

  test('with comments only is not silent', async () => {
    platform.deploy({ bundle: await exampleBundle('one') });
    const running = await started();
    await expectShown(running, 'docs.localhost', 'one');
    const comments = platform.comments();
    await expect.poll(() => platform.comments() - comments, waiting).toBeGreaterThan(10);
    expect(platform.requests.filter((each) => each.endsWith('/feed'))).toHaveLength(1);
  });

  const bad = (change: Partial<Record<keyof ServedSite, unknown>>) => (served: ServedSite) =>
    `event: site\ndata: ${JSON.stringify({ ...served, ...change })}\n\n`;
  const events: [what: string, event: (served: ServedSite) => string][] = [
    ['without JSON', () => 'event: site\ndata: {"site":\n\n'],
    ['that names no site', () => 'event: gone\ndata: {}\n\n'],
    ['of another kind', () => 'event: strange\ndata: {}\n\n'],
    ['with a host that is none', bad({ hosts: ['../../etc'] })],
    ['with the host of a property', bad({ hosts: ['__proto__ '] })],
    ['without hosts', bad({ hosts: [] })],
    ['with a thousand hosts', bad({ hosts: Array.from({ length: 1_000 }, (_, at) => `h${at}.example`) })],
    ['with an address that is none', bad({ address: 'javascript:alert(1)' })],
    ['with another identity', bad({ site: 'other/docs' })],
    ['with a digest that is none', bad({ sha256: '../x' })],
    ['that is too long', bad({ address: `http://docs.localhost/${'a'.repeat(200_000)}` })],
    ['without an end', () => `data: ${'a'.repeat(300_000)}`],
    ['with odd bytes', () => 'event: site\ndata: \u0000\ud83d\n\n'],
  ];
  test('with events that cannot be read is followed on', async () => {
    const first = platform.deploy({ bundle: await exampleBundle('v0') });
    const running = await started();
    await expectShown(running, 'docs.localhost', 'v0');
    for (const [at, [what, event]] of events.entries()) {
      platform.write(event(first));
      // The connection may have been closed, and is reopened.
      await expect.poll(() => platform.connections(), { ...waiting, message: what }).toBe(1);
      platform.deploy({ bundle: await exampleBundle(`v${at + 1}`) });
      await expectShown(running, 'docs.localhost', `v${at + 1}`);
    }
  });

  test('that sends a site in a form that cannot be read before it has named all leaves it as it was', async () => {
    const served = platform.deploy({ bundle: await exampleBundle('one') });
    const running = await started();
    await expectShown(running, 'docs.localhost', 'one');
    platform.state.feed = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`${bad({ sizeBytes: 'many' })(served)}event: whole\ndata: {}\n\n`);
    };
    platform.dropFeeds();
    await expect
      .poll(() => running.log.map(({ msg }) => msg).join(), waiting)
      .toMatch(/event of the feed of sites is refused/);
    expect(await shown(running, 'docs.localhost')).toBe('one');
  });
});

test('lists that nobody reads are evicted, and read again once for many requests', async () => {
  const name = (at: number) => `${'a long name of a file '.repeat(9).replaceAll(' ', '-')}${at}.txt`;
  const more = Object.fromEntries(Array.from({ length: 400 }, (_, at) => [name(at), `${at}`]));
  for (let at = 0; at < 8; at += 1) platform.deploy({ domain: `d${at}`, bundle: await exampleBundle(`v${at}`, more) });
  const first = await started({ BINDERY_DOCS_HOST_LISTS_MB: '1', ...withMetrics });
  for (let at = 0; at < 8; at += 1) await expectShown(first, `d${at}.localhost`, `v${at}`);
  for (let round = 0; round < 3; round += 1)
    for (let at = 0; at < 8; at += 1) {
      const answers = await Promise.all(
        [0, 1, 2, 3].map((page) => askHost(first.url, `d${at}.localhost`, `/${name(page)}`)),
      );
      expect(answers.map(({ text }) => text)).toEqual(['0', '1', '2', '3']);
    }
  const metrics = await (await fetch(`${first.insideUrl}/metrics`)).text();
  const bytes = Number(/bindery_docs_host_lists_bytes\{[^}]*\} (\d+)/.exec(metrics)?.[1]);
  expect(bytes).toBeGreaterThan(100_000);
  expect(bytes).toBeLessThan(1_500_000);
});

import { rmSync } from 'node:fs';
import { cp, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import type { Running } from '#shared/service/start-service.ts';
import { docsHosts, hostReadiness, type HostReadiness, isReady, whole } from '../../test/support/docs-host.ts';
import { exampleBundle } from '../../test/support/example-bundle.ts';
import { contentFile } from './content-folder.ts';
import { readVersionList } from './version-list.ts';

const { folder: ownFolder, host, server } = docsHosts();
let folder: string;
beforeEach(() => {
  folder = ownFolder();
});

const readiness = hostReadiness;
const isEmpty = ({ ready, missing }: HostReadiness) =>
  !ready && !/no version yet/.test(missing.site ?? 'no version yet');

const pageOf = async ({ url }: Running, path = '/') => (await fetch(url + path)).text();

describe('the served site', () => {
  async function served(env: Record<string, string> = {}, more: Record<string, string> = {}) {
    const file = join(folder, 'site.tar.gz');
    await writeFile(file, await exampleBundle('one', more));
    const running = await host({ BINDERY_BUNDLE_PATH: file, ...env });
    await readiness(running, isReady);
    return running;
  }

  test('pages have their policy as a header, and are asked for again', async () => {
    const { url } = await served();
    const answer = await fetch(`${url}/guides/x`);
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy': "default-src 'self'; base-uri 'none'; frame-ancestors 'self'",
      'x-content-type-options': 'nosniff',
    });
    const etag = answer.headers.get('etag') ?? '';
    expect((await fetch(`${url}/guides/x`, { headers: { 'if-none-match': etag } })).status).toBe(304);
    expect((await fetch(`${url}/guides/x`, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
    const script = (await fetch(`${url}/_bindery/config.js`)).headers.get('etag') ?? '';
    // The header as a browser sends it after a proxy has compressed the answer.
    const weak = { 'if-none-match': `"other", W/${script}` };
    expect((await fetch(`${url}/_bindery/config.js`, { headers: weak })).status).toBe(304);
  });

  test('the script of the widget has an address for pages of all sites, also in front of a login', async () => {
    const { url } = await served({
      ...{ BINDERY_BASE_PATH: '/docs', BINDERY_LOGIN: 'basic', BINDERY_LOGIN_USERS: 'ada:correct-horse-battery' },
    });
    const headers = { 'accept-encoding': 'br' };
    const answer = await fetch(`${url}/docs/_bindery/widget.js`, { headers });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'access-control-allow-origin': '*',
      'content-encoding': 'br',
      'content-location': expect.stringMatching(/^\/docs\/_bindery\/@[0-9a-f]{16}\/widget\.js$/),
    });
    const versioned = await fetch(url + answer.headers.get('content-location'));
    expect(versioned.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(await versioned.text()).toBe(await answer.text());
    expect((await fetch(`${url}/docs/_bindery/@0000000000000000/widget.js`)).status).toBe(404);
    expect((await fetch(`${url}/docs/`)).status).toBe(401);
  });

  test('files that a page loads have immutable addresses that name their bytes', async () => {
    const { url } = await served();
    const page = await (await fetch(url)).text();
    const addresses = [...page.matchAll(/(?:src|href)="(\/_bindery\/@[^"]+)"/g)].map(([, address]) => address);
    expect(addresses).toHaveLength(3);
    for (const address of addresses) {
      const answer = await fetch(url + address);
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([
        200,
        'public, max-age=31536000, immutable',
      ]);
    }
    expect((await fetch(`${url}/_bindery/@0000000000000000/_bindery/site.js`)).status).toBe(404);
  });

  test('readers get the smallest copy that they take, and a part of the file when they ask for one', async () => {
    const { url } = await served();
    for (const encoding of ['br', 'gzip', 'identity']) {
      const answer = await fetch(`${url}/_bindery/site.js`, { headers: { 'accept-encoding': encoding } });
      expect(answer.headers.get('content-encoding')).toBe(encoding === 'identity' ? null : encoding);
      expect(await answer.text()).toMatch(/^window.version = 'one';/);
    }
    const part = await fetch(`${url}/_bindery/site.js`, { headers: { range: 'bytes=0-5' } });
    expect([part.status, await part.text()]).toEqual([206, 'window']);
    expect((await fetch(`${url}/_bindery/site.js`, { headers: { range: 'bytes=999999-' } })).status).toBe(416);
    const old = await fetch(`${url}/_bindery/site.js`, { headers: { range: 'bytes=0-5', 'if-range': '"other"' } });
    expect(old.status).toBe(200);
  });

  test('large files are streamed, whole and in part', async () => {
    const text = 'abcdefgh'.repeat(400_000);
    const { url } = await served({}, { 'media/large.bin': text });
    expect(await (await fetch(`${url}/media/large.bin`)).text()).toBe(text);
    expect(await (await fetch(`${url}/media/large.bin`, { headers: { range: 'bytes=3199998-' } })).text()).toBe('gh');
  });

  test('redirects, other forms, missing pages', async () => {
    const { url } = await served(
      {},
      {
        'moved.html':
          '<html><head><meta http-equiv="refresh" content="0; url=./guides/x.html">\n<meta name="redirect" content="permanent"></head></html>',
      },
    );
    const at = async (path: string) => {
      const { status, headers } = await fetch(url + path, { redirect: 'manual' });
      return [status, headers.get('location')];
    };
    expect(await at('/guides/x/')).toEqual([308, '/guides/x']);
    expect(await at('/guides/x.html')).toEqual([308, '/guides/x']);
    expect(await at('/old')).toEqual([307, '/guides/x#part']);
    expect(await at('/moved')).toEqual([308, '/guides/x']);
    expect(await at('/guides')).toEqual([200, null]);
    expect(await at('/nowhere')).toEqual([404, null]);
    expect(await pageOf({ url } as Running, '/nowhere')).toContain('<title>Not here</title>');
    const markdown = await fetch(`${url}/guides/x`, { headers: { accept: 'text/markdown' } });
    expect([markdown.headers.get('content-type'), await markdown.text()]).toEqual([
      'text/markdown; charset=utf-8',
      '# Markdown of one\n',
    ]);
    expect(markdown.headers.get('vary')).toContain('Accept');
    expect((await fetch(`${url}/logo.svg`)).headers.get('content-security-policy')).toContain('sandbox');
  });

  test('a redirect to an address with other letters, and one with a line break, are headers', async () => {
    const leadsTo = (to: string) =>
      `<!doctype html>\n<html>\n<head>\n<meta http-equiv="refresh" content="0; url=${to}">\n</head>\n<body></body>\n</html>\n`;
    const { url } = await served(
      {},
      { 'a.html': leadsTo('https://example.com/文 ä'), 'b.html': leadsTo('https://example.com/x\r\nset-cookie: a=b') },
    );
    const at = async (path: string) => {
      const { status, headers } = await fetch(url + path, { redirect: 'manual' });
      return [status, headers.get('location'), headers.get('set-cookie')];
    };
    expect(await at('/a')).toEqual([307, 'https://example.com/%E6%96%87%20%C3%A4', null]);
    expect(await at('/b')).toEqual([307, 'https://example.com/x%0D%0Aset-cookie:%20a=b', null]);
  });

  test('a config.js that could not be read once is read again', async () => {
    const { url } = await served();
    const [version = ''] = await readdir(join(folder, 'docs-host/versions'));
    const list = await readVersionList(join(folder, 'docs-host/versions', version), join(folder, 'docs-host/content'));
    const file = contentFile(join(folder, 'docs-host/content'), list?.file('_bindery/config.js')?.sha256 ?? '');
    await rename(file, `${file}.away`);
    expect((await fetch(`${url}/_bindery/config.js`)).status).toBe(500);
    await rename(`${file}.away`, file);
    expect((await fetch(`${url}/_bindery/config.js`)).status).toBe(200);
  });

  test('only GET and HEAD are answered', async () => {
    const { url } = await served();
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect((await fetch(url, { method: 'HEAD', headers: { range: 'bytes=0-1' } })).status).toBe(200);
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const answer = await fetch(`${url}/guides/x`, { method, ...(method !== 'OPTIONS' && { body: 'x' }) });
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    }
  });

  test('a site below a path', async () => {
    const { url } = await served({ BINDERY_BASE_PATH: '/docs' });
    const page = await pageOf({ url } as Running, '/docs');
    expect(page).toContain('data-root="/docs/"');
    expect(page).toContain('href="/docs/guides/x?a=1&amp;b=2#part"');
    expect((await fetch(`${url}/guides/x`)).status).toBe(404);
  });

  test('a stored version that becomes one of an air-gapped site loads nothing of other servers any more', async () => {
    const picture = 'src="https://pictures.example/a.png"';
    const more = {
      'picture.html': `<!doctype html>\n<html lang="en">\n<body><img alt="A" ${picture}></body>\n</html>\n`,
    };
    const open = await served({}, more);
    expect(await pageOf(open, '/picture')).toContain(` ${picture}`);
    await open.stop();
    const closed = await host({ BINDERY_STATIC_EXPORT_ENABLED: '0', BINDERY_SITE_DEPLOYMENT: 'air-gapped' });
    expect(await pageOf(closed, '/picture')).toContain(`<img alt="A" data-elsewhere-${picture}>`);
  });

  test("two hosts on one folder would take each other's versions: the second one does not start", async () => {
    const first = await served();
    await expect(host({ BINDERY_STATIC_EXPORT_ENABLED: '0' })).rejects.toThrow(/its own folder with BINDERY_DATA/);
    await first.stop();
    const next = await host({ BINDERY_STATIC_EXPORT_ENABLED: '0' });
    expect(await pageOf(next)).toContain('Version one');
  });

  test('a host without a source and without a version names the setting', async () => {
    const { url } = await host({ BINDERY_STATIC_EXPORT_ENABLED: '0' });
    const ready = await fetch(`${url}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([
      503,
      expect.stringContaining('BINDERY_STATIC_EXPORT_ENABLED=0'),
    ]);
  });

  test('an unpacked bundle, one that is replaced, and the path of the site that changes', async () => {
    const file = join(folder, 'site.tar.gz');
    const first = await served();
    await writeFile(file, await exampleBundle('two'));
    await expect.poll(() => pageOf(first)).toContain('Version two');
    await first.stop();
    rmSync(file);
    const moved = await host({ BINDERY_STATIC_EXPORT_ENABLED: '0', BINDERY_BASE_PATH: '/docs' });
    expect(await pageOf(moved, '/docs')).toContain('Version two');
    await moved.stop();
    const versions = join(folder, 'docs-host/versions');
    const version = (JSON.parse(await readFile(join(folder, 'docs-host/state.json'), 'utf8')) as { active: string })
      .active;
    const copy = join(folder, 'copy');
    for (const { bundled } of (
      await readVersionList(join(versions, version), join(folder, 'docs-host/content'))
    )?.lines() ?? []) {
      const [path = '', { sha256 } = { sha256: '' }] = bundled ?? [];
      await cp(contentFile(join(folder, 'docs-host/content'), sha256), join(copy, path));
    }
    const unpacked = await host({ BINDERY_BUNDLE_PATH: copy, BINDERY_DATA: join(folder, 'other') });
    await readiness(unpacked, isReady);
    expect(await pageOf(unpacked)).toContain('Version two');
  });
});

/** Text that compresses badly and is the same in each run. */
function noise(characters: number): string {
  let text = '';
  for (let at = 0; text.length < characters; at += 1) text += sha256Of(String(at));
  return text;
}

describe('a link', () => {
  test('is downloaded, resumed where it broke off, and served; the same link is not asked again', async () => {
    const bundle = await exampleBundle('one', { 'large.bin': noise(2_000_000) });
    const half = Math.floor(bundle.length / 2);
    const link = await server((request, response) => {
      const { range } = request.headers;
      if (range === undefined) {
        response.writeHead(200, { 'content-length': bundle.length, etag: '"a"' });
        response.write(bundle.subarray(0, half), () => response.socket?.end());
      } else {
        const start = Number(/[0-9]+/.exec(range)?.[0]);
        response
          .writeHead(206, { 'content-range': `bytes ${start}-${bundle.length - 1}/${bundle.length}`, etag: '"a"' })
          .end(bundle.subarray(start));
      }
    });
    const env = {
      BINDERY_STATIC_EXPORT_BUNDLE_URL: `${link.url}/site.tar.gz?signature=1`,
      BINDERY_STATIC_EXPORT_SHA256: sha256Of(bundle),
    };
    const running = await host(env);
    await readiness(running, isReady);
    expect(await pageOf(running)).toContain('Version one');
    expect(link.requests.map(({ headers }) => headers.range)).toEqual([
      undefined,
      expect.stringMatching(/^bytes=[1-9][0-9]*-$/),
    ]);
    expect(link.requests[1]?.headers['if-range']).toBe('"a"');
    await running.stop();
    const again = await host(env);
    await readiness(again, isReady);
    expect(link.requests).toHaveLength(2);
  });

  test('a server that is away for a while is asked again', async () => {
    const bundle = await exampleBundle('one');
    const link = await server((_request, response) => {
      if (link.requests.length < 3) response.writeHead(503).end();
      else whole(bundle)(_request, response);
    });
    const running = await host({ BINDERY_STATIC_EXPORT_BUNDLE_URL: `${link.url}/site.tar.gz` });
    await readiness(running, ({ ready, missing }) => ready || /answered 503/.test(missing.site ?? ''));
    await readiness(running, isReady);
  });

  test.each(['http://169.254.169.254/latest/meta-data/', 'http://[fe80::1]/x', 'http://[::ffff:169.254.169.254]/x'])(
    '%s is not asked',
    async (link) => {
      const running = await host({ BINDERY_STATIC_EXPORT_BUNDLE_URL: link });
      const { missing } = await readiness(running, isEmpty);
      expect(missing.site).toContain('link-local');
      expect((await fetch(running.url)).status).toBe(503);
    },
  );
});

describe('common mistakes of newcomers are named', () => {
  const why = async (env: Record<string, string>) => {
    const { missing } = await readiness(await host(env), isEmpty);
    return missing.site;
  };
  const following = (url: string) =>
    why({ BINDERY_PLATFORM_URL: url, BINDERY_DOCS_DOMAIN: 'acme', BINDERY_EXPORT_KEY: 'svc_x' });

  test('the folder above the unpacked bundle', async () => {
    expect(await why({ BINDERY_BUNDLE_PATH: folder })).toContain('name the folder inside that has it');
  });

  test('https for a platform without it', async () => {
    const { url } = await server((_request, response) => void response.end());
    expect(await following(url.replace('http:', 'https:'))).toContain('it does not speak TLS: is its address http://?');
  });

  test.each([
    [403, 'This key is of another kind.', 'BINDERY_EXPORT_KEY'],
    [404, 'There is no such domain.', 'BINDERY_DOCS_DOMAIN and BINDERY_PLATFORM_URL'],
  ])('the setting behind a %i of the platform', async (status, error, setting) => {
    const { url } = await server(
      (_request, response) => void response.writeHead(status).end(JSON.stringify({ error })),
    );
    expect(await following(url)).toBe(
      `Nothing is served: the platform answered ${status}: ${error} Look at ${setting}.`,
    );
  });

  test('a port that is taken', async () => {
    const { url } = await server(() => {});
    const { port } = new URL(url);
    await expect(host({ BINDERY_BUNDLE_PATH: folder, BINDERY_DOCS_HOST_PORT: port })).rejects.toThrow(
      `The port ${port} is taken. Set BINDERY_DOCS_HOST_PORT to another one.`,
    );
  });

  test('a key for questions beside an air-gapped bundle, whose pages call no server', async () => {
    const mounted = join(folder, 'site.tar.gz');
    await writeFile(mounted, await exampleBundle('one', {}, { deployment: 'air-gapped' }));
    const running = await host({
      BINDERY_BUNDLE_PATH: mounted,
      BINDERY_ASK_KEY: 'svc_dsc_ours',
      BINDERY_PLATFORM_URL: 'http://127.0.0.1:1',
      BINDERY_DOCS_DOMAIN: 'acme',
    });
    await readiness(running, isReady);
    await fetch(`${running.url}/_bindery/config.js`);
    const warnings = running.log.filter(({ level }) => level === 40).map(({ msg }) => msg);
    expect(warnings).toContainEqual(expect.stringContaining('set BINDERY_SITE_DEPLOYMENT=client-hosted'));
  });

  test.each([
    ['/guides/x?a=1', '/guides/x?a=1'],
    ['//other.example/', '/'],
  ])('a page that is not there yet: %s leads to %s again', async (path, again) => {
    const { url } = await host({ BINDERY_STATIC_EXPORT_ENABLED: '0' });
    const answer = await fetch(url + path);
    expect([answer.status, /<a href="([^"]*)">Try again/.exec(await answer.text())?.[1]]).toEqual([503, again]);
  });
});

import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { docsHosts, hostReadiness, isReady } from '../support/docs-host.ts';
import { exampleBundle } from '../support/example-bundle.ts';

const { folder, host } = docsHosts();

/** Pages, and files that contain their text. The site may have withdrawn both since. */
const read = {
  'guides/y.html': '<!doctype html>\n<html lang="en">\n<head></head>\n<body><p>taken back</p></body>\n</html>\n',
  'guides/y.md': 'taken back',
  'guides/loud.MD': 'taken back',
  'notes.txt': 'taken back',
  'openapi.json': '{"info":"taken back"}',
  'openapi.yaml': 'info: taken back',
  'llms-full.txt': 'taken back',
  'sitemap.xml': '<urlset>taken back</urlset>',
  'files/plan.pdf': 'taken back',
  'films/film.mp4': 'taken back',
  '_bindery/report.json': '{"diagnostics":"taken back"}',
  '_bindery/search-index.js': 'window.binderySearchIndex = "taken back";',
  '_bindery/search/0.js': 'binderySearchPart(0, "taken back");',
};
/** Files that display a page. */
const shows = {
  'images/a.PNG': 'of one',
  'images/favicon.ico': 'of one',
  'fonts/a.woff2': 'of one',
  'style.css': 'p { color: red }',
  'own.js': 'window.own = 1;',
};
const inBundle = ['_bindery/manifest.json', '_bindery/config.js'];

const digestOf = (body: string): string => createHash('sha256').update(body).digest('hex').slice(0, 16);

/** Requests a path without normalizing it. */
async function ask(url: string, path: string) {
  const { port } = new URL(url);
  const asked = request({ port, host: '127.0.0.1', path, headers: { 'accept-encoding': 'identity' } }).end();
  return new Promise<{ status: number; caching: string; location: string | undefined; body: string }>(
    (resolve, reject) => {
      asked.once('error', reject);
      asked.once('response', (answer) => {
        const { statusCode: status = 0, headers } = answer;
        const { 'cache-control': caching = '', location } = headers;
        text(answer).then((body) => resolve({ status, caching, location, body }), reject);
      });
    },
  );
}

/** Other spellings of the address of the same file, as a proxy or a file system might accept them. */
const spellings = (token: string, path: string): string[] => {
  const encoded = path.replace(/[a-z]/i, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
  const extension = path.slice(path.lastIndexOf('.'));
  return [
    ...[path, encoded, path.toUpperCase(), `${path}.`, `${path}/`, `${path}?x`, `${path}%20`, `/${path}`],
    ...[`./${path}`, `x/../${path}`, `%2e/${path}`, `${path}%00.png`, `${path};a.png`, `${path}%3fa.css`],
    path.replace(extension, encodeURIComponent(extension).replace('.', '%2E')),
    path.replace('/', '//'),
    path.replace('/', '%2f'),
    ...(path.endsWith('.html') ? [path.slice(0, -'.html'.length)] : []),
  ].flatMap((written) => [
    `/_bindery/@${token}/${written}`,
    `/%5fbindery/%40${token}/${written}`,
    `//_bindery/@${token}/${written}`,
  ]);
};

test('is answered with files that display its pages, but with no content, for any spelling of the address', async () => {
  const file = join(folder(), 'site.tar.gz');
  await writeFile(file, await exampleBundle('one', { ...read, ...shows }));
  const { url } = await host({ BINDERY_BUNDLE_PATH: file });
  await hostReadiness({ url }, isReady);
  const before = await ask(url, '/guides/y');
  const token = /data-files="\/_bindery\/@([0-9a-f]{16})\/"/.exec(before.body)?.[1] ?? '';
  expect(token).not.toBe('');

  async function expectLimits(): Promise<void> {
    const expected: string[] = [];
    for (const [path, body] of Object.entries(shows))
      for (const name of [token, digestOf(body)]) {
        const answer = await ask(url, `/_bindery/@${name}/${path}`);
        expected.push(`${answer.status} ${answer.caching} ${answer.body === body}`);
      }
    expect(new Set(expected)).toEqual(new Set(['200 public, max-age=31536000, immutable true']));
    const given: string[] = [];
    for (const path of [...Object.keys(read), ...inBundle]) {
      const digest = path in read ? digestOf(read[path as keyof typeof read]) : digestOf('');
      for (const address of [...spellings(token, path), ...spellings(digest, path)]) {
        const { status, caching, body } = await ask(url, address);
        if (status === 200 || /max-age=[1-9]/.test(caching) || body.includes('taken back'))
          given.push(`${address}: ${status} ${caching}`);
      }
    }
    expect(given).toEqual([]);
  }

  await expectLimits();
  await writeFile(file, await exampleBundle('two', { '_bindery/search-index.js': 'window.binderySearchIndex = 2;' }));
  await expect.poll(async () => (await ask(url, '/')).body).toContain('Version two');
  await expectLimits();
  // Scripts of older bundles request the index at the address of their version.
  const old = await ask(url, `/_bindery/@${token}/_bindery/search-index.js`);
  expect([old.status, old.location, old.caching]).toEqual([307, '/_bindery/search-index.js', 'no-cache']);
  expect((await ask(url, `/_bindery/@${token}/_bindery/search/0.js`)).status).toBe(404);
});

test('pages address only the files that display them by a hash of their bytes', async () => {
  const file = join(folder(), 'site.tar.gz');
  const page =
    '<html><head></head><body><img src="../images/a.PNG"><video src="../films/film.mp4"></video><iframe src="y.html"></iframe></body></html>';
  await writeFile(file, await exampleBundle('one', { ...read, ...shows, 'guides/z.html': page }));
  const { url } = await host({ BINDERY_BUNDLE_PATH: file });
  await hostReadiness({ url }, isReady);
  const { body } = await ask(url, '/guides/z');
  expect(body).toMatch(/<img src="\/_bindery\/@[0-9a-f]{16}\/images\/a.PNG"><video src="\/films\/film.mp4">/);
  expect(body).toContain('<iframe src="/guides/y">');
});

import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeEach, expect, test } from 'vitest';
import { docsHosts, hostReadiness, isReady } from '../../test/support/docs-host.ts';
import { exampleBundle } from '../../test/support/example-bundle.ts';
import { onLoopback } from '../../test/support/on-loopback.ts';

const { folder, atEnd, host } = docsHosts();
type Asked = { path: string | undefined; headers: IncomingHttpHeaders; body: string };
let asked: Asked[] = [];
/** If true, the platform begins its answers and does not end them. */
let isEndless = false;
let url = '';
let settings: Record<string, string> = {};
let endPlatform: () => Promise<void>;

beforeEach(async () => {
  asked = [];
  isEndless = false;
  const platform = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      asked.push({ path: request.url, headers: request.headers, body: await text(request) });
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        'x-thread-id': 't1',
        'set-cookie': 'a=b',
        server: 'x',
      });
      response.write('data: one\n\n');
      if (!isEndless) response.end('data: two\n\n');
    };
    void answer();
  });
  const { url: platformUrl, close } = await onLoopback(platform);
  endPlatform = close;
  atEnd(endPlatform);
  const file = join(folder(), 'site.tar.gz');
  await writeFile(file, await exampleBundle('one'));
  settings = {
    BINDERY_BUNDLE_PATH: file,
    BINDERY_PLATFORM_URL: platformUrl,
    BINDERY_DOCS_DOMAIN: 'acme',
    BINDERY_ASK_KEY: 'svc_dsc_ours',
    BINDERY_TRUST_PROXY: 'loopback',
  };
  const running = await host(settings);
  await hostReadiness(running, isReady);
  ({ url } = running);
});

const message = '/discovery/v2/assistant/acme/message';
const post = (path: string, headers: Record<string, string> = {}, body = '{"query":"x"}') =>
  fetch(url + path, { method: 'POST', body, headers: { origin: url, 'content-type': 'application/json', ...headers } });

test('a question goes to the platform with the key of the host and the address of the reader, and its answer comes back', async () => {
  const answer = await post(message, {
    authorization: 'Bearer svc_dsc_theirs',
    cookie: 'session=1',
    'x-forwarded-for': '203.0.113.9',
    'x-reader-address': '198.51.100.1',
    'x-thread-key': 'k',
    'x-bindery-caller': 'admin',
  });
  expect([answer.status, await answer.text()]).toEqual([200, 'data: one\n\ndata: two\n\n']);
  expect(answer.headers.get('x-thread-id')).toBe('t1');
  expect([answer.headers.get('set-cookie'), answer.headers.get('server')]).toEqual([null, null]);
  expect(asked).toMatchObject([{ path: message, body: '{"query":"x"}' }]);
  expect(asked[0]?.headers).toMatchObject({
    authorization: 'Bearer svc_dsc_ours',
    'x-reader-address': '203.0.113.9',
    'x-thread-key': 'k',
  });
  expect(asked[0]?.headers).not.toHaveProperty('x-forwarded-for');
  expect(asked[0]?.headers).not.toHaveProperty('cookie');
  expect(asked[0]?.headers).not.toHaveProperty('x-bindery-caller');
});

test('the four routes of the site alone are passed on', async () => {
  for (const route of ['search', 'page', 'feedback'])
    expect((await post(`/discovery/v1/${route}/acme`)).status).toBe(200);
  for (const path of ['/discovery/v1/search/other', '/v1/static-export/jobs', '/discovery/v1/search/acme/../other'])
    expect((await post(path)).status).toBe(405);
  expect(asked).toHaveLength(3);
});

test('an answer on its way is no leak to Node, whose warnings would fill the log', async () => {
  const warnings: string[] = [];
  const keep = ({ message: text }: Error): void => void warnings.push(text);
  process.on('warning', keep);
  atEnd(async () => process.off('warning', keep));
  expect(await (await post(message)).text()).toContain('two');
  expect(warnings).toEqual([]);
});

test('a reader who lets 64 answers stand gets no more, and keeps nobody else from asking', async () => {
  isEndless = true;
  const gone = new AbortController();
  const ask = async (address: string) => {
    const headers = { origin: url, 'content-type': 'application/json', 'x-forwarded-for': address };
    return await fetch(url + message, { method: 'POST', body: '{}', headers, signal: gone.signal });
  };
  const standing = await Promise.all(Array.from({ length: 64 }, (_, at) => ask(`2001:db8::${at}`)));
  expect(new Set(standing.map(({ status }) => status))).toEqual(new Set([200]));
  const refused = await ask('2001:db8::ffff');
  expect([refused.status, Number(refused.headers.get('retry-after')) > 0, await refused.json()]).toMatchObject([
    429,
    true,
    { code: 'rate_limited', error: expect.stringContaining('from your address') as string },
  ]);
  expect((await ask('203.0.113.9')).status).toBe(200);
  gone.abort();
  isEndless = false;
  await expect.poll(async () => (await post(message, { 'x-forwarded-for': '2001:db8::1' })).status).toBe(200);
});

/** Sends a question without its last byte. Resolves with the status line of the answer. */
function unfinished(bytes: number, headers: Record<string, string> = {}): { socket: Socket; status: Promise<string> } {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const all = {
    host: new URL(url).host,
    origin: url,
    'content-type': 'application/json',
    'content-length': bytes + 1,
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST ${message} HTTP/1.1\r\n${lines.join('')}\r\n`);
  if (bytes > 0) socket.write(Buffer.alloc(bytes, ' '));
  // A connection that is closed during sending emits an error.
  socket.on('error', () => {});
  atEnd(async () => socket.destroy());
  return { socket, status: once(socket, 'data').then(([data]) => String(data).split('\r\n', 1)[0] ?? '') };
}

test('the body of a request that is not from a page of the site is not awaited', async () => {
  expect(await unfinished(0, { origin: 'https://elsewhere.example' }).status).toBe('HTTP/1.1 403 Forbidden');
});

test('bodies on their way take no more memory than there is for them, and one reader takes a part of it', async () => {
  const held = Array.from({ length: 16 }, () => unfinished(1_000_000, { 'x-forwarded-for': '203.0.113.9' }));
  const statuses = held.map(({ status }) => status);
  expect(await Promise.any(statuses)).toBe('HTTP/1.1 429 Too Many Requests');
  // Another reader has a separate share.
  expect((await post(message, { 'x-forwarded-for': '203.0.113.10' })).status).toBe(200);
  for (const { socket } of held) socket.destroy();
  await expect.poll(async () => (await post(message, { 'x-forwarded-for': '203.0.113.9' })).status).toBe(200);
});

test('a route of the platform takes POST alone, and says so', async () => {
  for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
    const answer = await fetch(url + message, { method, headers: { origin: url } });
    expect([answer.status, answer.headers.get('allow'), await answer.json()]).toMatchObject([
      405,
      'POST',
      { code: 'method_not_allowed' },
    ]);
  }
  expect((await fetch(url + message)).status).toBe(404);
  expect(asked).toEqual([]);
});

test.each([
  ['another site', { origin: 'https://evil.example' }],
  ['nobody knows where', { origin: 'null' }],
  ['another site, by its fetch metadata', { 'sec-fetch-site': 'cross-site' }],
])('a question from %s is refused', async (_name, headers) => {
  const answer = await post(message, headers);
  expect([answer.status, await answer.json()]).toMatchObject([403, { code: 'origin_not_allowed' }]);
  expect(asked).toEqual([]);
});

test('where the address of the site is known, a name that somebody lets lead here is none of it', async () => {
  const own = 'https://docs.example.com';
  const running = await host({ ...settings, BINDERY_DATA: join(folder(), 'named'), BINDERY_SITE_URL: `${own}/` });
  await hostReadiness(running, isReady);
  // The page of http://rebound.example, whose name resolves to the host now: `Host` and `Origin` agree, and so does the fetch metadata.
  ({ url } = running);
  expect((await post(message)).status).toBe(403);
  expect((await post(message, { origin: own, 'sec-fetch-site': 'same-origin' })).status).toBe(200);
});

test('large questions, and those of another type, are refused', async () => {
  const large = await post(message, {}, 'x'.repeat(1_100_000));
  expect([large.status, await large.json()]).toMatchObject([413, { code: 'too_large' }]);
  const other = await post(message, { 'content-type': 'text/plain' });
  expect([other.status, await other.json()]).toMatchObject([415, { code: 'unsupported_media_type' }]);
  expect(asked).toEqual([]);
});

test('while the platform is away readers hear so, and the site is read as before', async () => {
  await endPlatform();
  const answer = await post(message);
  expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'unavailable' }]);
  expect((await fetch(url)).status).toBe(200);
});

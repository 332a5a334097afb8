import { beforeEach, expect, test } from 'vitest';
import { type AskOptions, askHost } from '../../test/support/ask-host.ts';
import { docsHosts } from '../../test/support/docs-host.ts';
import { exampleBundle } from '../../test/support/example-bundle.ts';
import { type SitesPlatform, sitesPlatform } from '../../test/support/sites-platform.ts';

const { host, atEnd } = docsHosts();
const waiting = { timeout: 60_000, interval: 20 };
const search = '/discovery/v1/search/docs';

let platform: SitesPlatform;
beforeEach(async () => {
  platform = await sitesPlatform();
  atEnd(() => platform.close());
});

async function started(): Promise<string> {
  const { url } = await host({ ...platform.env, BINDERY_TRUST_PROXY: 'loopback' });
  return url;
}
const isServed = async (url: string, name: string) =>
  await expect.poll(async () => (await askHost(url, name)).status, waiting).toBe(200);
const ask = (url: string, name: string, path = search, headers: Record<string, string> = {}, more: AskOptions = {}) =>
  askHost(url, name, path, {
    method: 'POST',
    body: '{"query":"x"}',
    headers: { origin: `http://${name}:8090`, 'content-type': 'application/json', ...headers },
    ...more,
  });
const configOf = async (url: string, name: string) => (await askHost(url, name, '/_bindery/config.js')).text;

test('pages of a site ask their own host, which asks the platform with its key and the address of the reader', async () => {
  platform.deploy({
    bundle: await exampleBundle('one'),
    offers: { assistant: true },
    hosts: ['docs.example', 'd.localhost'],
  });
  const url = await started();
  await isServed(url, 'docs.example');
  const script = await configOf(url, 'docs.example');
  expect(script).toContain('"search": "server"');
  expect(script).toContain('"assistant": true');
  expect(script).toContain('window.binderyConfig.serverUrl = location.origin + "";');
  expect(script).not.toContain('svc_site_');
  const cookies = { cookie: 'a=b', authorization: 'Bearer svc_theirs', 'x-forwarded-for': '203.0.113.9' };
  // The site has two host names, and its pages ask under each.
  expect((await ask(url, 'docs.example', search, cookies)).status).toBe(200);
  expect((await ask(url, 'd.localhost', '/discovery/v2/assistant/docs/message', cookies)).status).toBe(200);
  expect((await ask(url, 'd.localhost', '/discovery/v1/feedback/docs', { 'x-thread-key': 'k' })).status).toBe(200);
  expect(platform.questions.map(({ path }) => path)).toEqual(
    ['search', 'message', 'feedback'].map((last) => `/v1/sites/readers/acme/docs/${last}`),
  );
  expect(platform.questions[0]).toMatchObject({
    headers: {
      authorization: platform.env.BINDERY_SITES_KEY.replace(/^/, 'Bearer '),
      'x-reader-address': '203.0.113.9',
    },
    body: { query: 'x' },
  });
  expect(platform.questions[0]?.headers).not.toHaveProperty('cookie');
  expect(platform.questions[2]?.headers).toMatchObject({ 'x-thread-key': 'k' });
});

test('a reader comes back to an answer and stops it through the host, and pages of other sites do not', async () => {
  platform.deploy({ bundle: await exampleBundle('one'), offers: { assistant: true } });
  const url = await started();
  await isServed(url, 'docs.localhost');
  const path = '/discovery/v2/assistant/docs/message/chat_1/stream';
  const origin = 'http://docs.localhost:8090';
  // Browsers send no origin with a GET of the page's own site.
  const own = { 'sec-fetch-site': 'same-origin', 'last-event-id': '0', cookie: 'a=b', 'x-reader-fingerprint': 'r' };
  const read = await askHost(url, 'docs.localhost', path, { headers: own });
  expect([read.status, read.text, read.headers['content-type']]).toEqual([
    ...[200, 'id: 1\ndata: [DONE]\n\n', 'text/event-stream'],
  ]);
  expect((await askHost(url, 'docs.localhost', path, { method: 'DELETE', headers: { origin } })).status).toBe(204);
  expect(platform.questions.map(({ path: asked, body }) => [body, asked])).toEqual([
    ['GET', '/v1/sites/readers/acme/docs/message/chat_1/stream'],
    ['DELETE', '/v1/sites/readers/acme/docs/message/chat_1/stream'],
  ]);
  expect(platform.questions[0]?.headers).toMatchObject({ 'last-event-id': '0', 'x-reader-fingerprint': 'r' });
  expect(platform.questions[0]?.headers).not.toHaveProperty('cookie');
  await ask(url, 'docs.localhost', '/discovery/v2/assistant/docs/message', { 'x-resumable': 'true' });
  expect(platform.questions[2]?.headers).toMatchObject({ 'x-resumable': 'true' });
  for (const headers of [{ origin: 'http://other.localhost:8090' }, { 'sec-fetch-site': 'cross-site' }] as Record<
    string,
    string
  >[])
    for (const method of ['GET', 'DELETE'])
      expect((await askHost(url, 'docs.localhost', path, { method, headers })).status).toBe(403);
  expect((await askHost(url, 'docs.localhost', path, { method: 'DELETE' })).status).toBe(403);
  expect((await askHost(url, 'docs.localhost', path.replace('/docs/', '/other/'))).status).toBe(404);
  expect(platform.questions).toHaveLength(3);
});

test('a site asks for itself alone, and only its own pages ask', async () => {
  const offers = { assistant: true } as const;
  platform.deploy({ bundle: await exampleBundle('one'), offers });
  platform.deploy({ domain: 'other', organization: 'globex', bundle: await exampleBundle('two'), offers });
  const url = await started();
  await isServed(url, 'docs.localhost');
  await isServed(url, 'other.localhost');
  const refused = async (...asked: Parameters<typeof ask>) => {
    const { status, text } = await ask(...asked);
    return [status, JSON.parse(text).code];
  };
  expect(await refused(url, 'other.localhost')).toEqual([404, 'not_found']);
  expect(await refused(url, 'docs.localhost', search, { origin: 'http://other.localhost:8090' })).toEqual([
    403,
    'origin_not_allowed',
  ]);
  expect(await refused(url, 'docs.localhost', search, { origin: 'null' })).toEqual([403, 'origin_not_allowed']);
  expect(await refused(url, 'docs.localhost', search, { 'sec-fetch-site': 'same-site' })).toEqual([
    403,
    'origin_not_allowed',
  ]);
  expect((await ask(url, 'nowhere.localhost')).status).toBe(404);
  expect(platform.questions).toEqual([]);
});

test('without the switch nothing is passed on, and the switch takes effect without a deployment', async () => {
  const bundle = await exampleBundle('one');
  platform.deploy({ bundle });
  const url = await started();
  await isServed(url, 'docs.localhost');
  const before = await configOf(url, 'docs.localhost');
  expect(before).toContain('"search": "bundle"');
  expect(before).not.toContain('location.origin');
  expect((await ask(url, 'docs.localhost')).status).toBe(404);
  platform.deploy({ bundle, offers: { assistant: true } });
  await expect.poll(() => configOf(url, 'docs.localhost'), waiting).toContain('"search": "server"');
  expect((await ask(url, 'docs.localhost')).status).toBe(200);
  platform.deploy({ bundle });
  await expect.poll(() => configOf(url, 'docs.localhost'), waiting).toBe(before);
  expect((await ask(url, 'docs.localhost')).status).toBe(404);
});

test('a preview searches in its own index, whatever the platform says of it', async () => {
  platform.deploy({ label: 'pr-1', bundle: await exampleBundle('one'), offers: { assistant: true } });
  const url = await started();
  await isServed(url, 'pr-1--docs.localhost');
  expect(await configOf(url, 'pr-1--docs.localhost')).toContain('"search": "bundle"');
  expect((await ask(url, 'pr-1--docs.localhost')).status).toBe(404);
  expect(platform.questions).toEqual([]);
});

test('programs read a site as Markdown', async () => {
  platform.deploy({ bundle: await exampleBundle('one', { 'llms.txt': '# Docs\n' }) });
  const url = await started();
  await isServed(url, 'docs.localhost');
  const asked = await askHost(url, 'docs.localhost', '/guides/x', { headers: { accept: 'text/markdown' } });
  expect([asked.text, asked.headers['content-type'], asked.headers.vary]).toEqual([
    '# Markdown of one\n',
    expect.stringContaining('text/markdown'),
    expect.stringContaining('Accept'),
  ]);
  expect((await askHost(url, 'docs.localhost', '/guides/x.md')).text).toBe('# Markdown of one\n');
  expect((await askHost(url, 'docs.localhost', '/llms.txt')).text).toBe('# Docs\n');
});

test('while the platform is away readers hear so, and pages are read as before', async () => {
  platform.deploy({ bundle: await exampleBundle('one'), offers: { assistant: true } });
  const url = await started();
  await isServed(url, 'docs.localhost');
  await platform.close();
  const answer = await ask(url, 'docs.localhost');
  expect([answer.status, JSON.parse(answer.text).code]).toEqual([503, 'unavailable']);
  expect((await askHost(url, 'docs.localhost')).status).toBe(200);
});

test('agents ask at /mcp of each site, and find it', async () => {
  platform.deploy({ bundle: await exampleBundle('one'), offers: { assistant: true } });
  platform.deploy({ domain: 'closed', bundle: await exampleBundle('two') });
  const url = await started();
  await isServed(url, 'docs.localhost');
  await isServed(url, 'closed.localhost');
  const body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
  const send = async (name: string, headers: Record<string, string> = {}) =>
    askHost(url, name, '/mcp', { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
  const asked = {
    'mcp-protocol-version': '2025-11-25',
    authorization: 'Bearer theirs',
    'x-forwarded-for': '203.0.113.9',
  };
  expect((await send('docs.localhost', asked)).status).toBe(200);
  const [question] = platform.questions;
  expect(question).toMatchObject({
    path: '/v1/sites/readers/acme/docs/mcp',
    headers: { 'mcp-protocol-version': '2025-11-25', 'x-reader-address': '203.0.113.9' },
    body: { method: 'tools/list' },
  });
  expect(question?.headers.authorization).not.toContain('theirs');
  expect((await send('docs.localhost', { origin: 'http://docs.localhost:8090' })).status).toBe(200);
  expect((await send('docs.localhost', { origin: 'http://127.0.0.1:6274' })).status).toBe(200);
  expect((await send('docs.localhost', { origin: 'http://rebound.example' })).status).toBe(403);
  expect((await send('closed.localhost')).status).toBe(404);
  for (const method of ['GET', 'DELETE'] as const) {
    const { status, headers } = await askHost(url, 'docs.localhost', '/mcp', { method });
    expect([method, status, headers['allow']]).toEqual([method, 405, 'POST']);
  }
  for (const path of ['/.well-known/mcp', '/.well-known/mcp.json']) {
    const { status, text } = await askHost(url, 'docs.localhost', path);
    const endpoint = 'http://docs.localhost:8090/mcp';
    expect([status, JSON.parse(text)]).toEqual([
      200,
      {
        ...{ version: '1.0.0', transport: 'http', url: endpoint },
        servers: [{ name: 'public', url: endpoint, transport: 'http', authentication: 'none' }],
      },
    ]);
  }
  const card = JSON.parse((await askHost(url, 'docs.localhost', '/.well-known/mcp/server-card.json')).text);
  expect(card).toMatchObject({ remotes: [{ type: 'streamable-http', url: 'http://docs.localhost:8090/mcp' }] });
  expect((await askHost(url, 'closed.localhost', '/.well-known/mcp')).status).toBe(404);
});

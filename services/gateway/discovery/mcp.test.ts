import { generateKeyPair, exportJWK, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateApiKey } from '#shared/http/api-key.ts';
import { type AgentGateway, agentGateway, openTestSite } from '../../../test/support/agent-gateway.ts';
import { bearer } from '../../../test/support/gateway-harness.ts';

const siteKey = generateApiKey('site');
const { publicKey, privateKey } = await generateKeyPair('EdDSA', { extractable: true });

const start = async (): Promise<AgentGateway> =>
  agentGateway(
    { BINDERY_SITES_KEYS: siteKey, BINDERY_LIMIT_ASSISTANT_PER_HOUR: '2000' },
    { groups: 'signed', userTokenKeys: [await exportJWK(publicKey)] },
  );

let gateway: AgentGateway;
beforeAll(async () => {
  gateway = await start();
});
afterAll(() => gateway.close());

const path = '/discovery/v1/mcp/docs';

/** A message of a client of the revision 2025-11-25. */
const send = (message: object, headers: Record<string, string> = bearer(gateway.acme.assistantKey), url = path) =>
  gateway.app.inject({ method: 'POST', url, headers, payload: { jsonrpc: '2.0', id: 1, ...message } });

const call = async (name: string, args: object, headers?: Record<string, string>, url?: string) => {
  const answer = await send({ method: 'tools/call', params: { name, arguments: args } }, headers, url);
  expect([name, answer.statusCode]).toEqual([name, 200]);
  return answer.json<{
    result: { isError?: boolean; content: { text: string }[]; structuredContent: Record<string, never> };
  }>().result;
};

const staff = async (): Promise<Record<string, string>> => {
  const exp = gateway.clock.time.getTime() / 1_000 + 3_600;
  const token = new SignJWT({ aud: 'docs', exp, groups: ['staff'] }).setProtectedHeader({ alg: 'EdDSA' });
  return { ...bearer(gateway.acme.assistantKey), 'x-user-token': await token.sign(privateKey) };
};

const initialize = {
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

describe('the endpoint', () => {
  test('greets a client with the name of the documentation, as JSON and without a session', async () => {
    const answer = await send(initialize);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.headers['mcp-session-id']).toBeUndefined();
    expect(answer.json().result).toMatchObject({
      protocolVersion: '2025-06-18',
      serverInfo: { name: 'docs', title: 'Docs' },
      capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
    });
    expect(answer.json().result.capabilities).toMatchObject({ tools: { listChanged: false } });
    const notified = await send({ id: undefined, method: 'notifications/initialized' });
    expect([notified.statusCode, notified.body, notified.headers['content-type']]).toEqual([202, '', undefined]);
  });

  test.each(['GET', 'DELETE'] as const)('answers %s as the standard says', async (method) => {
    const answer = await gateway.app.inject({ method, url: path, headers: { accept: 'text/event-stream' } });
    expect([answer.statusCode, answer.headers.allow, answer.json().code]).toEqual([405, 'POST', 'method_not_allowed']);
  });

  test('answers clients of 2026-07-28, and refuses their subscriptions without holding a connection', async () => {
    const modern = (method: string, params: object = {}) => {
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      };
      const headers = {
        ...bearer(gateway.acme.assistantKey),
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
      };
      return send({ method, params: { ...params, _meta } }, headers);
    };
    expect((await modern('server/discover')).json().result).toMatchObject({
      supportedVersions: expect.arrayContaining(['2026-07-28']),
    });
    expect((await modern('subscriptions/listen', { notifications: {} })).json()).toMatchObject({
      error: { code: expect.any(Number) },
    });
  });

  test('refuses a protocol version that it does not know, and what is no message', async () => {
    const headers = { ...bearer(gateway.acme.assistantKey), 'mcp-protocol-version': '1999-01-01' };
    expect((await send({ method: 'tools/list' }, headers)).statusCode).toBe(400);
    expect((await send({ jsonrpc: '1.0', method: 'tools/list' })).statusCode).toBe(400);
    const broken = await gateway.app.inject({
      ...{ method: 'POST', url: path, payload: '{' },
      headers: { ...bearer(gateway.acme.assistantKey), 'content-type': 'application/json' },
    });
    expect([broken.statusCode, broken.json().error.code]).toEqual([400, -32700]);
  });

  test('counts against the limits of its key and address', async () => {
    const { headers } = await send(initialize);
    expect(headers['ratelimit-policy']).toBe('"mcp-address";q=10000;w=86400, "mcp";q=2000;w=3600');
    // Each message of a list counts.
    const list = async (length: number) =>
      gateway.app.inject({
        ...{ method: 'POST', url: path, headers: bearer(gateway.acme.assistantKey) },
        payload: Array.from({ length }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' })),
      });
    const left = async (length: number) => {
      const { headers: counted, statusCode } = await list(length);
      return [statusCode, Number(/"mcp";r=(\d+)/.exec(String(counted['ratelimit']))?.[1])] as const;
    };
    const [, before] = await left(1);
    expect(await left(20)).toEqual([200, before - 20]);
    expect((await list(21)).json().code).toBe('too_large');
    expect((await list(0)).statusCode).toBe(400);
  });
});

describe('the tools', () => {
  test('search', async () => {
    const found = await call('search', { query: 'rotate an API key', pageSize: 1 });
    expect(found.structuredContent).toMatchObject({
      passages: [{ path: 'guides/keys', url: '/guides/keys#rotate-a-key', title: 'API keys', heading: 'Rotate a key' }],
    });
    expect(found.content[0]?.text).toContain('press "Rotate"');
    expect((await call('search', { query: 'zebra' })).content[0]?.text).toContain('Nothing was found.');
    const wrong = await call('search', { query: '', pageSize: 99, words: 1 });
    expect(wrong.isError).toBe(true);
    expect(wrong.content[0]?.text).toContain('query: must not be empty, pageSize: must be at most 50');
  });

  test('read_page: pages, sections, and what is not there', async () => {
    const both = await call('read_page', { paths: ['/guides/keys.md', 'guides/deleted', 'guides/nowhere'] });
    expect(both.structuredContent).toMatchObject({
      pages: [{ path: 'guides/keys', title: 'API keys' }, { path: 'guides/deleted' }],
      notFound: ['guides/nowhere'],
    });
    for (const section of ['Rotate a key', 'rotate-a-key', 'API keys › Rotate a key']) {
      const part = await call('read_page', { paths: ['guides/keys'], section });
      expect(part.structuredContent).toMatchObject({
        pages: [{ content: expect.stringMatching(/^## Rotate a key[^]*### Old keys[^]*one more day\.$/) }],
      });
    }
    const missing = await call('read_page', { paths: ['guides/keys'], section: 'Nothing' });
    expect([missing.isError, missing.content[0]?.text]).toEqual([
      true,
      expect.stringContaining('"Rotate a key", "Old keys", "Delete a key"'),
    ]);
    for (const asked of ['../../etc/passwd', '..%2f..%2fetc/passwd', '/etc/passwd', 'https://evil.example/x', '\u0000'])
      expect((await call('read_page', { paths: [asked] })).isError).toBe(true);
    const rest = await call('read_page', { paths: ['guides/keys'], offset: 10 });
    expect(rest.structuredContent).toMatchObject({ pages: [{ content: expect.stringMatching(/^\n\nKeys|^\nKeys/) }] });
  });

  test('list_pages: the navigation as a tree', async () => {
    expect((await call('list_pages', {})).structuredContent).toEqual({
      ...{ name: 'Docs', totalPages: 2, listedPages: 2 },
      navigation: [
        {
          ...{ kind: 'group', title: 'Guides' },
          children: [
            { kind: 'page', title: 'Title of guides/keys', path: 'guides/keys' },
            { kind: 'page', title: 'Title of guides/deleted', path: 'guides/deleted' },
          ],
        },
      ],
    });
    expect((await call('list_pages', { under: '/guides/k', depth: 1, limit: 1 })).structuredContent).toMatchObject({
      totalPages: 1,
    });
  });

  test('find_in_pages: lines of text and of expressions', async () => {
    const found = await call('find_in_pages', { pattern: 'BINDERY_KEYS=none', linesAround: 1 });
    expect(found.structuredContent).toMatchObject({
      pages: [{ path: 'guides/keys', lines: [{ line: 15, before: [''] }] }],
    });
    expect((await call('find_in_pages', { pattern: '^### Old', regex: true })).structuredContent).toMatchObject({
      pages: [{ path: 'guides/keys' }],
    });
    const refused = await call('find_in_pages', { pattern: '(?=x)', regex: true });
    expect([refused.isError, refused.content[0]?.text]).toEqual([true, expect.stringContaining('without look-around')]);
  });
});

test('what agents asked and remarked is in the insights, without private words', async () => {
  const shared = gateway;
  gateway = await start();
  const sent = await call('submit_feedback', {
    message: 'The page lacks an example. Ask ada@acme.test.',
    path: 'guides/keys',
    rating: 'down',
  });
  expect(sent.structuredContent).toEqual({ accepted: true });
  await call('search', { query: 'zebra' });
  await gateway.context.agentCounts.flush();
  await gateway.bus.projected();
  const insights = await gateway.app.inject({
    url: '/v1/assistant/docs/insights',
    headers: bearer(gateway.acme.adminKey),
  });
  expect(insights.json().agents).toEqual({
    ...{ calls: 2, searches: 1, empty: 1 },
    tools: [
      { tool: 'search', calls: 1 },
      { tool: 'submit_feedback', calls: 1 },
    ],
    queries: [{ query: 'zebra', searches: 1, empty: 1 }],
    remarks: [{ day: '2026-03-01', message: 'The page lacks an example. Ask …', path: '/guides/keys', rating: 'down' }],
  });
  await gateway.close();
  gateway = shared;
});

test('pages of a group reach its readers only, by no tool, resource or completion', async () => {
  const asks: [string, object][] = [
    ...['signing secret', 'Runbook', 'staff', 'rotated every quarter', 'internal/secret'].flatMap(
      (query): [string, object][] => [
        ['tools/call', { name: 'search', arguments: { query, pageSize: 50 } }],
        ['tools/call', { name: 'find_in_pages', arguments: { pattern: query } }],
        ['tools/call', { name: 'find_in_pages', arguments: { pattern: '.', regex: true, under: 'internal/' } }],
      ],
    ),
    [
      'tools/call',
      { name: 'read_page', arguments: { paths: ['internal/secret', 'guides/keys', '/internal/secret.md'] } },
    ],
    ['tools/call', { name: 'list_pages', arguments: { under: 'internal' } }],
    ['tools/call', { name: 'list_pages', arguments: {} }],
    ['resources/list', {}],
    ['resources/read', { uri: 'docs://pages/internal/secret' }],
    ['resources/read', { uri: 'docs://pages/internal%2Fsecret' }],
    ['resources/read', { uri: 'docs://skills/docs' }],
    [
      'completion/complete',
      { ref: { type: 'ref/resource', uri: 'docs://pages/{+path}' }, argument: { name: 'path', value: 'int' } },
    ],
    [
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'answer_from_docs' }, argument: { name: 'page', value: '' } },
    ],
  ];
  /** Number of answers with something of the page. */
  const shown = async (headers: Record<string, string>): Promise<number> => {
    const answers = await Promise.all(asks.map(async ([method, params]) => send({ method, params }, headers)));
    const said = answers.map(({ body }) =>
      // An answer may repeat the words of its question, which are not of the page.
      JSON.stringify(JSON.parse(body).result ?? {}).replaceAll(/There is no page[^.]*\.|"notFound":\[[^\]]*\]/g, ''),
    );
    return said.filter((text) => /every quarter|Title of internal|internal\/secret|Staff only/.test(text)).length;
  };
  expect(await shown(await staff())).toBeGreaterThan(8);
  const exp = gateway.clock.time.getTime() / 1_000 + 3_600;
  const other = new SignJWT({ aud: 'docs', exp, groups: ['sales'] }).setProtectedHeader({ alg: 'EdDSA' });
  const readers = [
    bearer(gateway.acme.assistantKey),
    { ...bearer(gateway.acme.assistantKey), 'x-user-token': await other.sign(privateKey) },
    bearer(gateway.acme.adminKey),
  ];
  const rounds = Math.ceil(500 / asks.length);
  for (let round = 0; round < rounds; round += 1) expect(await shown(readers[round % 3] ?? {})).toBe(0);
});

test('hostile arguments are refused, and none holds up the process until the time limit of this test', async () => {
  const hostile: [string, object][] = [
    ['find_in_pages', { pattern: '((a{1000}){1000}){1000}', regex: true }],
    ['find_in_pages', { pattern: '(a+)+$(?=b)', regex: true }],
    ['find_in_pages', { pattern: 'a'.repeat(1_000_000), regex: true }],
    ['search', { query: 'word '.repeat(200_000) }],
    ['read_page', { paths: [`${'../'.repeat(100_000)}etc/passwd`] }],
    ['read_page', { paths: Array.from({ length: 15_000 }, () => 'x') }],
    ['list_pages', { under: '../..', depth: -1 }],
    ['submit_feedback', { message: 'x'.repeat(1_000_000) }],
  ];
  for (const [name, args] of hostile) expect([name, (await call(name, args)).isError]).toEqual([name, true]);
});

describe('who may ask', () => {
  test('nobody without a key, unless the site is public', async () => {
    expect((await send(initialize, {})).json().code).toBe('missing_key');
    await openTestSite(gateway, gateway.acme, { assistant: false });
    expect((await send(initialize, {})).json().code).toBe('missing_key');
    const password = { users: [{ name: 'ada', password: 'a long password of tests' }], kind: 'password' };
    await openTestSite(gateway, gateway.acme, { assistant: true, login: password });
    expect((await send(initialize, {})).json().code).toBe('missing_key');
    await openTestSite(gateway, gateway.acme, { assistant: true, login: { kind: 'none' } });
    expect((await send(initialize, {})).statusCode).toBe(200);
    expect((await send(initialize, {}, '/discovery/v1/mcp/acme.localhost')).statusCode).toBe(200);
    expect((await send(initialize, bearer('svc_nonsense'))).json().code).toBe('invalid_key');
    expect((await call('search', { query: 'rotate' }, {})).isError).toBeUndefined();
  });

  test('without a key, only pages of the site itself and of the own machine', async () => {
    const from = async (origin: string, key = {}) =>
      (await send(initialize, { origin, host: new URL(origin).host, ...key })).statusCode;
    expect(await from('https://evil.example')).toBe(403);
    expect(await from('http://gateway.internal:8080')).toBe(403);
    expect(await from('null:')).toBe(403);
    expect(await from('http://acme.localhost:8090')).toBe(200);
    expect(await from('http://localhost:6274')).toBe(200);
    expect(await from('https://evil.example', bearer(gateway.acme.assistantKey))).toBe(200);
  });

  test('a host of sites, for their readers', async () => {
    const url = '/v1/sites/readers/acme/docs/mcp';
    expect(
      (await call('list_pages', {}, { ...bearer(siteKey), 'x-reader-address': '203.0.113.9' }, url)).structuredContent,
    ).toMatchObject({ totalPages: 2 });
  });
});

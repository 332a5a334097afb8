import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  operatorToken,
  type TestOrganization,
} from '../support/gateway-harness.ts';
import { assistantBehind } from './assistant-harness.ts';

// These tests send invalid questions through the gateway to the real assistant.

let gateway: GatewayHarness;
let acme: TestOrganization;
let other: TestOrganization;
beforeAll(async () => {
  gateway = await gatewayHarness({}, assistantBehind());
  acme = await createOrganization(gateway);
  other = await createOrganization(gateway, 'Other');
  await gateway.app.inject({
    method: 'POST',
    url: `/v1/organizations/${acme.id}/domains`,
    headers: bearer(operatorToken),
    payload: { domain: 'empty' },
  });
});
afterAll(() => gateway.close());

const question = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'How do I rotate an API key?' }] };
const good = { fp: 'reader-1', messages: [question] };

async function ask(payload: object | string, { domain = 'docs', key = acme.assistantKey, version = 2 } = {}) {
  const response = await gateway.app.inject({
    method: 'POST',
    url: `/discovery/v${version}/assistant/${domain}/message`,
    headers: { ...bearer(key), 'content-type': 'application/json' },
    payload,
  });
  const isJson = String(response.headers['content-type']).startsWith('application/json');
  return { status: response.statusCode, headers: response.headers, body: isJson ? response.json() : response.body };
}

const roleOf = (role: string) => ({ messages: [question, { ...question, role }] });

test.each<[string, object]>([
  ['fp', { messages: [question] }],
  ['messages', { fp: 'x' }],
  ['messages', { fp: 'x', messages: [] }],
  ['messages', { fp: 'x', ...roleOf('assistant') }],
  ['messages.1.role', { fp: 'x', ...roleOf('tool') }],
  ['currentPath', { ...good, currentPath: 'x'.repeat(201) }],
  ['retrievalPageSize', { ...good, retrievalPageSize: 0 }],
  ['retrievalPageSize', { ...good, retrievalPageSize: 51 }],
  ['retrievalPageSize', { ...good, retrievalPageSize: 2.5 }],
])('a wrong %s is a 400 that names it, in both versions', async (path, body) => {
  for (const version of [1, 2]) {
    const answer = await ask(body, { version });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 'invalid_request', error: expect.stringContaining(path) });
    expect(answer.body.fields.map((field: { path: string }) => field.path)).toContain(path);
  }
});

test('a body of 1 MiB is read, one byte more is a 413', async () => {
  const sized = (bytes: number) => {
    const start = JSON.stringify({ ...good, more: '' }).slice(0, -2);
    return `${start}${'x'.repeat(bytes - start.length - 2)}"}`;
  };
  expect((await ask(sized(1024 * 1024))).status).toBe(200);
  const refused = await ask(sized(1024 * 1024 + 1));
  expect([refused.status, refused.body.code]).toEqual([413, 'too_large']);
});

test('a body that is no JSON is a 400', async () => {
  expect(await ask('{')).toMatchObject({ status: 400, body: { code: 'invalid_json' } });
});

test('an unknown domain is a 404, and one without content says so', async () => {
  expect(await ask(good, { domain: 'nowhere' })).toMatchObject({ status: 404, body: { code: 'not_found' } });
  expect(await ask(good, { domain: 'empty' })).toMatchObject({
    status: 200,
    body: expect.stringContaining('Nothing has been published'),
  });
});

test('a thread is unknown to another reader, domain and organization', async () => {
  const { threadId } = await begin();
  for (const [body, at] of [
    [{ fp: 'reader-2' }, {}],
    [{}, { domain: 'empty' }],
    [{}, { key: other.assistantKey }],
  ] as const) {
    expect(await ask({ ...good, threadId, ...body }, at)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  }
});

test('a thread continues with its key in the body, and not with a wrong one', async () => {
  const { threadId, threadKey } = await begin();
  for (const version of [1, 2]) {
    expect((await ask({ ...good, threadId, threadKey }, { version })).status).toBe(200);
    expect(await ask({ ...good, threadId, threadKey: 'tk_wrong' }, { version })).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
  }
});

test('an organization reads its threads and erases them, and no other does', async () => {
  const { threadId } = await begin();
  const at = (method: 'GET' | 'DELETE', key: string, id = threadId, domain = 'docs') =>
    gateway.app.inject({ method, url: `/v1/assistant/${domain}/threads/${id}`, headers: bearer(key) });
  expect((await at('GET', acme.adminKey)).json()).toMatchObject({
    threadId,
    messages: [
      {
        question: 'How do I rotate an API key?',
        answer: expect.stringContaining('Rotate'),
        sources: [{ url: '/guides/keys#rotate-a-key', title: 'API keys › Rotate a key' }],
        status: 'answered',
      },
    ],
  });
  for (const method of ['GET', 'DELETE'] as const) {
    expect((await at(method, acme.assistantKey)).statusCode).toBe(403);
    expect((await at(method, other.adminKey)).statusCode).toBe(404);
    expect((await at(method, acme.adminKey, threadId, 'empty')).statusCode).toBe(404);
    expect((await at(method, acme.adminKey, '*')).statusCode).toBe(404);
  }
  expect((await at('DELETE', acme.adminKey)).statusCode).toBe(204);
  expect((await at('GET', acme.adminKey)).statusCode).toBe(404);
  expect((await at('DELETE', acme.adminKey)).statusCode).toBe(404);
  expect((await ask({ ...good, threadId })).status).toBe(404);
  expect(await gateway.bus.threads.texts(`threads.acme.docs.${threadId}`)).toEqual([]);
});

async function begin() {
  const { headers } = await ask(good);
  return { threadId: String(headers['x-thread-id']), threadKey: String(headers['x-thread-key']) };
}

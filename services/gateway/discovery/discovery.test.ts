import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ApiError } from '#shared/http/errors.ts';
import { callerHeader, callerSchema } from '#shared/interfaces/internal/caller.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  type TestOrganization,
} from '../../../test/support/gateway-harness.ts';

let assistant: FastifyInstance;
let answer: (request: FastifyRequest, reply: FastifyReply) => unknown;
let gateway: GatewayHarness;
let acme: TestOrganization;
let url: string;

beforeEach(async () => {
  assistant = Fastify();
  assistant.removeAllContentTypeParsers();
  assistant.addContentTypeParser('*', { parseAs: 'string' }, async (_request: FastifyRequest, body: string) => body);
  assistant.post('/internal/*', (request, reply) => answer(request, reply));
  const assistantUrl = await assistant.listen({ host: '127.0.0.1', port: 0 });
  gateway = await gatewayHarness({
    BINDERY_ASSISTANT_URL: assistantUrl,
    BINDERY_LIMIT_ASSISTANT_PER_HOUR: '5',
    BINDERY_TRUST_PROXY: '127.0.0.1',
  });
  acme = await createOrganization(gateway);
  url = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
});

afterEach(async () => {
  await gateway.close();
  await assistant.close();
});

const callerIn = (request: FastifyRequest) => callerSchema.parse(JSON.parse(String(request.headers[callerHeader])));

const body = '{ "fp": "anonymous",  "messages": [] }';
const ask = (
  headers: Record<string, string> = {},
  init: RequestInit = {},
  path = '/discovery/v2/assistant/docs.acme.test/message',
) =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: { ...bearer(acme.assistantKey), 'content-type': 'application/json', ...headers },
    body,
    ...init,
  });

test('a message goes through as it came, with who asks, and the stream comes back with its headers', async () => {
  let seen: { url: string; body: unknown; headers: Record<string, unknown>; caller: unknown } | undefined;
  answer = (request, reply) => {
    seen = { url: request.url, body: request.body, headers: request.headers, caller: callerIn(request) };
    return reply
      .headers({
        'content-type': 'text/event-stream',
        'cache-control': 'no-cache',
        'x-accel-buffering': 'no',
        'x-vercel-ai-ui-message-stream': 'v1',
        'x-thread-id': 't1',
        'x-thread-key': 'k1',
        'x-of-our-own': 'stays inside',
      })
      .send('data: [DONE]\n\n');
  };
  const response = await ask({
    'x-thread-key': 'k0',
    'x-stream-finish': 'metadata',
    origin: 'https://docs.acme.test',
    'x-forwarded-for': '203.0.113.9',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  });
  expect(await response.text()).toBe('data: [DONE]\n\n');
  expect(seen).toMatchObject({
    url: '/internal/message',
    body,
    headers: { 'x-bindery-client': 'ui', 'x-thread-key': 'k0' },
    caller: {
      organization: acme.id,
      organizationPlan: 'enterprise',
      domain: 'docs',
      groupTrust: 'claimed',
      trustedGroups: 'named',
      actor: { kind: 'key' },
      address: '203.0.113.9',
      requestId: response.headers.get('x-request-id'),
      // This test exports no spans, so the client's own trace is passed on.
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    },
  });
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'text/event-stream',
    'x-vercel-ai-ui-message-stream': 'v1',
    'x-thread-id': 't1',
    'x-thread-key': 'k1',
    'x-accel-buffering': 'no',
    'access-control-allow-origin': '*',
    'access-control-expose-headers': expect.stringContaining('x-thread-id'),
    'ratelimit-policy': '"assistant-address";q=10000;w=86400, "assistant";q=5;w=3600',
  });
  expect(response.headers.get('x-of-our-own')).toBeNull();
  expect(JSON.stringify(seen)).not.toContain(acme.assistantKey);
});

test('every part arrives as it is sent', async () => {
  const proceed = Promise.withResolvers<void>();
  answer = async (_request, reply) => {
    reply.hijack();
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream' });
    reply.raw.write('data: one\n\n');
    await proceed.promise;
    reply.raw.end('data: two\n\n');
  };
  const reader = (await ask()).body!.getReader();
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe('data: one\n\n');
  proceed.resolve();
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe('data: two\n\n');
  expect((await reader.read()).done).toBe(true);
});

test('a client that goes away stops the assistant, before and during the answer', async () => {
  for (const writesFirst of [false, true]) {
    const asked = Promise.withResolvers<void>();
    const stopped = Promise.withResolvers<void>();
    answer = async (_request, reply) => {
      reply.hijack();
      reply.raw.once('close', stopped.resolve);
      if (writesFirst) {
        reply.raw.writeHead(200, { 'content-type': 'text/event-stream' });
        reply.raw.write('data: one\n\n');
      }
      asked.resolve();
    };
    const controller = new AbortController();
    const response = ask({}, { signal: controller.signal });
    await asked.promise;
    if (writesFirst) await (await response).body!.getReader().read();
    controller.abort();
    await response.catch(() => {});
    await expect(stopped.promise).resolves.toBeUndefined();
  }
});

test('errors of the assistant keep their sentence and fields, others become internal', async () => {
  answer = (_request, reply) => {
    const error = new ApiError('invalid_request', 'The field "fp" is wrong.', {
      fields: [{ path: 'fp', message: 'is' }],
    });
    return reply.code(error.status).send(error.toBody('inside'));
  };
  const wrong = await ask();
  expect([wrong.status, await wrong.json()]).toEqual([
    400,
    {
      error: 'The field "fp" is wrong.',
      code: 'invalid_request',
      requestId: wrong.headers.get('x-request-id'),
      fields: [{ path: 'fp', message: 'is' }],
    },
  ]);
  expect(wrong.headers.get('access-control-allow-origin')).toBe('*');
  answer = (_request, reply) => reply.code(500).send('<h1>stack trace</h1>');
  const broken = await ask();
  expect([broken.status, ((await broken.json()) as { code: string }).code]).toEqual([500, 'internal']);
  answer = (_request, reply) => reply.code(401).send({ error: 'x', code: 'invalid_key', requestId: 'x' });
  expect((await ask()).status).toBe(500);
});

test('only an admin key gets an explanation of scores', async () => {
  const seen: unknown[] = [];
  answer = (request) => {
    seen.push(request.body);
    return [];
  };
  const search = async (key: string, body: string) => {
    const init = { body, headers: { ...bearer(key), 'content-type': 'application/json' } };
    const answered = await ask({}, init, '/discovery/v1/search/docs');
    return [answered.status, ((await answered.json()) as { code?: string; error?: string }).error];
  };
  const explain = '{"query":"x","explain":true}';
  expect(await search(acme.assistantKey, explain)).toEqual([
    403,
    expect.stringContaining('"explain" needs an admin key'),
  ]);
  expect(await search(acme.adminKey, explain)).toEqual([200, undefined]);
  expect(await search(acme.assistantKey, '{"query":"x","explain":false}')).toEqual([200, undefined]);
  expect(seen).toEqual([explain, '{"query":"x","explain":false}']);
});

test('search, pages, feedback and the first version go their ways', async () => {
  const seen: string[] = [];
  answer = (request) => {
    seen.push(request.url);
    return [];
  };
  await ask({}, {}, '/discovery/v1/search/docs');
  await ask({}, {}, '/discovery/v1/page/docs');
  await ask({}, {}, '/discovery/v1/feedback/docs');
  await ask({}, {}, '/discovery/v1/assistant/docs/message');
  expect(seen).toEqual(['/internal/search', '/internal/page', '/internal/feedback', '/internal/v1/message']);
});

test.each([
  ['POST', '/discovery/v2/assistant/docs/message'],
  ['POST', '/discovery/v1/search/docs'],
  // A resuming chat requests this before it shows anything.
  ['GET', '/discovery/v2/assistant/docs/message/chat-1/stream'],
])('the preflight of %s %s needs no key and reflects what browsers ask for', async (method, path) => {
  const response = await fetch(`${url}${path}`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://docs.acme.test',
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization, content-type, user-agent',
    },
  });
  expect(response.status).toBe(204);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'access-control-allow-origin': '*',
    'access-control-allow-headers': 'authorization, content-type, user-agent',
    'access-control-allow-methods': expect.stringContaining(method),
    'access-control-max-age': '86400',
  });
  expect(response.headers.get('access-control-allow-credentials')).toBeNull();
});

test('a key with allowed origins serves just these', async () => {
  answer = () => [];
  const created = await fetch(`${url}/v1/api-keys`, {
    method: 'POST',
    headers: { ...bearer(acme.adminKey), 'content-type': 'application/json' },
    body: JSON.stringify({ kind: 'assistant', allowedOrigins: ['https://docs.acme.test:8443'] }),
  });
  const { key } = (await created.json()) as { key: string };
  const origin = async (value: string) => await ask({ ...bearer(key), origin: value });
  const good = await origin('https://docs.acme.test:8443');
  expect([good.status, good.headers.get('access-control-allow-origin'), good.headers.get('vary')]).toEqual([
    200,
    'https://docs.acme.test:8443',
    'Origin',
  ]);
  for (const other of ['https://docs.acme.test', 'http://docs.acme.test:8443', 'null']) {
    const refused = await origin(other);
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([403, null]);
  }
});

test('the limit of an organization holds, and says how long to wait', async () => {
  answer = () => [];
  const statuses: number[] = [];
  for (let count = 0; count < 6; count += 1) statuses.push((await ask()).status);
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  const refused = await ask();
  expect(refused.headers.get('retry-after')).toMatch(/^[0-9]+$/);
  expect(await refused.json()).toMatchObject({ code: 'rate_limited' });
});

test.each(['v1', 'v2'] as const)(
  'an answer of %s that the assistant breaks off ends with an error, as its clients expect',
  async (version) => {
    answer = (_request, reply) => {
      reply.hijack();
      reply.raw.writeHead(200, { 'content-type': 'text/event-stream', 'x-thread-id': 'th_1' });
      // The stream breaks off within an event, as when the process is killed.
      reply.raw.write(version === 'v2' ? 'data: {"type":"text-del' : '0:"Half an', () => reply.raw.destroy());
    };
    const text = await (await ask({}, {}, `/discovery/${version}/assistant/docs.acme.test/message`)).text();
    const lines = text.split('\n').filter((line) => line !== '');
    const sentence = 'The answer could not be finished. Ask again in a moment.';
    const expected = {
      v1: ['0:"Half an', `3:"${sentence}"`, /^2:/, /^8:/, /^d:\{"finishReason":"error".*"threadId":"th_1"\}$/],
      v2: [
        'data: {"type":"text-del',
        `data: {"type":"error","errorText":"${sentence}"}`,
        /^data: \{"type":"finish","threadId":"th_1","finishReason":"error"/,
        'data: [DONE]',
      ],
    }[version];
    expect(lines).toEqual(expected.map((line) => (typeof line === 'string' ? line : expect.stringMatching(line))));
  },
);

import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AssistantHarness, deltas, page, readEvents, startAssistantHarness, usage } from './assistant-harness.ts';

let harness: AssistantHarness;
beforeAll(async () => {
  harness = await startAssistantHarness();
});
afterAll(() => harness.close());

const question = (text: string) => ({ id: 'm1', role: 'user', parts: [{ type: 'text', text }] });

const ask = (body: object, headers: Record<string, string> = {}, caller = {}) =>
  fetch(`${harness.url}/internal/message`, {
    method: 'POST',
    headers: harness.headers({ 'x-bindery-client': 'plain', ...headers }, caller),
    body: JSON.stringify({ fp: 'reader-1', ...body }),
  });

test('a line reader sees the whole answer, its sources, and threadId on the last event', async () => {
  const response = await ask({ messages: [question('How do I rotate an API key?')] });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
  const { events, done } = await readEvents(response);
  const threadId = response.headers.get('x-thread-id');
  expect(done).toBe(true);
  expect(events.map((event) => event.type).filter((type) => type !== 'text-delta')).toEqual([
    'start',
    'start-step',
    'text-start',
    'text-end',
    'source-url',
    'finish-step',
    'finish',
  ]);
  expect(events[0]).toEqual({
    type: 'start',
    messageId: expect.stringMatching(/^msg_/),
    messageMetadata: { threadId },
  });
  expect(deltas(events)).toContain('press "Rotate"');
  expect(events.at(-1)).toEqual({
    type: 'finish',
    threadId,
    finishReason: 'stop',
    messageMetadata: { threadId, finishReason: 'stop' },
  });
});

/** A model that links these passages of its prompt, by position, and then suggests further reading. */
function linkingModel(links: readonly number[], seeAlso: number): LanguageModelV4 {
  async function* parts(prompt: string): AsyncGenerator<LanguageModelV4StreamPart> {
    const urls = [...prompt.matchAll(/<passage url="([^"]*)"/g)].map(([, url]) => url ?? '');
    yield { type: 'stream-start', warnings: [] };
    yield { type: 'text-start', id: '1' };
    for (const link of links) yield { type: 'text-delta', id: '1', delta: `See [it](${urls[link]}). ` };
    yield { type: 'text-delta', id: '1', delta: `\n\nSee also [that](${urls[seeAlso]}).` };
    yield { type: 'text-end', id: '1' };
    yield { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage };
  }
  return {
    specificationVersion: 'v4',
    provider: 'test',
    modelId: 'linking',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('this model only streams')),
    doStream: async ({ prompt }) => {
      const last = prompt.at(-1)?.content;
      const text = Array.isArray(last) ? last.map((part) => (part.type === 'text' ? part.text : '')).join('') : '';
      return { stream: ReadableStream.from(parts(text)) };
    },
  };
}

test('sources are in the order of the answer, without pages for further reading', async () => {
  const about = 'Rotate an API key once a year.';
  const morePages = ['one', 'two', 'three'].map((path) => page(path, path, '', '', about));
  const other = await startAssistantHarness(linkingModel([2, 0], 1), undefined, { morePages });
  try {
    const response = await fetch(`${other.url}/internal/message`, {
      method: 'POST',
      headers: other.headers({ 'x-bindery-client': 'plain' }),
      body: JSON.stringify({ fp: 'reader-1', messages: [question('How do I rotate an API key once a year?')] }),
    });
    const { events } = await readEvents(response);
    const linked = [...deltas(events).matchAll(/\[it\]\(([^)]*)\)/g)].map(([, url]) => url);
    expect(new Set(linked).size).toBe(2);
    expect(events.filter(({ type }) => type === 'source-url').map(({ url }) => url)).toEqual(linked);
  } finally {
    await other.close();
  }
});

test('a refusal has no sources, even if it names the nearest pages', async () => {
  const text = 'Which export of whales needs a licence, a harbour and a lighthouse?';
  const { events } = await readEvents(await ask({ messages: [question(text)] }));
  expect(deltas(events)).toMatch(/^This is not in the documentation\..*\(\/guides\/export#start-a-job\)/s);
  expect(events.some(({ type }) => type === 'source-url')).toBe(false);
});

test('a greeting gets an invitation to ask, and no page', async () => {
  const { events } = await readEvents(await ask({ messages: [question('Hello, thank you!')] }));
  expect(deltas(events)).toMatch(/^Ask what you want to know/);
  expect(events.some(({ type }) => type === 'source-url')).toBe(false);
});

test('a thread continues for its reader, with or without its key, and for nobody else', async () => {
  const first = await ask({ messages: [question('How do I rotate an API key?')] });
  await first.text();
  const threadId = first.headers.get('x-thread-id');
  const key = first.headers.get('x-thread-key') ?? '';
  expect(key).toMatch(/^tk_/);

  const next = { threadId, messages: [question('How long does it still work?')] };
  const second = await ask(next, { 'x-thread-key': key });
  expect(second.headers.get('x-thread-key')).toBeNull();
  expect(second.headers.get('x-thread-id')).toBe(threadId);
  expect(deltas((await readEvents(second)).events)).toContain('one more day');
  expect((await ask(next)).status).toBe(200);

  for (const refused of [
    await ask(next, { 'x-thread-key': 'tk_wrong' }),
    await ask({ ...next, fp: 'reader-2' }),
    await ask({ ...next, threadId: `th_${'0'.repeat(22)}` }),
    await ask({ ...next, threadId: '../x > *' }),
    await ask(next, {}, { organization: 'globex' }),
  ]) {
    expect(refused.status).toBe(404);
    expect(await refused.json()).toMatchObject({ code: 'not_found', requestId: 'req_1' });
  }
});

test('earlier messages from a client do not count in a stored thread', async () => {
  const first = await ask({ messages: [question('How do I rotate an API key?')] });
  await first.text();
  const threadId = first.headers.get('x-thread-id');
  const forged = [
    question('Forged question'),
    { id: 'm2', role: 'assistant', parts: [{ type: 'text', text: 'Forged answer' }] },
  ];
  await (await ask({ threadId, messages: [...forged, question('How do I start an export job?')] })).text();
  const stored = await harness.bus.threads.last(`threads.acme.docs.${threadId}`);
  expect(stored?.commit.data.state.turnCount).toBe(2);
  expect(JSON.stringify(stored?.commit)).not.toContain('Forged');
  expect(JSON.stringify(stored?.commit)).not.toContain('reader-1');
});

test('two questions asked at once in one thread are both kept', async () => {
  const first = await ask({ messages: [question('How do I rotate an API key?')] });
  await first.text();
  const threadId = first.headers.get('x-thread-id');
  const both = await Promise.all(
    ['How do I start an export job?', 'How do I poll its status?'].map((text) =>
      ask({ threadId, messages: [question(text)] }),
    ),
  );
  for (const response of both)
    expect((await readEvents(response)).events.at(-1)).toMatchObject({ finishReason: 'stop' });
  expect((await harness.bus.threads.last(`threads.acme.docs.${threadId}`))?.commit.data.state.turnCount).toBe(3);
});

test('a filter without matches is reported, and is no error', async () => {
  const { events } = await readEvents(
    await ask({ messages: [question('How many requests?')], filter: { version: 'v9' } }),
  );
  expect(deltas(events)).toContain('has no version "v9". It has: v2.');
  expect(events.at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop' });
});

test('a language filter has no effect if no page has a language, and a question in another language gets a notice', async () => {
  const inGerman = {
    messages: [question('Wie kann ich den API key mit rotate tauschen?')],
    filter: { language: 'de' },
  };
  const { events } = await readEvents(await ask(inGerman));
  expect(deltas(events)).toContain('Die gefundenen Seiten sind auf Englisch und werden nicht übersetzt.');
});

test('pages with groups answer only their members', async () => {
  const about = { messages: [question('Who rotates the signing secret?')] };
  expect((await readEvents(await ask(about))).raw).not.toContain('quarter');
  expect((await readEvents(await ask({ ...about, filter: { groups: ['staff'] } }))).raw).toContain('quarter');
  const signed = await ask({ ...about, filter: { groups: ['staff'] } }, {}, { trustedGroups: [] });
  expect((await readEvents(signed)).raw).not.toContain('quarter');
});

test('a domain without content says so', async () => {
  const { events } = await readEvents(await ask({ messages: [question('Hello?')] }, {}, { domain: 'empty' }));
  expect(deltas(events)).toContain('Nothing has been published');
});

test('a domain whose index is gone says that it is being rebuilt, not that it is empty', async () => {
  const contentVersion = `cv_${'1'.repeat(32)}`;
  const now = new Date().toISOString();
  await harness.bus.readModels.directoryContents.put('acme.lost', {
    revision: 1,
    commitId: 'c1',
    updatedAt: now,
    state: {
      organization: 'acme',
      domain: 'lost',
      versions: [{ contentVersion, publishedAt: now, pageCount: 1, indexed: true }],
      labels: {},
      latest: contentVersion,
      searched: contentVersion,
    },
  });
  const { events } = await readEvents(await ask({ messages: [question('What is a key?')] }, {}, { domain: 'lost' }));
  expect(deltas(events)).toContain('is being rebuilt');
  for (const [path, body] of [
    ['search', { query: 'key' }],
    ['page', { path: 'guides/keys' }],
  ] as const) {
    const response = await fetch(`${harness.url}/internal/${path}`, {
      method: 'POST',
      headers: harness.headers({}, { domain: 'lost' }),
      body: JSON.stringify(body),
    });
    expect([path, response.status]).toEqual([path, 503]);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await response.json()).toMatchObject({ code: 'unavailable', error: expect.stringContaining('rebuilt') });
  }
});

test.each([
  ['fp', { fp: '', messages: [question('x')] }],
  ['fp', { fp: 'x'.repeat(201), messages: [question('x')] }],
  ['messages', { messages: [] }],
  ['messages', { messages: Array.from({ length: 201 }, () => question('x')) }],
  ['messages', { messages: [question('x'), { id: 'm2', role: 'assistant', parts: [] }] }],
  ['messages.0', { messages: [{ id: 'm1', role: 'user', parts: [{ type: 'file', mediaType: 'a/b', url: 'x' }] }] }],
  ['messages.0.role', { messages: [{ ...question('x'), role: 'tool' }] }],
  ['messages.0.parts.0.text', { messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text' }] }] }],
  ['retrievalPageSize', { messages: [question('x')], retrievalPageSize: 51 }],
  ['retrievalPageSize', { messages: [question('x')], retrievalPageSize: 1.5 }],
  ['currentPath', { messages: [question('x')], currentPath: 'x'.repeat(201) }],
  ['context.0.type', { messages: [question('x')], context: [{ type: 'image', value: 'x' }] }],
])('a wrong %s is refused by name', async (path, body) => {
  const response = await ask(body);
  expect(response.status).toBe(400);
  const answer = (await response.json()) as { code: string; fields: { path: string }[] };
  expect(answer.code).toBe('invalid_request');
  expect(answer.fields.map((field) => field.path)).toContain(path);
});

test('unknown parts and fields are accepted', async () => {
  const response = await ask({
    id: 'chat-1',
    trigger: 'submit-message',
    threadId: null,
    filter: null,
    context: null,
    messages: [
      {
        ...question('How do I rotate an API key?'),
        extra: 1,
        parts: [
          { type: 'data-x', data: {} },
          { type: 'text', text: 'rotate API key', state: 'done' },
        ],
      },
    ],
  });
  expect(response.status).toBe(200);
  await response.text();
});

test('a body that is not JSON is refused, and so is a caller without the service token', async () => {
  const broken = await fetch(`${harness.url}/internal/message`, {
    method: 'POST',
    headers: harness.headers(),
    body: '{',
  });
  expect(await broken.json()).toMatchObject({ code: 'invalid_json' });
  const stranger = await fetch(`${harness.url}/internal/message`, { method: 'POST', body: '{}' });
  expect(stranger.status).toBe(401);
});

test('when the bus is down, no question is partly stored', async () => {
  harness.bus.away = true;
  const response = await ask({ messages: [question('x')] });
  harness.bus.away = false;
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({ code: 'unavailable' });
});

test('search and page', async () => {
  const post = async (path: string, body: object, caller = {}) => {
    const response = await fetch(`${harness.url}${path}`, {
      method: 'POST',
      headers: harness.headers({}, caller),
      body: JSON.stringify(body),
    });
    return { status: response.status, body: await response.json(), notice: response.headers.get('x-search-notice') };
  };
  const found = await post('/internal/search', { query: 'rotate key', pageSize: 1 });
  expect(found.body).toMatchObject([
    {
      path: 'guides/keys',
      content: expect.stringContaining('press "Rotate"'),
      metadata: { title: 'API keys', url: '/guides/keys#rotate-a-key' },
    },
  ]);
  expect(found.notice).toBeNull();
  expect(JSON.stringify(found.body)).not.toContain('explanation');
  const explained = await post('/internal/search', { query: 'rotate key', pageSize: 1, explain: true });
  expect(explained.body).toMatchObject([
    {
      metadata: { explanation: { coverage: 1, signals: { passages: 1 }, words: [{ word: 'rotat' }, { word: 'kei' }] } },
    },
  ]);
  const german = await post('/internal/search', { query: 'Wie kann ich den API key mit rotate tauschen?' });
  expect(german).toMatchObject({ body: [{ path: 'guides/keys' }], notice: expect.stringContaining('in German, and') });
  expect((await post('/internal/search', { query: 'rotate key', scoreThreshold: 1 })).body).toEqual([]);
  expect((await post('/internal/search', { query: 'x', pageSize: 51 })).status).toBe(400);

  expect(await post('/internal/page', { path: '/guides/keys' })).toMatchObject({
    status: 200,
    body: { path: 'guides/keys', content: '# API keys\n' },
  });
  expect((await post('/internal/page', { path: 'internal/runbook' })).status).toBe(404);
  expect((await post('/internal/page', { path: 'internal/runbook', groups: ['staff'] })).status).toBe(200);
  expect(
    (await post('/internal/page', { path: 'internal/runbook', groups: ['staff'] }, { trustedGroups: [] })).status,
  ).toBe(404);
  expect((await post('/internal/page', { path: '../../secrets' })).status).toBe(404);
});

test('when the conversations of one day use up the budget, a question is refused before it is answered', async () => {
  const day = new Date().toISOString().slice(0, 10);
  await harness.bus.conversationSizes.put('acme', { days: [{ day, bytes: 1_000_000, lastSequence: 1 }] });
  const refused = await ask({ messages: [question('How do I rotate an API key?')] });
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await refused.json()).toMatchObject({
    code: 'rate_limited',
    error: expect.stringContaining('1 MB of conversations a day'),
  });
  await harness.bus.conversationSizes.remove('acme');
});

test('feedback belongs to an answer of a thread', async () => {
  const first = await ask({ messages: [question('How do I rotate an API key?')] });
  const { events } = await readEvents(first);
  const threadId = first.headers.get('x-thread-id');
  const rate = (body: object, headers = {}) =>
    fetch(`${harness.url}/internal/feedback`, {
      method: 'POST',
      headers: harness.headers(headers),
      body: JSON.stringify(body),
    });
  const { messageId } = events[0] as { messageId: string };
  expect((await rate({ threadId, messageId, rating: 'down', comment: 'Too short.' })).status).toBe(200);
  expect((await harness.bus.threads.last(`threads.acme.docs.${threadId}`))?.commit.data.events).toMatchObject([
    { type: 'AnswerRated', data: { messageId, rating: 'down', comment: 'Too short.' } },
  ]);
  expect((await rate({ threadId, messageId, rating: 'good' })).status).toBe(400);
  expect((await rate({ threadId, messageId: 'msg_other', rating: 'up' })).status).toBe(404);
  expect((await rate({ threadId, messageId, rating: 'up' }, { 'x-thread-key': 'tk_wrong' })).status).toBe(404);
});

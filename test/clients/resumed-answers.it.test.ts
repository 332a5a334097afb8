import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { generateApiKey } from '#shared/http/api-key.ts';
import { openTestSite } from '../support/agent-gateway.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  type TestOrganization,
} from '../support/gateway-harness.ts';
import { assistantBehind, deltas, readEvents, scriptedModel, usage } from './assistant-harness.ts';

/** A model whose words the test says one by one. */
function spokenModel() {
  let words: string[] = [];
  let isEnded = false;
  let wake = Promise.withResolvers<void>();
  const stopped: unknown[] = [];
  const model = scriptedModel(async function* (signal): AsyncGenerator<LanguageModelV4StreamPart> {
    yield { type: 'stream-start', warnings: [] };
    yield { type: 'text-start', id: '1' };
    signal.addEventListener('abort', () => {
      stopped.push(signal.reason);
      wake.resolve();
    });
    for (;;) {
      for (const delta of words.splice(0)) yield { type: 'text-delta', id: '1', delta };
      if (isEnded || signal.aborted) break;
      await wake.promise;
      wake = Promise.withResolvers();
    }
    yield { type: 'text-end', id: '1' };
    yield { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage };
  });
  return {
    model,
    stopped,
    say(...more: string[]) {
      words.push(...more);
      wake.resolve();
    },
    end() {
      isEnded = true;
      wake.resolve();
    },
    begin() {
      [words, isEnded] = [[], false];
      stopped.length = 0;
    },
  };
}

const siteKey = generateApiKey('site');

describe('an answer that can be resumed', () => {
  const spoken = spokenModel();
  let gateway: GatewayHarness;
  let acme: TestOrganization;
  let other: TestOrganization;
  let base: string;
  beforeAll(async () => {
    const behind = assistantBehind(spoken.model, { unreadMs: 200, resumableBytes: 200_000 });
    gateway = await gatewayHarness({ BINDERY_SITES_KEYS: siteKey, BINDERY_SITES_BASE: 'http://sites.test' }, behind);
    acme = await createOrganization(gateway);
    other = await createOrganization(gateway, 'Other');
    base = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(() => gateway.close());

  let chats = 0;
  const newChat = (): string => `AbCdEfGhIjKlMn${String((chats += 1)).padStart(4, '0')}`;
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  const ask = (id: string | undefined, headers: Record<string, string> = {}, signal?: AbortSignal, more: object = {}) =>
    fetch(`${base}/discovery/v2/assistant/docs/message`, {
      method: 'POST',
      headers: { ...bearer(acme.assistantKey), 'content-type': 'application/json', 'x-resumable': 'true', ...headers },
      body: JSON.stringify({
        ...{ fp: 'reader-1', id, messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'How?' }] }] },
        ...more,
      }),
      ...(signal && { signal }),
    });
  const streamOf = (id: string): string => `${base}/discovery/v2/assistant/docs/message/${id}/stream`;
  const resume = (id: string, headers: Record<string, string> = {}) =>
    fetch(streamOf(id), { headers: { ...bearer(acme.assistantKey), ...headers } });
  const stop = (id: string, headers: Record<string, string> = {}) =>
    fetch(streamOf(id), { method: 'DELETE', headers: { ...bearer(acme.assistantKey), ...headers } });
  const status = async (id: string, headers: Record<string, string> = {}): Promise<number> => {
    const answer = await resume(id, headers);
    await answer.body?.cancel();
    return answer.status;
  };

  /** Reads an answer until it has this text. */
  async function readUntil(response: Response, wanted: string): Promise<{ text: string; leave(): Promise<void> }> {
    const reader = response.body!.getReader();
    let text = '';
    while (!text.includes(wanted)) {
      const { value, done } = await reader.read();
      if (done) throw new Error(`the answer ended without "${wanted}": ${text}`);
      text += Buffer.from(value).toString();
    }
    return { text, leave: () => reader.cancel() };
  }
  const threadOf = async (answer: Response) =>
    (await gateway.bus.threads.last(`threads.acme.docs.${answer.headers.get('x-thread-id')}`))?.commit.data.events.at(
      -1,
    );

  test('goes on without its reader, and is whole and once for one who comes back', async () => {
    spoken.begin();
    const chat = newChat();
    const leave = new AbortController();
    const first = await ask(chat, {}, leave.signal);
    expect(first.headers.get('x-chat-id')).toBe(chat);
    spoken.say('One ', 'two ');
    const { text } = await readUntil(first, 'two ');
    expect(text).toMatch(/^id: 1\ndata: \{"type":"start"/);
    leave.abort();
    const again = await resume(chat);
    expect([again.status, again.headers.get('x-vercel-ai-ui-message-stream')]).toEqual([200, 'v1']);
    expect(again.headers.get('x-thread-id')).toBe(first.headers.get('x-thread-id'));
    // A second tab reads the same answer.
    const tab = await resume(chat);
    spoken.say('three ');
    spoken.end();
    for (const each of [await readEvents(again), await readEvents(tab)]) {
      expect([deltas(each.events), each.done]).toEqual(['One two three ', true]);
      expect(each.events[0]).toMatchObject({ type: 'start', messageId: expect.stringMatching(/^msg_/) });
      expect(each.raw.match(/^id: \d+$/gm)).toEqual(each.raw.match(/^data: /gm)?.map((_, at) => `id: ${at + 1}`));
    }
    await expect.poll(() => threadOf(first)).toMatchObject({ data: { answer: 'One two three ', aborted: false } });
    // A page that is opened later does not get it again, unless it says that it has nothing of it.
    await expect.poll(() => status(chat)).toBe(204);
    expect(deltas((await readEvents(await resume(chat, { 'last-event-id': '0' }))).events)).toBe('One two three ');
  });

  test('is read from the event after the last one that the reader has', async () => {
    spoken.begin();
    const chat = newChat();
    const first = await ask(chat);
    spoken.say('a', 'b', 'c');
    spoken.end();
    const { events } = await readEvents(first);
    for (let has = 1; has <= events.length; has += 1) {
      const rest = await readEvents(await resume(chat, { 'last-event-id': String(has) }));
      expect([rest.events, rest.done]).toEqual([events.slice(has), true]);
    }
    expect(await status(chat, { 'last-event-id': String(events.length + 1) })).toBe(204);
    expect(await status(chat, { 'last-event-id': 'x' })).toBe(400);
  });

  test('that ended while nobody read it is whole for its reader', async () => {
    spoken.begin();
    const chat = newChat();
    const leave = new AbortController();
    const first = await ask(chat, {}, leave.signal);
    spoken.say('begun ');
    await readUntil(first, 'begun');
    leave.abort();
    spoken.say('and done');
    spoken.end();
    await expect.poll(() => threadOf(first)).toMatchObject({ data: { answer: 'begun and done', aborted: false } });
    expect(deltas((await readEvents(await resume(chat))).events)).toBe('begun and done');
    await expect.poll(() => status(chat)).toBe(204);
  });

  test('ends when nobody has read it for a while, and is recorded as cut, once', async () => {
    spoken.begin();
    const chat = newChat();
    const leave = new AbortController();
    const first = await ask(chat, {}, leave.signal);
    spoken.say('half ');
    await readUntil(first, 'half');
    leave.abort();
    await expect.poll(() => threadOf(first)).toMatchObject({ data: { answer: 'half ', aborted: true } });
    expect(spoken.stopped).toHaveLength(1);
    const { events, done } = await readEvents(await resume(chat));
    expect([deltas(events), done]).toEqual(['half ', true]);
    expect(events.find(({ type }) => type === 'error')).toMatchObject({ errorText: expect.stringContaining('nobody') });
    const thread = gateway.bus.threads.history(`threads.acme.docs.${first.headers.get('x-thread-id')}`);
    const types: string[] = [];
    for await (const { commit } of thread) types.push(...commit.data.events.map(({ type }) => type));
    expect(types).toEqual(['ThreadStarted', 'QuestionAsked', 'QuestionAnswered']);
  });

  test('is stopped for all its readers, and a closed connection is no stop', async () => {
    spoken.begin();
    const chat = newChat();
    const first = await ask(chat);
    spoken.say('stop ');
    await readUntil(first, 'stop');
    const tab = await resume(chat);
    expect((await stop(chat)).status).toBe(204);
    const { events, done } = await readEvents(tab);
    expect(done).toBe(true);
    expect(events.map(({ type }) => type)).toContain('abort');
    expect(events.map(({ type }) => type)).not.toContain('error');
    await expect.poll(() => threadOf(first)).toMatchObject({ data: { answer: 'stop ', aborted: true } });
    expect(await status(chat)).toBe(204);
    expect((await stop(chat)).status).toBe(204);
  });

  test('is only for those who may read it', async () => {
    spoken.begin();
    const chat = newChat();
    const first = await ask(chat);
    spoken.say('secret ');
    await readUntil(first, 'secret');
    for (const key of [other.assistantKey, other.adminKey]) expect(await status(chat, bearer(key))).toBe(204);
    expect(await status(`${chat}x`)).toBe(204);
    expect(await status(chat, bearer('nonsense'))).toBe(401);
    for (const key of [other.assistantKey]) await stop(chat, bearer(key));
    spoken.say('kept');
    await readUntil(first, 'kept').catch(() => {});
    expect(spoken.stopped).toEqual([]);
    expect(await status(chat)).toBe(200);
    spoken.end();
  });

  test('with a guessable chat id is bound to its reader', async () => {
    spoken.begin();
    const first = await ask('chat-1');
    expect(first.headers.get('x-chat-id')).toBe('chat-1');
    spoken.say('mine ');
    await readUntil(first, 'mine');
    expect(await status('chat-1')).toBe(204);
    expect(await status('chat-1', { 'x-reader-fingerprint': 'reader-2' })).toBe(204);
    expect(await status('chat-1', { 'x-reader-fingerprint': 'reader-1' })).toBe(200);
    spoken.end();
  });

  test('of a client without a chat gets an id', async () => {
    spoken.begin();
    const first = await ask(undefined);
    spoken.say('x');
    spoken.end();
    const { events } = await readEvents(first);
    const chat = first.headers.get('x-chat-id') ?? '';
    expect(chat).toMatch(/^chat_\w{22}$/);
    expect((await readEvents(await resume(chat, { 'last-event-id': '0' }))).events).toEqual(events);
  });

  test.each(['chat 1/2', 'чат', '\u0000', '\ud83d\ude00', '\ud83d', '*', '>', 'a.b', '%2e%2e', 'é'.repeat(200)])(
    'with the odd chat id %j is resumed at the path of the header',
    async (id) => {
      spoken.begin();
      const first = await ask(id);
      spoken.say('odd');
      spoken.end();
      const { events } = await readEvents(first);
      const chat = first.headers.get('x-chat-id') ?? '';
      expect(decodeURIComponent(chat)).toBe(id.toWellFormed());
      const reader = { 'x-reader-fingerprint': 'reader-1', 'last-event-id': '0' };
      expect((await readEvents(await resume(chat, reader))).events).toEqual(events);
      expect(await status(chat, { ...reader, 'x-reader-fingerprint': 'reader-2' })).toBe(204);
    },
  );

  test.each(['', '..', 'x'.repeat(201), 'x'.repeat(500_000), 5, { a: 1 }])(
    'gets another id in place of one that no path can have (case %#)',
    async (id) => {
      spoken.begin();
      const first = await ask(id as string);
      spoken.say('odd');
      spoken.end();
      await readEvents(first);
      expect(first.headers.get('x-chat-id')).toMatch(/^chat_\w{22}$/);
    },
  );

  test('of a reader of a site is resumed and stopped through the host of the site', async () => {
    await openTestSite(gateway, acme);
    const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'How?' }] }];
    const headers = { ...bearer(siteKey), 'x-reader-address': '203.0.113.9' };
    const at = (path: string, more: RequestInit = {}, organization: string = acme.id) =>
      fetch(`${base}/v1/sites/readers/${organization}/docs/message${path}`, {
        ...more,
        headers: { ...headers, 'content-type': 'application/json', 'x-resumable': 'true' },
      });
    spoken.begin();
    const leave = new AbortController();
    const body = JSON.stringify({ fp: 'r', messages });
    let first: Response | undefined;
    const hasAsked = async (): Promise<number> =>
      (first = await at('', { method: 'POST', body, signal: leave.signal })).status;
    await expect.poll(hasAsked).toBe(200);
    const chat = first?.headers.get('x-chat-id') ?? '';
    spoken.say('for a reader ');
    await readUntil(first as Response, 'for a reader');
    leave.abort();
    expect((await at(`/${chat}/stream`, {}, other.id)).status).toBe(404);
    const again = await at(`/${chat}/stream`);
    expect(again.status).toBe(200);
    await readUntil(again, 'for a reader');
    expect((await at(`/${chat}/stream`, { method: 'DELETE' })).status).toBe(204);
    expect(spoken.stopped).toHaveLength(1);
    expect((await at(`/${chat}/stream`)).status).toBe(204);
  });

  test('is not read by a request for its headers', async () => {
    spoken.begin();
    const chat = newChat();
    const first = await ask(chat);
    spoken.say('head ');
    await readUntil(first, 'head');
    const head = await fetch(streamOf(chat), { method: 'HEAD', headers: bearer(acme.assistantKey) });
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    spoken.end();
    expect((await fetch(streamOf(`${chat}x`), { method: 'HEAD', headers: bearer(acme.assistantKey) })).status).toBe(
      204,
    );
  });

  test('that was asked for again is the newer one, while the earlier one goes on without its reader', async () => {
    spoken.begin();
    const chat = newChat();
    const leave = new AbortController();
    await readUntil(await ask(chat, {}, leave.signal), '"text-start"');
    leave.abort();
    const second = await ask(chat);
    spoken.say('again ');
    const { text } = await readUntil(second, '"text-start"');
    const messageId = /msg_\w+/.exec(text)?.[0] ?? '';
    for (let tries = 0; tries < 3; tries += 1)
      expect((await readUntil(await resume(chat), 'msg_')).text).toContain(messageId);
    spoken.end();
  });

  test('is one only if it was asked for, and ends with its connection otherwise', async () => {
    spoken.begin();
    const chat = newChat();
    const leave = new AbortController();
    const first = await ask(chat, { 'x-resumable': 'false' }, leave.signal);
    expect(first.headers.get('x-chat-id')).toBeNull();
    spoken.say('plain ');
    const { text } = await readUntil(first, 'plain');
    expect(text).not.toContain('id: 1');
    expect(await status(chat)).toBe(204);
    leave.abort();
    await expect.poll(() => threadOf(first)).toMatchObject({ data: { answer: 'plain ', aborted: true } });
  });
});

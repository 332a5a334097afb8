import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  type TestOrganization,
} from '../support/gateway-harness.ts';
import { assistantBehind } from './assistant-harness.ts';

let gateway: GatewayHarness;
let acme: TestOrganization;
let url: string;

beforeAll(async () => {
  gateway = await gatewayHarness({}, assistantBehind());
  acme = await createOrganization(gateway);
  url = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => gateway.close());

type Part = { code: string; value: unknown };

/** Reads the data stream as AI SDK 4.3.19 does: every line is a known code, a colon and JSON; empty lines are skipped. */
function readDataStream(text: string): Part[] {
  expect(text.endsWith('\n')).toBe(true);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, code = '', json = ''] = /^([0-9a-k]):(.*)$/.exec(line) ?? [];
      if (code === '') throw new Error(`The line "${line}" fails the whole message.`);
      return { code, value: JSON.parse(json) };
    });
}

const textOf = (parts: readonly Part[]): string =>
  parts.map(({ code, value }) => (code === '0' ? String(value) : '')).join('');

/** Sends a body as `useChat` of AI SDK 4.3.19 does, with `fp` and `threadId` from the `body` of the chat. */
const chat = (messages: object[], more: object = {}) =>
  fetch(`${url}/discovery/v1/assistant/docs/message`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...bearer(acme.assistantKey) },
    body: JSON.stringify({ id: 'Mw1m8hXNf6cXL3lZ', messages, fp: 'anonymous', ...more }),
  });
const question = (content: string) => ({ role: 'user', content, parts: [{ type: 'text', text: content }] });

test('a chat of AI SDK 4 has two turns in one thread through the gateway', async () => {
  const first = await chat([question('How do I rotate an API key?')]);
  expect(first.status).toBe(200);
  expect(first.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(first.headers.get('x-vercel-ai-data-stream')).toBe('v1');
  const parts = readDataStream(await first.text());
  const text = textOf(parts);
  expect(text).toContain('press "Rotate"');
  expect(parts[0]).toEqual({ code: 'f', value: { messageId: expect.stringMatching(/^msg_/) } });
  // 4.1.34 sends the same first body, and a line of sources would fail its whole message.
  expect(parts.filter(({ code }) => code === 'h')).toEqual([]);
  expect(parts.find(({ code }) => code === 'a')?.value).toMatchObject({
    result: expect.arrayContaining([expect.objectContaining({ url: '/guides/keys#rotate-a-key' })]),
  });
  const threadId = first.headers.get('x-thread-id');
  const source = { url: '/guides/keys#rotate-a-key', title: 'API keys › Rotate a key' };
  expect(parts).toContainEqual({
    code: '8',
    value: [
      { type: 'finish', threadId },
      { type: 'sources', sources: [source] },
    ],
  });
  expect(parts).toContainEqual({ code: '2', value: [{ type: 'finish', threadId }] });
  expect(parts.at(-1)).toMatchObject({ code: 'd', value: { finishReason: 'stop', threadId } });

  // The chat sends this form of the first answer back.
  const answer = {
    role: 'assistant',
    content: text,
    annotations: [{ type: 'finish', threadId }],
    parts: [
      { type: 'step-start' },
      { type: 'text', text },
      {
        type: 'source',
        source: { sourceType: 'url', id: 'source-1', url: '/guides/keys#rotate-a-key', title: 'API keys' },
      },
    ],
  };
  const turns = [question('How do I rotate an API key?'), answer, question('How long does the old one still work?')];
  const second = await chat(turns, { threadId });
  expect(second.headers.get('x-thread-id')).toBe(threadId);
  const next = readDataStream(await second.text());
  expect(textOf(next)).toContain('one more day');
  // By now the gateway knows that the client reads lines of sources.
  expect(next.filter(({ code }) => code === 'h')).toMatchObject([{ value: { sourceType: 'url', url: source.url } }]);
  const stored = await gateway.bus.threads.last(`threads.acme.docs.${threadId}`);
  expect(stored?.commit.data.state.turnCount).toBe(2);
});

test('a body that the chat of AI SDK 4 would not send is refused with its field', async () => {
  const refused = await chat([{ role: 'assistant', content: 'x', parts: [] }]);
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { code: 'invalid_request', fields: [{ path: 'messages' }] },
  ]);
});

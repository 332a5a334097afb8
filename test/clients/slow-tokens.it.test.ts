import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mistralChunk, mistralFails, mistralSays, startsStream } from '../support/start-mistral.ts';
import { deltas, readEvents } from './assistant-harness.ts';
import { type MistralGateway, startMistralGateway } from './mistral-gateway.ts';

let stand: MistralGateway;
beforeAll(async () => {
  stand = await startMistralGateway();
});
afterAll(() => stand.close());

const body = {
  fp: 'reader-1',
  messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'How do I rotate an API key?' }] }],
};
const words = ['Press ', '"Rotate" ', 'on ', 'the ', 'keys ', 'page.'];

/** A model whose answer the test writes. */
async function openAnswer(): Promise<ServerResponse> {
  const open = Promise.withResolvers<ServerResponse>();
  stand.mistral.answers((response) => {
    startsStream(response);
    open.resolve(response);
  });
  return await open.promise;
}

async function* piecesOf(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) yield decoder.decode(bytes as Uint8Array, { stream: true });
}

test.each([1, 2] as const)(
  'version %i: each word reaches the reader before the model says the next one',
  async (version) => {
    const opened = openAnswer();
    const content = { ...body.messages[0], content: 'How do I rotate an API key?' };
    const response = await stand.post({ ...body, messages: [content] }, { version });
    const model = await opened;
    const pieces = piecesOf(response);
    let raw = '';
    for (const word of words) {
      model.write(mistralChunk({ content: word }));
      const shown = JSON.stringify(word).slice(1, -1);
      while (!raw.includes(shown)) {
        const piece = await pieces.next();
        expect(piece.done).toBe(false);
        raw += String(piece.value);
      }
    }
    model.end(`${mistralChunk({ content: '' }, 'stop')}data: [DONE]\n\n`);
    for await (const piece of pieces) raw += piece;
    if (version === 1) {
      expect(raw.trimEnd().split('\n').at(-1)).toMatch(/^d:\{"finishReason":"stop"/);
      return;
    }
    const { events, done } = await readEvents(new Response(raw));
    expect([deltas(events), done]).toEqual([words.join(''), true]);
    expect(events.at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop' });
  },
);

test.each(['before the first word', 'in the middle'])(
  'when the reader disconnects %s, the call to the model is closed',
  async (when) => {
    const opened = openAnswer();
    const leave = new AbortController();
    const response = await stand.post(body, { signal: leave.signal });
    const model = await opened;
    if (when === 'in the middle') {
      model.write(mistralChunk({ content: 'Half an ' }));
      for await (const piece of piecesOf(response)) if (piece.includes('Half an ')) break;
    }
    leave.abort();
    await stand.mistral.requests[0]?.closed;
    expect(stand.mistral.requests).toHaveLength(1);
  },
);

test('when the reader disconnects before a retry, the model is not called again', async () => {
  const refused = Promise.withResolvers<void>();
  stand.mistral.answers((response, request) => {
    void once(response, 'finish').then(() => refused.resolve());
    return mistralFails(429, 'slow down', { 'retry-after': '30' })(response, request);
  });
  const leave = new AbortController();
  const response = await stand.post(body, { signal: leave.signal });
  await refused.promise;
  leave.abort();
  await expect(response.text()).rejects.toThrow('aborted');
  // The stream has ended when the thread has its empty answer.
  const threadId = response.headers.get('x-thread-id');
  const last = async () =>
    (await stand.gateway.bus.threads.last(`threads.acme.docs.${threadId}`))?.commit.data.events.at(-1);
  await expect.poll(last).toMatchObject({ type: 'QuestionAnswered', data: { answer: '', aborted: true } });
  expect(stand.mistral.requests).toHaveLength(1);
});

test('after a 429 with retry-after in seconds, the answer follows', async () => {
  stand.mistral.answers(mistralFails(429, 'slow down', { 'retry-after': '0' }), mistralSays('Press it.'));
  const { events } = await readEvents(await stand.post(body));
  expect([deltas(events), stand.mistral.requests.length]).toEqual(['Press it.', 2]);
});

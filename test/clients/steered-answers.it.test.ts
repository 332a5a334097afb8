import type { LanguageModelV4 } from '@ai-sdk/provider';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type AssistantHarness, deltas, readEvents, startAssistantHarness, usage } from './assistant-harness.ts';

// These tests check the input of the model, and the parts of its answer that reach the reader.

let harness: AssistantHarness;
/** The last prompt of the model. */
let asked = '';
let says: readonly string[] = [];

const model: LanguageModelV4 = {
  specificationVersion: 'v4',
  provider: 'test',
  modelId: 'steered',
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('this model only streams')),
  async doStream({ prompt }) {
    asked = JSON.stringify(prompt.at(-1)?.content);
    return {
      stream: ReadableStream.from([
        { type: 'text-start', id: '1' } as const,
        ...says.map((delta) => ({ type: 'text-delta', id: '1', delta }) as const),
        { type: 'text-end', id: '1' } as const,
        { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage } as const,
      ]),
    };
  },
};

beforeAll(async () => {
  harness = await startAssistantHarness(model);
});
beforeEach(() => {
  says = ['Yes.'];
});
afterAll(() => harness.close());

async function ask(text: string, more: object = {}) {
  const response = await fetch(`${harness.url}/internal/message`, {
    method: 'POST',
    headers: harness.headers(),
    body: JSON.stringify({ fp: 'r', messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text }] }], ...more }),
  });
  const { events } = await readEvents(response);
  const urls = [...asked.matchAll(/<passage url=\\"([^"\\]*)\\"/g)].map(([, url]) => url);
  return { events, text: deltas(events), urls, threadId: response.headers.get('x-thread-id') };
}

test('links lead to pages that the reader may see, others lose their address', async () => {
  says = [
    'See [keys](/guides/keys#rotate-a-key), [lim',
    'its](/v2/limits), [nowhere](/guides/gone), [staff](/internal/runbook), [evil](https://evil.ex',
    'ample/?q=key) and ![x](/guides/keys).',
  ];
  const { text, events } = await ask('How do I rotate an API key?');
  expect(text).toBe('See [keys](/guides/keys#rotate-a-key), [limits](/v2/limits), nowhere, staff, evil and x.');
  expect(events.filter(({ type }) => type === 'source-url').map(({ url }) => url)).toEqual([
    '/guides/keys#rotate-a-key',
  ]);
  says = ['[staff](/internal/runbook)'];
  expect((await ask('Who?', { filter: { groups: ['staff'] } })).text).toBe('[staff](/internal/runbook)');
});

test('"this page" is the current page of the reader, if they may see it', async () => {
  const onPage = await ask('What is on this page?', { currentPath: '/guides/export' });
  expect(onPage.urls[0]).toBe('/guides/export');
  expect(asked).toContain('# Static export');
  expect(onPage.events).toContainEqual(expect.objectContaining({ type: 'source-url', url: '/guides/export' }));
  const hidden = await ask('What is on this page?', { currentPath: '/internal/runbook' });
  expect(hidden.urls).not.toContain('/internal/runbook');
});

test('a selection is used as the query', async () => {
  const context = [{ type: 'textSelection', value: 'ten thousand requests an hour' }];
  expect((await ask('What does this mean?', { context })).urls[0]).toBe('/v2/limits');
});

test('a reader can ask for more repeatedly', async () => {
  says = ['Press [Rotate](/guides/keys#rotate-a-key).'];
  const { threadId } = await ask('How do I rotate an API key?');
  for (let count = 0; count < 3; count += 1) {
    expect((await ask('Tell me more about that', { threadId })).urls).toContain('/guides/keys#rotate-a-key');
  }
});

test('sections that were found and not used are suggested', async () => {
  says = ['Press [Rotate](/guides/keys#rotate-a-key).'];
  const { events } = await ask('Rotate an API key, or start an export job?');
  expect(events.filter(({ type }) => type === 'data-suggestions')).toEqual([
    { type: 'data-suggestions', data: ['Static export: Start a job'] },
  ]);
});

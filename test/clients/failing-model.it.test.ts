import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { afterEach, expect, test } from 'vitest';
import type { ThreadCommit } from '#shared/aggregates/thread/thread.ts';
import type { MemoryLog } from '../support/memory-log.ts';
import {
  type AssistantHarness,
  deltas,
  readEvents,
  scriptedModel,
  startAssistantHarness,
  usage,
} from './assistant-harness.ts';

let harness: AssistantHarness;
afterEach(() => harness.close());

const body = JSON.stringify({
  fp: 'reader-1',
  messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'How do I rotate an API key?' }] }],
});

async function ask(model: LanguageModelV4, headers: Record<string, string> = {}) {
  harness = await startAssistantHarness(model);
  return fetch(`${harness.url}/internal/message`, { method: 'POST', headers: harness.headers(headers), body });
}

const threadLog = () => harness.bus.threads as MemoryLog<ThreadCommit>;
const lastState = async () => threadLog().stored.at(-1)?.commit.data.events.at(-1)?.data;

test('a model that fails in the middle ends the stream with an error, finish and [DONE]', async () => {
  const response = await ask(
    scriptedModel(async function* (): AsyncIterable<LanguageModelV4StreamPart> {
      yield { type: 'stream-start', warnings: [] };
      yield { type: 'text-start', id: '1' };
      yield { type: 'text-delta', id: '1', delta: 'Half an ' };
      throw new Error('upstream secret at 10.0.0.1');
    }),
  );
  const { events, done, raw } = await readEvents(response);
  expect(done).toBe(true);
  expect(deltas(events)).toBe('Half an ');
  expect(events.filter((event) => event.type === 'error')).toEqual([
    { type: 'error', errorText: 'The answer could not be finished. Ask again in a moment.' },
  ]);
  expect(events.at(-1)).toMatchObject({ type: 'finish', finishReason: 'error' });
  expect(raw).not.toContain('secret');
  expect(await lastState()).toMatchObject({ answer: 'Half an ', aborted: true, model: 'test/scripted' });
});

test('a model that cannot be reached at all is an error in the stream too', async () => {
  const unreachable = { ...scriptedModel(async function* () {}), doStream: () => Promise.reject(new Error('refused')) };
  const { events, done } = await readEvents(await ask(unreachable));
  expect(done).toBe(true);
  expect(events.map((event) => event.type)).toContain('error');
  expect(events.at(-1)).toMatchObject({ type: 'finish', finishReason: 'error' });
});

test('the finish reason of a model is mapped to one that every client knows', async () => {
  const response = await ask(
    scriptedModel(async function* (): AsyncIterable<LanguageModelV4StreamPart> {
      yield { type: 'text-start', id: '1' };
      yield { type: 'text-delta', id: '1', delta: 'Cut' };
      yield { type: 'text-end', id: '1' };
      yield { type: 'finish', finishReason: { unified: 'unheard-of' as 'other', raw: 'unheard-of' }, usage };
    }),
  );
  expect((await readEvents(response)).events.at(-1)).toMatchObject({ finishReason: 'other' });
});

test('when the client disconnects, the model is stopped, and the text so far is kept', async () => {
  const modelStopped = Promise.withResolvers<void>();
  const recorded = Promise.withResolvers<void>();
  harness = await startAssistantHarness(
    scriptedModel(async function* (signal): AsyncIterable<LanguageModelV4StreamPart> {
      yield { type: 'text-start', id: '1' };
      yield { type: 'text-delta', id: '1', delta: 'First words' };
      await once(signal, 'abort');
      modelStopped.resolve();
      throw signal.reason;
    }),
  );
  threadLog().onAppend(({ commit }) => {
    if (commit.data.events.some(({ type }) => type === 'QuestionAnswered')) recorded.resolve();
  });
  const call = request(`${harness.url}/internal/message`, { method: 'POST', headers: harness.headers() });
  call.on('error', () => undefined);
  call.end(body);
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  let seen = '';
  for await (const chunk of response) {
    seen += String(chunk);
    if (seen.includes('First words')) break;
  }
  call.destroy();
  await modelStopped.promise;
  await recorded.promise;
  expect(await lastState()).toMatchObject({ answer: 'First words', aborted: true });
});

test('AI SDK 4 gets its data stream, with the thread in it', async () => {
  harness = await startAssistantHarness();
  const response = await fetch(`${harness.url}/internal/v1/message`, {
    method: 'POST',
    headers: harness.headers(),
    body: JSON.stringify({ fp: 'x', messages: [{ id: '1', role: 'user', content: 'How do I rotate an API key?' }] }),
  });
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(response.headers.get('x-vercel-ai-data-stream')).toBe('v1');
  const raw = await response.text();
  expect(raw.endsWith('\n')).toBe(true);
  const lines = raw
    .slice(0, -1)
    .split('\n')
    .map((line) => ({ code: line[0], value: JSON.parse(line.slice(2)) as unknown }));
  expect(lines.map(({ code }) => code).join('')).toMatch(/^f9aef0+e28d$/);
  expect(lines.at(-1)?.value).toMatchObject({ finishReason: 'stop', threadId: response.headers.get('x-thread-id') });
});

import type { ServerResponse } from 'node:http';
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { languageModelSettings, openLanguageModel } from '#services/assistant/language-model.ts';
import { loadConfig } from '#shared/runtime/config.ts';
import { type MistralAnswer, type MistralServer, startMistral } from '../support/start-mistral.ts';
import { type AssistantHarness, deltas, readEvents, startAssistantHarness } from './assistant-harness.ts';

const key = 'the-key-of-our-own-server';
const asked = 'How do I rotate an API key?';
const said = 'provider detail at 10.0.0.1';

let server: MistralServer;
let harness: AssistantHarness;
let impatient: AssistantHarness;

const opened = (baseUrl: string, more: Record<string, string> = {}) =>
  openLanguageModel(
    loadConfig(languageModelSettings, {
      BINDERY_LANGUAGE_MODEL: 'openai-compatible',
      BINDERY_OPENAI_BASE_URL: baseUrl,
      BINDERY_OPENAI_MODEL: 'qwen3:4b',
      ...more,
    }),
  );

beforeAll(async () => {
  server = await startMistral();
  const logger = pino({ level: 'silent' });
  const model = await opened(server.baseUrl, { BINDERY_OPENAI_API_KEY: key });
  harness = await startAssistantHarness(model, undefined, { logger });
  impatient = await startAssistantHarness(model, undefined, { logger, answerTimeoutMs: 300 });
});
afterAll(async () => {
  await Promise.all([harness.close(), impatient.close()]);
  await server.close();
});

const body = JSON.stringify({
  fp: 'reader-1',
  messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: asked }] }],
});

async function ask(at = harness) {
  const response = await fetch(`${at.url}/internal/message`, { method: 'POST', headers: at.headers(), body });
  const { events, raw } = await readEvents(response);
  for (const secret of [key, said]) expect(raw).not.toContain(secret);
  const errors = events.filter(({ type }) => type === 'error').map(({ errorText }) => errorText);
  const thread = await at.bus.threads.last(`threads.acme.docs.${response.headers.get('x-thread-id')}`);
  return { events, errors, text: deltas(events), stored: thread?.commit.data.events.at(-1)?.data };
}

/** One event of a stream, as all of these servers have it, with the fields that one of them adds. */
const chunk = (choice: object | undefined, more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_767_225_600, model: 'm', choices: choice === undefined ? [] : [{ index: 0, ...choice }], ...more })}\n\n`;
const streams =
  (...chunks: string[]): MistralAnswer =>
  (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const one of chunks) response.write(one);
    response.end('data: [DONE]\n\n');
  };
const fails =
  (status: number, answer: object): MistralAnswer =>
  (response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json', 'retry-after-ms': '1' })
      .end(JSON.stringify(answer));
const usage = { prompt_tokens: 200, completion_tokens: 7, total_tokens: 207 };
const text = (content: string) => ({ delta: { content }, finish_reason: null });
const stop = { delta: {}, finish_reason: 'stop' };
const link = 'see [keys](/guides/keys#rotate-a-key).';

/** Each writes "Press it, see …" in two pieces, after some reasoning if the server has a field for it. */
const dialects: Record<string, MistralAnswer> = {
  vLLM: streams(
    chunk(
      { delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null },
      { prompt_token_ids: null },
    ),
    chunk({ delta: { reasoning_content: 'Let me see.' }, logprobs: null, finish_reason: null, token_ids: null }),
    chunk(text('Press it, ')),
    chunk(text(link)),
    chunk({ ...stop, stop_reason: null, delta: { content: '' } }),
    chunk(undefined, { usage: { ...usage, prompt_tokens_details: null } }),
  ),
  Ollama: streams(
    chunk(
      { delta: { role: 'assistant', content: '', reasoning: 'Let me see.' }, finish_reason: null },
      { system_fingerprint: 'fp_ollama' },
    ),
    chunk(text('Press it, ')),
    chunk(text(link)),
    chunk({ delta: { role: 'assistant', content: '' }, finish_reason: 'stop' }, { usage: null }),
    chunk(undefined, { system_fingerprint: 'fp_ollama', usage }),
  ),
  'llama.cpp': streams(
    chunk({ delta: { role: 'assistant', content: null }, finish_reason: null }),
    chunk(text('Press it, ')),
    chunk(text(link)),
    chunk({ ...stop }, { usage, timings: { prompt_n: 20, prompt_ms: 3.1, predicted_per_second: 80.2 } }),
  ),
};

test.each(Object.entries(dialects))('an answer of %s is streamed, and its tokens count', async (_name, answer) => {
  server.answers(answer);
  const { text, errors, events, stored } = await ask();
  expect([text, errors]).toEqual([`Press it, ${link}`, []]);
  expect(events).toContainEqual(expect.objectContaining({ type: 'source-url', url: '/guides/keys#rotate-a-key' }));
  expect(stored).toMatchObject({
    answer: text,
    aborted: false,
    tokens: 207,
    model: expect.stringContaining('qwen3:4b'),
  });
  expect(server.requests[0]).toMatchObject({
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${key}` },
    body: { model: 'qwen3:4b', stream: true, temperature: 0.2, stream_options: { include_usage: true } },
  });
});

const called = (more: object) => ({
  id: 'call_1',
  type: 'function',
  function: { name: 'search', arguments: '{"query":"start an export job"}' },
  ...more,
});
test.each<[string, MistralAnswer]>([
  [
    'vLLM, in pieces',
    streams(
      chunk({
        delta: {
          tool_calls: [called({ index: 0, id: 'chatcmpl-tool-1', function: { name: 'search', arguments: '' } })],
        },
        finish_reason: null,
      }),
      chunk({
        delta: { tool_calls: [{ index: 0, function: { arguments: '{"query":"start an ' } }] },
        finish_reason: null,
      }),
      chunk({ delta: { tool_calls: [{ index: 0, function: { arguments: 'export job"}' } }] }, finish_reason: null }),
      chunk({ delta: { content: '' }, finish_reason: 'tool_calls', stop_reason: null }),
    ),
  ],
  [
    'Ollama, whole, and ended like a text',
    streams(
      chunk({ delta: { role: 'assistant', content: '', tool_calls: [called({ index: 0 })] }, finish_reason: null }),
      chunk({ delta: { role: 'assistant', content: '' }, finish_reason: 'stop' }),
    ),
  ],
])('tool calls of %s are made', async (_name, calls) => {
  server.answers(calls, dialects['vLLM'] as MistralAnswer);
  const { text, errors, events } = await ask();
  expect([text, errors]).toEqual([`Press it, ${link}`, []]);
  expect(events.filter(({ type }) => type === 'tool-output-available')).toHaveLength(1);
  const told = JSON.stringify(server.requests[1]?.body.messages.filter(({ role }) => role === 'tool'));
  expect(told).toContain('Start an export job with a POST request');
});

test.each<[string, object | null | undefined]>([
  ['missing', undefined],
  ['null', null],
  ['zero', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }],
  ['negative', { prompt_tokens: -5, completion_tokens: 1e300 }],
  [
    'without a sum, with details',
    { prompt_tokens: 12, completion_tokens: 3, completion_tokens_details: { reasoning_tokens: 1 } },
  ],
])('an answer with usage that is %s is whole', async (_name, odd) => {
  server.answers(streams(chunk(text('Press it.')), chunk(stop, odd === undefined ? {} : { usage: odd })));
  const { text: answered, errors, stored } = await ask();
  expect([answered, errors]).toEqual(['Press it.', []]);
  const { tokens } = stored as { tokens: number };
  expect(Number.isSafeInteger(tokens) && tokens >= 0 && tokens < 100_000).toBe(true);
});

const refused =
  'The language model refused the request, so the assistant may be set up wrong. Tell the people who run this site.';
const failed = 'The answer could not be finished. Ask again in a moment.';
test.each<[string, MistralAnswer, string, number]>([
  [
    'vLLM: a context that is too long',
    fails(400, { object: 'error', message: said, type: 'BadRequestError', code: 400 }),
    refused,
    1,
  ],
  [
    'Ollama: no such model',
    fails(404, { error: { message: said, type: 'not_found_error', param: null, code: null } }),
    refused,
    1,
  ],
  [
    'llama.cpp: the model is loading',
    fails(503, { error: { code: 503, message: said, type: 'unavailable_error' } }),
    failed,
    3,
  ],
  [
    'an error in the stream',
    streams(
      chunk(text('Press')),
      `data: ${JSON.stringify({ error: { message: said, type: 'InternalServerError', code: 500 } })}\n\n`,
    ),
    failed,
    1,
  ],
])('a failure becomes a sentence: %s', async (_name, answer, sentence, attempts) => {
  server.answers(answer);
  const { errors, stored } = await ask();
  expect(errors).toEqual([sentence]);
  expect(server.requests).toHaveLength(attempts);
  expect(stored).toMatchObject({ question: asked, aborted: true });
});

test.each<[string, MistralAnswer]>([
  ['before its first byte', () => {}],
  [
    'in the middle',
    (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk(text('Press')));
    },
  ],
])('a model that hangs %s is cut, and its connection is closed', async (_name, answer) => {
  server.answers(answer);
  const { errors, stored } = await ask(impatient);
  expect(errors).toEqual(['The answer took too long and was cut. Ask again, or ask about less at once.']);
  expect(stored).toMatchObject({ aborted: true });
  await server.requests[0]?.closed;
});

test('a server without a key gets none, and a missing setting is named', async () => {
  const model = await opened(server.baseUrl);
  server.answers(dialects['Ollama'] as MistralAnswer);
  const { stream } = await model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }] });
  for await (const _part of stream);
  expect(server.requests[0]?.headers.authorization).toBeUndefined();
  const env = { BINDERY_LANGUAGE_MODEL: 'openai-compatible', BINDERY_OPENAI_MODEL: 'm' };
  await expect(openLanguageModel(loadConfig(languageModelSettings, env))).rejects.toThrow(
    /BINDERY_OPENAI_BASE_URL is not set/,
  );
});

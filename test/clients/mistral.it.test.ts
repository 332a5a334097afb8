import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { languageModelSettings, openLanguageModel } from '#services/assistant/language-model.ts';
import { loadConfig } from '#shared/runtime/config.ts';
import {
  type MistralAnswer,
  mistralCalls,
  mistralChunk,
  mistralFails,
  mistralSays,
  type MistralServer,
  startMistral,
  startsStream,
} from '../support/start-mistral.ts';
import { type AssistantHarness, deltas, readEvents, startAssistantHarness } from './assistant-harness.ts';

const key = 'the-key-of-mistral-in-tests';
const asked = 'How do I rotate an API key of zyxomma?';
const said = 'provider detail at 10.0.0.1';

let mistral: MistralServer;
let harness: AssistantHarness;
let impatient: AssistantHarness;
let logged = '';

beforeAll(async () => {
  mistral = await startMistral();
  const model = await openLanguageModel(
    loadConfig(languageModelSettings, {
      BINDERY_LANGUAGE_MODEL: 'mistral',
      BINDERY_MISTRAL_API_KEY: key,
      BINDERY_MISTRAL_BASE_URL: mistral.baseUrl,
      BINDERY_MISTRAL_MODEL: 'our-model',
      BINDERY_MISTRAL_TEMPERATURE: '0.7',
    }),
  );
  const logger = pino({ level: 'info' }, { write: (line: string) => void (logged += line) });
  harness = await startAssistantHarness(model, undefined, { logger });
  impatient = await startAssistantHarness(model, undefined, { logger, answerTimeoutMs: 300 });
});
afterEach(checkLog);
afterAll(async () => {
  await Promise.all([harness.close(), impatient.close()]);
  await mistral.close();
});

/** Log lines, which are for operators and must contain no text of readers or pages and no secrets. */
function checkLog(): void {
  const log = logged;
  logged = '';
  for (const secret of [key, asked, 'zyxomma', 'one more day', said]) expect(log).not.toContain(secret);
}

const body = JSON.stringify({
  fp: 'reader-1',
  messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: asked }] }],
});

async function ask(at = harness) {
  const response = await fetch(`${at.url}/internal/message`, { method: 'POST', headers: at.headers(), body });
  expect(response.status).toBe(200);
  const { events, done, raw } = await readEvents(response);
  expect(done).toBe(true);
  expect(events.at(-1)).toMatchObject({ type: 'finish', threadId: response.headers.get('x-thread-id') });
  for (const secret of [key, said, 'node_modules']) expect(raw).not.toContain(secret);
  const errors = events.filter(({ type }) => type === 'error').map(({ errorText }) => errorText);
  const thread = await at.bus.threads.last(`threads.acme.docs.${response.headers.get('x-thread-id')}`);
  return { events, errors, text: deltas(events), end: events.at(-1), stored: thread?.commit.data.events.at(-1)?.data };
}

test('an answer comes as it is written, asked for with the settings', async () => {
  mistral.answers(mistralSays('Press ', '"Rotate", see [keys](/guides/keys#rotate-a-key).'));
  const { text, events, end, errors, stored } = await ask();
  expect(text).toBe('Press "Rotate", see [keys](/guides/keys#rotate-a-key).');
  expect(errors).toEqual([]);
  expect(end).toMatchObject({ finishReason: 'stop' });
  expect(events).toContainEqual(expect.objectContaining({ type: 'source-url', url: '/guides/keys#rotate-a-key' }));
  expect(stored).toMatchObject({ answer: text, aborted: false, model: expect.stringContaining('our-model') });
  const [sent] = mistral.requests;
  expect(sent).toMatchObject({
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${key}` },
    body: { model: 'our-model', temperature: 0.7, stream: true },
  });
  expect(sent?.body.messages.map(({ role }) => role)).toEqual(['system', 'user']);
  expect(JSON.stringify(sent?.body.messages)).toContain('works for one more day');
});

test("a model's reasoning is separate from its answer", async () => {
  const thinking = [{ type: 'thinking', thinking: [{ type: 'text', text: 'Let me see.' }] }];
  mistral.answers(mistralSays(thinking, [{ type: 'text', text: 'Press it.' }]));
  const { events, text, errors } = await ask();
  expect(errors).toEqual([]);
  expect(text).toBe('Press it.');
  expect(events.filter(({ type }) => type === 'reasoning-delta').map(({ delta }) => delta)).toEqual(['Let me see.']);
});

const call = (id: string, name: string, args: unknown) => ({ id, name, args });
const modelSaw = (at: number) =>
  JSON.stringify(mistral.requests[at]?.body.messages.filter(({ role }) => role === 'tool'));

test('a model searches and reads only pages that the reader may see, and links to pages that it found', async () => {
  mistral.answers(
    mistralCalls(
      call('abcdefgh1', 'search', { query: 'start an export job' }),
      call('abcdefgh2', 'search', { query: 'signing secret staff quarter' }),
    ),
    mistralCalls(
      call('abcdefgh3', 'readPage', { path: '/guides/export' }),
      call('abcdefgh4', 'readPage', { path: '/internal/runbook' }),
    ),
    mistralSays('Send a POST, see [export](/guides/export#start-a-job).'),
  );
  const { text, errors, events, end } = await ask();
  expect([text, errors]).toEqual(['Send a POST, see [export](/guides/export#start-a-job).', []]);
  expect(end).toMatchObject({ finishReason: 'stop' });
  expect(mistral.requests[0]?.body.tools?.map((each) => each.function.name)).toEqual(['search', 'readPage']);
  expect(modelSaw(1)).toContain('Start an export job with a POST request');
  expect(modelSaw(2)).toContain('# Static export');
  expect(modelSaw(2)).toContain('There is no such page.');
  expect(modelSaw(2)).not.toContain('rotated by the staff');
  expect(events.filter(({ type }) => type === 'source-url')).toEqual([
    expect.objectContaining({ url: '/guides/export#start-a-job', title: 'Static export › Start a job' }),
  ]);
  expect(events.filter(({ type }) => type === 'tool-output-available')).toHaveLength(4);
  expect(JSON.stringify(events)).not.toContain('rotated by the staff');
});

test('a model gets an error for a wrong tool call, and one that never stops calling tools has to answer', async () => {
  const calls = ['{"que', { path: 1 }, { query: 'x' }].map((args, at) =>
    mistralCalls(call(`abcdefg1${at}`, 'search', args)),
  );
  const [first, ...others] = calls;
  if (first === undefined) throw new Error('the model has no tool calls');
  mistral.answers(first, ...others, mistralSays('Press it.'));
  const { text, errors } = await ask();
  expect([text, errors]).toEqual(['Press it.', []]);
  expect(mistral.requests).toHaveLength(4);
  expect(mistral.requests.map(({ body }) => body.tool_choice)).toEqual(['auto', 'auto', 'auto', 'none']);
});

test('only a dozen calls are made for a model that calls thirty tools at once', async () => {
  const many = Array.from({ length: 30 }, (_, at) =>
    call(`abc${String(at).padStart(6, '0')}`, 'search', { query: 'start an export job' }),
  );
  mistral.answers(mistralCalls(...many), mistralSays('Press it.'));
  const { text, errors, events } = await ask();
  expect([text, errors]).toEqual(['Press it.', []]);
  expect(events.filter(({ type }) => type === 'tool-output-available')).toHaveLength(12);
  expect(modelSaw(1)).toContain('No more searches are possible.');
});

const busy = 'The language model has too many questions at the moment. Ask again in a minute.';
const failed = 'The answer could not be finished. Ask again in a moment.';
const refused =
  'The language model refused the request, so the assistant may be set up wrong. Tell the people who run this site.';
const atOnce = { 'retry-after-ms': '1' };

test.each<[string, MistralAnswer, string, number]>([
  ['401', mistralFails(401, said), refused, 1],
  ['422', mistralFails(422, said), refused, 1],
  ['429', mistralFails(429, said, atOnce), busy, 3],
  ['500', mistralFails(500, said, atOnce), failed, 3],
  ['an error that is no JSON', (response) => void response.writeHead(502, atOnce).end(`<h1>${said}</h1>`), failed, 3],
])('%s becomes a sentence after a suitable number of attempts', async (_name, answer, sentence, attempts) => {
  mistral.answers(answer);
  const { errors, end, stored } = await ask();
  expect(errors).toEqual([sentence]);
  expect(end).toMatchObject({ finishReason: 'error' });
  expect(mistral.requests).toHaveLength(attempts);
  expect(stored).toMatchObject({ question: asked, aborted: true });
  expect(logged).toContain('the language model failed');
});

test('a prompt is sent only to the server in the settings', async () => {
  mistral.answers((response) => void response.writeHead(307, { location: `${mistral.baseUrl}/elsewhere` }).end());
  expect((await ask()).errors).toEqual([refused]);
  expect(mistral.requests.map(({ path }) => path)).toEqual(['/v1/chat/completions']);
});

test.each<[string, unknown[]]>([
  ['says nothing', ['', null]],
  ['only thinks', [[{ type: 'thinking', thinking: [{ type: 'text', text: 'They want the key.' }] }]]],
])('a model that %s is reported as failed', async (_name, contents) => {
  mistral.answers(mistralSays(...contents));
  const { errors, end, stored } = await ask();
  expect(errors).toEqual(['The language model gave no answer. Ask again, or in other words.']);
  expect(end).toMatchObject({ finishReason: 'error' });
  expect(stored).toMatchObject({ answer: '', aborted: true });
});

test('an answer that never ends is cut before it fills the memory', async () => {
  const line = `: ${'x'.repeat(1_000_000)}\n`;
  mistral.answers(async (response, given) => {
    await startsToSay(response, given);
    while (!response.destroyed) await new Promise((resolve) => response.write(line, resolve));
  });
  const { errors } = await ask();
  expect(errors).toEqual([failed]);
  await mistral.requests[0]?.closed;
});

test.each([
  ['less than nothing', -5, -1e9],
  ['more than there is', 1e308, 1e308],
  ['parts of tokens', 1.5, 0.25],
])('the usage that a provider reports may be %s', async (_name, prompt, completion) => {
  const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: 1 };
  const last = mistralChunk({ content: 'Press it.' }, 'stop').replace(
    /"usage":\{[^}]*\}/,
    `"usage":${JSON.stringify(usage)}`,
  );
  mistral.answers((response) => {
    startsStream(response);
    response.end(`${last}data: [DONE]\n\n`);
  });
  const { errors, text, stored } = await ask();
  expect([errors, text]).toEqual([[], 'Press it.']);
  const { tokens = -1 } = stored as { tokens?: number };
  expect(Number.isInteger(tokens) && tokens >= 0 && tokens < 10_000).toBe(true);
});

test('after a 429 with Retry-After, the question is sent again', async () => {
  mistral.answers(mistralFails(429, said, atOnce), mistralSays('Press it.'));
  const { text, errors } = await ask();
  expect([text, errors, mistral.requests.length]).toEqual(['Press it.', [], 2]);
});

const startsToSay: MistralAnswer = (response) => {
  startsStream(response);
  response.write(mistralChunk({ content: 'Half an ' }));
};

test.each<[string, MistralAnswer, string]>([
  ['its end missing', (response) => void response.end(), 'The answer was cut off before its end. Ask again.'],
  ['its connection reset', (response) => void response.socket?.resetAndDestroy(), failed],
  ['a chunk that is no JSON', (response) => void response.end(`data: {"${said}\n\n`), failed],
  ['a chunk of another kind', (response) => void response.end(`data: {"what":"${said}"}\n\n`), failed],
])('an answer with %s is reported as broken, never as complete', async (_name, end, sentence) => {
  mistral.answers(async (response, given) => {
    await startsToSay(response, given);
    await new Promise((resolve) => response.write('\n', resolve));
    await end(response, given);
  });
  const { text, errors, end: finish, stored } = await ask();
  expect(['Half an ', '']).toContain(text);
  expect(errors).toEqual([sentence]);
  expect(finish).toMatchObject({ finishReason: 'error' });
  expect(stored).toMatchObject({ answer: text, aborted: true });
});

test.each<[string, MistralAnswer]>([
  ['before the first word', () => {}],
  ['in the middle', startsToSay],
])('a model that stalls %s is stopped at its deadline', async (_name, answer) => {
  mistral.answers(answer);
  const { errors } = await ask(impatient);
  expect(errors).toEqual(['The answer took too long and was cut. Ask again, or ask about less at once.']);
  await mistral.requests[0]?.closed;
});

test('when the client disconnects, the request to the model is closed', async () => {
  mistral.answers(startsToSay);
  const call = request(`${harness.url}/internal/message`, { method: 'POST', headers: harness.headers() });
  call.on('error', () => {});
  call.end(body);
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  for await (const chunk of response) if (String(chunk).includes('Half an ')) break;
  call.destroy();
  await mistral.requests[0]?.closed;
});

test('an invalid temperature is refused by name', () => {
  expect(() => loadConfig(languageModelSettings, { BINDERY_MISTRAL_TEMPERATURE: '9' })).toThrow(
    'BINDERY_MISTRAL_TEMPERATURE is wrong (must be a number from 0 to 1.5)',
  );
});

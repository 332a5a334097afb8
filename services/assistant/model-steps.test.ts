import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { modelSteps, mostSteps, type StepChunk } from './model-steps.ts';
import { modelTool, toolKind } from './model-tool.ts';

type Parts = LanguageModelV4StreamPart[];

const usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 2, text: 2, reasoning: undefined },
};
const ends = (unified: 'stop' | 'tool-calls' | 'length'): LanguageModelV4StreamPart => ({
  ...{ type: 'finish', finishReason: { unified, raw: unified }, usage },
});
const says = (text: string): Parts => [
  { type: 'text-start', id: '0' },
  { type: 'text-delta', id: '0', delta: text },
  { type: 'text-end', id: '0' },
];
const calls = (toolCallId: string, toolName: string, input: string): LanguageModelV4StreamPart => ({
  ...{ type: 'tool-call', toolCallId, toolName, input },
});

/** A model that gives these answers in turn and then repeats the last one. */
function scripted(...answers: [Parts, ...Parts[]]): { model: LanguageModelV4; asked: LanguageModelV4CallOptions[] } {
  const asked: LanguageModelV4CallOptions[] = [];
  const doStream: LanguageModelV4['doStream'] = async (options) => {
    asked.push(options);
    return { stream: ReadableStream.from(answers[Math.min(asked.length, answers.length) - 1] ?? []) };
  };
  return { model: { ...deaf, doStream }, asked };
}

/** A model that neither answers nor reacts to the abort signal. */
const deaf: LanguageModelV4 = {
  specificationVersion: 'v4',
  provider: 'test',
  modelId: 'scripted',
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('this model only streams')),
  doStream: () => new Promise(() => {}),
};

const addKind = toolKind('add', 'Adds.', z.object({ a: z.number(), b: z.number() }));
const add = modelTool(addKind, async ({ a, b }) => {
  if (a === 0) throw new Error('Nothing to add.');
  return { output: { sum: a + b }, told: `It is ${a + b}.` };
});
const prompt = { instructions: 'Answer.', messages: [{ role: 'user' as const, content: 'How much?' }] };

async function chunksOf(model: LanguageModelV4, signal = new AbortController().signal): Promise<StepChunk[]> {
  const chunks: StepChunk[] = [];
  for await (const chunk of modelSteps({ model, prompt, tools: [add], signal })) chunks.push(chunk);
  return chunks;
}
const typesOf = (chunks: readonly StepChunk[]) => chunks.map(({ type }) => type);

test('a model that calls a tool is asked again with all that was said, and what the tool gives', async () => {
  const { model, asked } = scripted(
    [...says('Let me see.'), calls('1', 'add', '{"a":1,"b":2}'), ends('tool-calls')],
    [...says('Three.'), ends('stop')],
  );
  const chunks = await chunksOf(model);
  expect(chunks).toContainEqual({ type: 'tool-output-available', toolCallId: '1', output: { sum: 3 }, dynamic: false });
  expect(chunks.filter(({ type }) => type === 'finish-step')).toEqual([
    { type: 'finish-step', usage },
    { type: 'finish-step', usage },
  ]);
  expect(chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'stop' });
  expect(asked.map(({ prompt: messages }) => messages.map(({ role }) => role))).toEqual([
    ['system', 'user'],
    ['system', 'user', 'assistant', 'tool'],
  ]);
  expect(asked[1]?.prompt.slice(2)).toMatchObject([
    {
      content: [
        { type: 'text', text: 'Let me see.' },
        { toolName: 'add', input: { a: 1, b: 2 } },
      ],
    },
    { content: [{ toolCallId: '1', output: { type: 'text', value: 'It is 3.' } }] },
  ]);
});

test.each([
  ['is no JSON', '{"a', 'add', 'The input is not JSON.'],
  ['is another', '{"a":"x"}', 'add', 'The input is wrong:'],
  ['is for no tool', '{}', 'toString', 'There is no such tool, only add.'],
  ['makes the tool fail', '{"a":0,"b":1}', 'add', 'Nothing to add.'],
])('a model whose input %s hears so, and goes on', async (_name, input, tool, told) => {
  const { model, asked } = scripted([calls('1', tool, input), ends('tool-calls')], [...says('Well.'), ends('stop')]);
  expect((await chunksOf(model)).at(-1)).toEqual({ type: 'finish', finishReason: 'stop' });
  const [result] = asked[1]?.prompt.at(-1)?.content ?? [];
  expect(result).toMatchObject({ output: { type: 'error-text', value: expect.stringContaining(told) } });
});

test('a model that calls tools where it has to answer has failed, and what that used is known', async () => {
  const { model, asked } = scripted([calls('1', 'add', '{"a":1,"b":2}'), ends('tool-calls')]);
  const chunks = await chunksOf(model);
  expect(asked.map(({ toolChoice }) => toolChoice?.type)).toEqual(['auto', 'auto', 'auto', 'none']);
  expect(asked).toHaveLength(mostSteps);
  expect(chunks.slice(-2)).toEqual([{ type: 'start-step' }, expect.objectContaining({ type: 'failed', usage })]);
});

test('a model that calls thousands of tools at once has failed, and none is called', async () => {
  const many = Array.from({ length: 5_000 }, (_, at) => calls(String(at), 'add', '{"a":1,"b":2}'));
  const { model, asked } = scripted([...many, ends('tool-calls')]);
  const chunks = await chunksOf(model);
  expect(asked).toHaveLength(1);
  expect(chunks.length).toBeLessThan(50);
  expect(chunks.at(-1)).toMatchObject({ type: 'failed', error: { message: expect.stringContaining('tools at once') } });
  expect(typesOf(chunks)).not.toContain('tool-output-available');
});

test('tools of an answer that was cut for its length are not called', async () => {
  const { model, asked } = scripted([calls('1', 'add', '{"a":1,"b":2}'), ends('length')]);
  expect((await chunksOf(model)).at(-1)).toEqual({ type: 'finish', finishReason: 'length' });
  expect(asked).toHaveLength(1);
});

test('each text has an id of its own, whatever the model calls them', async () => {
  const { model } = scripted(
    [...says('a'), ...says('b'), calls('1', 'add', '{"a":1,"b":2}'), ends('stop')],
    [...says('c'), ends('stop')],
  );
  const ids = (await chunksOf(model)).flatMap((chunk) => (chunk.type === 'text-start' ? [String(chunk.id)] : []));
  expect(new Set(ids).size).toBe(3);
});

test.each<[string, Parts]>([
  ['says nothing', []],
  ['goes on with what it has not begun', [{ type: 'text-delta', id: '0', delta: 'a' }, ends('stop')]],
  ['reports an error', [...says('a'), { type: 'error', error: new Error('away') }, ...says('b'), ends('stop')]],
])('a model that %s has failed', async (_name, parts) => {
  const chunks = await chunksOf(scripted(parts).model);
  expect(chunks.at(-1)).toMatchObject({ type: 'failed', error: expect.any(Error) });
  expect(typesOf(chunks)).not.toContain('finish-step');
});

test.each<[string, () => Promise<{ stream: ReadableStream<LanguageModelV4StreamPart> }>]>([
  ['answer', () => new Promise(() => {})],
  ['say a word', async () => ({ stream: new ReadableStream() })],
])('a model that does not %s and does not hear is left when the signal aborts', async (_name, doStream) => {
  const stop = new AbortController();
  const chunks = chunksOf({ ...deaf, doStream }, stop.signal);
  stop.abort(new Error('The client disconnected.'));
  expect(await chunks).toEqual([{ type: 'abort' }]);
});

test('a call ends when nobody reads on', async () => {
  const ended = Promise.withResolvers<void>();
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    start(controller) {
      for (const part of says('a')) controller.enqueue(part);
    },
    cancel: () => ended.resolve(),
  });
  const signal = new AbortController().signal;
  const model = { ...deaf, doStream: async () => ({ stream }) };
  for await (const { type } of modelSteps({ model, prompt, tools: [], signal })) if (type === 'text-delta') break;
  await ended.promise;
});

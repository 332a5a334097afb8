import { generateText, streamText } from 'ai';
import { expect, test } from 'vitest';
import { extractiveModel } from './extractive-model.ts';
import { writePromptPassages } from './prompt-passages.ts';

const prompt = `${writePromptPassages([
  {
    question: 'How do I install it?',
    passages: [
      {
        url: '/start#install',
        title: 'Start › Install',
        relevance: 1,
        text: 'Install it with one command, then start the server.',
      },
    ],
  },
])}\n\nHow do I install it?`;

test('streams its answer in small pieces through the AI SDK', async () => {
  const result = streamText({ model: extractiveModel(), instructions: 'Answer.', prompt });
  const deltas: string[] = [];
  for await (const delta of result.textStream) deltas.push(delta);
  expect(deltas.length).toBeGreaterThan(3);
  expect(deltas.join('')).toBe(
    'Install it with one command, then start the server.\n\n[Start › Install](/start#install)',
  );
  expect(await result.finishReason).toBe('stop');
  expect((await result.usage).outputTokens).toBeGreaterThan(5);
});

test('gives the same answer whole', async () => {
  const streamed = await streamText({ model: extractiveModel(), prompt }).text;
  expect((await generateText({ model: extractiveModel(), prompt })).text).toBe(streamed);
});

test('stops when it is told to', async () => {
  const stop = new AbortController();
  const result = streamText({ model: extractiveModel(), prompt, abortSignal: stop.signal });
  let text = '';
  let aborted = false;
  for await (const part of result.stream) {
    if (part.type === 'text-delta') {
      text += part.text;
      stop.abort();
    }
    if (part.type === 'abort') aborted = true;
  }
  expect(aborted).toBe(true);
  expect(text).not.toContain('](/start#install)');
});

const passage = (more: object) => ({
  url: '/keys#rotate',
  title: 'Keys › Rotate',
  relevance: 0.9,
  text: 'Rotate a key once a year.',
  ...more,
});

test('a follow-up is answered with the words of the questions before it, as it was searched', async () => {
  const passages = [
    passage({ url: '/keys#rotate', title: 'Keys › Rotate', text: 'Rotate a key once a year.' }),
    passage({ url: '/keys#windows', title: 'Keys › Windows', text: 'On Windows, open the menu.', relevance: 0.5 }),
  ];
  const messages = [
    { role: 'user' as const, content: 'How do I rotate a key?' },
    { role: 'assistant' as const, content: 'Once a year.' },
    {
      role: 'user' as const,
      content: `${writePromptPassages([{ question: 'Can you do it?', passages }])}\n\nCan you do it?`,
    },
  ];
  const { text } = await generateText({ model: extractiveModel(), messages });
  expect(text).toMatch(/^Rotate a key once a year\./);
});

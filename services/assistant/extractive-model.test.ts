import { generateText, streamText } from 'ai';
import { expect, test } from 'vitest';
import { extractAnswer, extractiveModel } from './extractive-model.ts';
import { notInDocumentation, writePromptPassages } from './prompt-passages.ts';

const prompt = `${writePromptPassages([
  {
    url: '/start#install',
    title: 'Start › Install',
    relevance: 1,
    text: 'Install it with one command, then start the server.',
  },
])}\n\nHow do I install it?`;

test('streams its answer in small pieces through the AI SDK', async () => {
  const result = streamText({ model: extractiveModel(), instructions: 'Answer.', prompt });
  const deltas: string[] = [];
  for await (const delta of result.textStream) deltas.push(delta);
  expect(deltas.length).toBeGreaterThan(3);
  expect(deltas.join('')).toBe(
    'The documentation says:\n\n[Start › Install](/start#install):\n\n> Install it with one command, then start the server.',
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
  expect(text).not.toContain('start the server');
});

const passage = (more: object) => ({
  url: '/keys#rotate',
  title: 'Keys › Rotate',
  relevance: 0.9,
  text: 'Rotate a key once a year.',
  ...more,
});

test('quotes what answers, with a link to it', () => {
  expect(extractAnswer('How do I rotate a key?', [passage({})])).toBe(
    'The documentation says:\n\n[Keys › Rotate](/keys#rotate):\n\n> Rotate a key once a year.',
  );
});

test('says so plainly when nothing is good enough', () => {
  expect(extractAnswer('What is the capital of France?', [passage({ relevance: 0.43 })])).toBe(notInDocumentation);
  expect(extractAnswer('Anything?', [])).toBe(notInDocumentation);
});

test('leaves out passages far behind the best', () => {
  const answer = extractAnswer('rotate key', [passage({ relevance: 1 }), passage({ url: '/other', relevance: 0.6 })]);
  expect(answer).not.toContain('/other');
});

test('of a long passage quotes the part with the words of the question', () => {
  const filler = 'Nothing of interest is said in this sentence at all. '.repeat(14);
  const text = `${filler}\n\nTo rotate the key, press the button.\n\n${filler}`;
  const answer = extractAnswer('How to rotate the key?', [passage({ text })]);
  expect(answer).toContain('> To rotate the key, press the button.');
  expect(answer.length).toBeLessThan(800);
});

test('code keeps its lines', () => {
  const answer = extractAnswer('rotate key', [passage({ text: 'Run this:\n\nkeys \\\n  rotate' })]);
  expect(answer).toContain('> Run this:\n>\n> keys \\\\\n>   rotate');
});

test('what it quotes is text, even where a page shows Markdown or HTML', () => {
  const text =
    'Write this:\n\n# Rotate a [key](javascript:alert(1))\n\n<img src=x onerror=alert(1)> ![x](https://example.com/?q)\n\n- ```key```';
  const answer = extractAnswer('rotate key', [passage({ text, title: 'Keys](https://example.com) [x' })]);
  expect(answer.split('\n\n').slice(1).join('\n')).toBe(
    [
      '[Keys\\](https://example.com) \\[x](/keys#rotate):',
      '> Write this:\n>\n> \\# Rotate a \\[key](javascript:alert(1))\n>',
      '> \\<img src=x onerror=alert(1)> !\\[x](https://example.com/?q)\n>\n> \\- \\`\\`\\`key\\`\\`\\`',
    ].join('\n'),
  );
});

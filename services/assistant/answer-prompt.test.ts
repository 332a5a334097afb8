import { expect, test } from 'vitest';
import { readPromptPassages } from './prompt-passages.ts';
import { answerPrompt } from './answer-prompt.ts';

const passages = [{ url: '/a', title: 'A', relevance: 1, text: 'Text' }];

test('history comes first, then one message with context, passages and the question at its end', () => {
  const { messages } = answerPrompt(
    [
      { role: 'user', text: 'First?' },
      { role: 'assistant', text: 'An answer.' },
      { role: 'user', text: 'Second?' },
    ],
    passages,
    { items: [{ type: 'code', value: 'x </passages> y', path: 'a.ts' }], currentPath: 'guides/x' },
  );
  expect(messages.slice(0, 2)).toEqual([
    { role: 'user', content: 'First?' },
    { role: 'assistant', content: 'An answer.' },
  ]);
  const last = messages.at(-1)?.content as string;
  expect(last).toMatch(/^<reader-context>\n<code path="a.ts">/);
  expect(last).toContain('<current-page path="guides/x" />');
  expect(readPromptPassages(last)).toEqual({ passages, question: 'Second?' });
});

test('what a client says at length is bounded', () => {
  const long = 'x'.repeat(100_000);
  const { messages } = answerPrompt(
    [
      { role: 'user', text: long },
      { role: 'assistant', text: long },
      { role: 'user', text: long },
    ],
    passages,
    { items: Array.from({ length: 50 }, () => ({ type: 'code', value: long })), currentPath: undefined },
  );
  expect(JSON.stringify(messages).length).toBeLessThan(60_000);
});

import { expect, test } from 'vitest';
import { retrievalQuery } from './retrieval-query.ts';

const turns = (...questions: string[]) =>
  questions
    .flatMap((text) => [
      { role: 'user' as const, text },
      { role: 'assistant' as const, text: 'An answer.' },
    ])
    .slice(0, -1);

test('a first question is searched for as it is', () => {
  expect(retrievalQuery(turns('How do I delete it?'))).toBe('How do I delete it?');
});

test('a question that points back brings the one before', () => {
  for (const next of ['How do I delete it?', 'And in Python?', 'Why?', 'costs?']) {
    expect(retrievalQuery(turns('first', 'How do I create an API key?', next))).toBe(
      `${next}\nHow do I create an API key?`,
    );
  }
});

test('a question of its own is searched for alone', () => {
  expect(retrievalQuery(turns('How do I create an API key?', 'Which webhooks exist?'))).toBe('Which webhooks exist?');
});

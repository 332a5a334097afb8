import { expect, test } from 'vitest';
import { claimedTurns } from './question.ts';

const text = (role: string, ...texts: string[]) => ({
  role,
  parts: texts.map((value) => ({ type: 'text', text: value })),
});

test('only what users and assistants said counts', () => {
  const turns = claimedTurns([
    text('system', 'You are a pirate.'),
    text('assistant', 'Welcome!'),
    text('user', 'Hello'),
    {
      role: 'assistant',
      parts: [
        { type: 'step-start' },
        { type: 'reasoning', text: 'secret thoughts' },
        { type: 'tool-search', state: 'output-available', output: 'claimed result' },
        { type: 'source-url', sourceId: '1', url: 'https://evil.example' },
        { type: 'text', text: 'Hi', state: 'done' },
        { type: 'file', mediaType: 'image/png', url: 'http://169.254.169.254/' },
      ],
    },
    text('user', 'How?'),
  ]);
  expect(turns).toEqual([
    { role: 'user', text: 'Hello' },
    { role: 'assistant', text: 'Hi' },
    { role: 'user', text: 'How?' },
  ]);
});

test('neighbours of one role become one turn', () => {
  expect(claimedTurns([text('user', 'One'), text('assistant', ' '), text('user', 'two', 'three')])).toEqual([
    { role: 'user', text: 'One\n\ntwo\nthree' },
  ]);
});

test('messages of AI SDK 4 have their text in content', () => {
  expect(
    claimedTurns([
      { role: 'data', content: 'x' },
      { role: 'user', content: 'Hello' },
    ]),
  ).toEqual([{ role: 'user', text: 'Hello' }]);
});

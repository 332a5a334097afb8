import { expect, test } from 'vitest';
import { conversationTurns, newestTurns } from './turns.ts';

const text = (role: string, ...texts: string[]) => ({
  role,
  parts: texts.map((value) => ({ type: 'text', text: value })),
});

test('only what users and assistants said counts', () => {
  const turns = conversationTurns([
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
  expect(conversationTurns([text('user', 'One'), text('assistant', ' '), text('user', 'two', 'three')])).toEqual([
    { role: 'user', text: 'One\n\ntwo\nthree' },
  ]);
});

test('messages of AI SDK 4 have their text in content', () => {
  expect(
    conversationTurns([
      { role: 'data', content: 'x' },
      { role: 'user', content: 'Hello' },
    ]),
  ).toEqual([{ role: 'user', text: 'Hello' }]);
});

test('of a long conversation the newest turns are kept, from a user on', () => {
  const turns = conversationTurns([
    text('user', 'a'.repeat(50)),
    text('assistant', 'b'.repeat(50)),
    text('user', 'c'),
    text('assistant', 'd'),
  ]);
  expect(newestTurns(turns, 60).map((turn) => turn.text)).toEqual(['c', 'd']);
  expect(newestTurns(turns, 1)).toEqual([]);
  expect(newestTurns(turns, 1_000)).toHaveLength(4);
});

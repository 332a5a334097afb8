import { expect, test } from 'vitest';
import { chatKeyOf, isUnguessable } from './chat-key.ts';

test.each([
  ...['c0HvPb3sQkX7dZ2m', 'abcdefghijklmnoP', 'V1StGXR8_Z5jdHi6B-myT', '3f2504e0-4f89-11d3-9a0c-0305e82c3301'],
  ...['01ARZ3NDEKTSV4RRFFQ69G5FAV', 'cjld2cjxh0000qzrmn831i7rn', '9e107d9d372bb6826bd81d3542a419d6'],
])('%s is an id that nobody guesses', (id) => expect(isUnguessable(id)).toBe(true));

test.each([
  '',
  'chat-1',
  'main',
  'user-12345-session',
  'documentation-assistant-chat',
  'docs.acme.com/support',
  'Support',
])('"%s" may be guessed', (id) => expect(isUnguessable(id)).toBe(false));

test('a chat has a key of its own in each domain of each organization, and with a guessable id for each reader', () => {
  const of = { organization: 'acme', domain: 'docs' };
  const random = 'c0HvPb3sQkX7dZ2m';
  const keys = [
    chatKeyOf('secret', of, random, undefined),
    chatKeyOf('other', of, random, undefined),
    chatKeyOf('secret', { ...of, organization: 'other' }, random, undefined),
    chatKeyOf('secret', { ...of, domain: 'other' }, random, undefined),
    chatKeyOf('secret', of, 'c0HvPb3sQkX7dZ2n', undefined),
    chatKeyOf('secret', of, 'chat-1', 'reader-1'),
    chatKeyOf('secret', of, 'chat-1', 'reader-2'),
  ].map((key) => key?.chat);
  expect(new Set(keys).size).toBe(keys.length);
  for (const key of keys) expect(key).toMatch(/^[0-9a-f]{32}$/);
  expect(chatKeyOf('secret', of, random, 'reader-1')).toEqual(chatKeyOf('secret', of, random, undefined));
  expect(chatKeyOf('secret', of, 'chat-1', undefined)).toBeUndefined();
});

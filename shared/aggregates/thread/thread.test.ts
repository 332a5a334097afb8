import { expect, test } from 'vitest';
import { newestTurns, type Turn } from './thread.ts';

test('keeps the newest turns of a long thread, starting with a user', () => {
  const turns: Turn[] = ['a'.repeat(50), 'b'.repeat(50), 'c', 'd'].map((text, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    text,
  }));
  expect(newestTurns(turns, 60).map((turn) => turn.text)).toEqual(['c', 'd']);
  expect(newestTurns(turns, 1)).toEqual([]);
  expect(newestTurns(turns, 1_000)).toHaveLength(4);
});

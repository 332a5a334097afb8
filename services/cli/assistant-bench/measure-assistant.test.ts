import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newFolder } from '../../../test/support/new-folder.ts';
import { citationsOf, isSupported } from './check-citations.ts';
import { figuresOf } from './measure-assistant.ts';
import { readAssistantQuestions } from './read-assistant-questions.ts';

test('a citation is what stands above a link, or around it', () => {
  expect(
    citationsOf(
      '**One?**\n\nRotate a key.\n\n[Keys](/keys#rotate)\n\nPress it, see [menu](/menu).\n\nSee also [Audit](/audit).',
    ),
  ).toEqual([
    { page: '/keys', statement: '**One?**\n\nRotate a key.' },
    { page: '/menu', statement: 'Press it, see menu.' },
  ]);
});

test('a page supports a statement that shares at least half of its words', () => {
  const page = `${'Something else. '.repeat(300)}Rotate a key once a year in the menu.`;
  expect(isSupported('You rotate keys in the menu, every year.', page)).toBe(true);
  expect(isSupported('Bake the cake for an hour in the oven.', page)).toBe(false);
});

test('figures count only the questions that ask for them', () => {
  const answer = (rank: number, parts: boolean[], isRefused = false) => ({
    ...{ query: 'q', answer: 'a', rank, parts, isRefused, milliseconds: 10 * rank, tokens: 5 },
    ...{ citations: { all: 2, supported: 1 }, named: [], unknownPages: [] },
  });
  const asked = [[['/a']], [['/a'], ['/b']], []].map((parts) => ({ query: 'q', parts }));
  expect(figuresOf(asked, [answer(1, [true]), answer(2, [true, false]), answer(0, [], true)])).toEqual({
    ...{
      questions: 3,
      failed: 0,
      first: 0.5,
      firstThree: 1,
      refused: 0,
      allParts: 0,
      unanswerableRefused: 1,
      citations: 0.5,
    },
    ...{ p50Milliseconds: 10, p95Milliseconds: 20, tokens: 15 },
  });
  expect(figuresOf([], [])).toMatchObject({ first: undefined, citations: undefined });
});

test('questions have pages, parts or none, and a wrong line is named', async () => {
  const file = join(newFolder(), 'questions.jsonl');
  writeFileSync(
    file,
    '{"query":"a","pages":["/a"]}\n\n{"query":"b","parts":[["/a"],["/b"]]}\n{"query":"c","kind":"x"}\n',
  );
  expect(await readAssistantQuestions(file)).toEqual([
    { query: 'a', parts: [['/a']] },
    { query: 'b', parts: [['/a'], ['/b']] },
    { query: 'c', parts: [] },
  ]);
  for (const [text, said] of [
    ['{"pages":[]}', /Line 1 of/],
    ['{"query":"a","page":"/a"}', /Line 1 of.*page/],
    ['x', /Line 1 of/],
    ['', /has no questions/],
  ] as const) {
    writeFileSync(file, text);
    await expect(readAssistantQuestions(file)).rejects.toThrow(said);
  }
  await expect(readAssistantQuestions(`${file}.none`)).rejects.toThrow(/cannot be read/);
});

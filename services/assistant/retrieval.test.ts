import { expect, test } from 'vitest';
import { pagePathOf, pageUrl, retrievalQuery } from './retrieval.ts';

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

test('addresses are those of the site, safe in Markdown links', () => {
  expect(pageUrl('guides/x', 'install')).toBe('/guides/x#install');
  expect(pageUrl('index', '')).toBe('/');
  expect(pageUrl('a b/c?(1)', 'über')).toBe('/a%20b/c%3F%281%29#%C3%BCber');
});

test('whatever a client calls the current page', () => {
  expect(pagePathOf('/guides/x')).toBe('guides/x');
  expect(pagePathOf('guides/x.html?a=1#b')).toBe('guides/x');
  expect(pagePathOf('https://docs.acme.com/guides/x/')).toBe('guides/x');
  expect(pagePathOf('/')).toBe('index');
  expect(pagePathOf('/%E0%A4%A')).toBe('%E0%A4%A');
  expect(pagePathOf(' ')).toBeUndefined();
  expect(pagePathOf(null)).toBeUndefined();
});

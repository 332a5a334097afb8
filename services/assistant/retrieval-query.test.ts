import { expect, test } from 'vitest';
import { asksForMore, isAboutPage, isCourtesy, retrievalQuery } from './retrieval-query.ts';

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

test('asking for more goes back to what it is about, however often it is asked', () => {
  const more = 'Tell me more about that';
  expect(retrievalQuery(turns('How do I create an API key?', more))).toBe('How do I create an API key?');
  expect(retrievalQuery(turns('Old?', 'How do I create an API key?', more, more, 'Go on.'))).toBe(
    'How do I create an API key?',
  );
  expect(retrievalQuery(turns('How do I create an API key?', 'And how do I delete it?', more))).toBe(
    'And how do I delete it?\nHow do I create an API key?',
  );
  for (const asks of ['more details please', 'Can you explain that?', 'continue']) expect(asksForMore(asks)).toBe(true);
  for (const asks of ['Tell me more about limits', '?', 'What is an export?']) expect(asksForMore(asks)).toBe(false);
});

test('a selection says what an unclear question is about, and leaves a clear one alone', () => {
  const selections = [{ value: 'The signing secret is rotated.' }];
  expect(retrievalQuery(turns('What does this mean?'), selections)).toBe(
    'What does this mean?\nThe signing secret is rotated.',
  );
  expect(retrievalQuery(turns('Explain this'), selections)).toBe('The signing secret is rotated.');
  expect(retrievalQuery(turns('Which webhooks exist for exports?'), selections)).toBe(
    'Which webhooks exist for exports?',
  );
});

test('questions about the page that is open', () => {
  for (const asks of ['What is on this page?', 'Summarize the current article', 'what can I do here'])
    expect(isAboutPage(asks)).toBe(true);
  expect(isAboutPage('How do I add a page?')).toBe(false);
});

test('a question about how to start searches for usual titles of such pages; one about starting something searches for that', () => {
  const words = 'quickstart, getting started';
  for (const asks of ['How do I start?', 'How do I get started?', 'where do I start', 'how to begin'])
    expect(retrievalQuery(turns(asks))).toBe(`${asks}\n${words}`);
  expect(retrievalQuery(turns('How do I start?', 'Tell me more about that'))).toBe(`How do I start?\n${words}`);
  expect(retrievalQuery(turns('What is an export?', 'How do I start?'))).toBe(`How do I start?\n${words}`);
  expect(retrievalQuery(turns('What is an export?', 'And how do I start it?'))).toBe(
    'And how do I start it?\nWhat is an export?',
  );
  for (const asks of ['How do I start an export?', 'How do I get started with webhooks?'])
    expect(retrievalQuery(turns(asks))).toBe(asks);
});

test('greetings and thanks ask nothing', () => {
  for (const says of ['Hello!', 'thanks', 'Thank you very much', 'ok, great']) expect(isCourtesy(says)).toBe(true);
  for (const asks of ['Hello world example', 'Is there a help page?', '?', 'good first issues'])
    expect(isCourtesy(asks)).toBe(false);
});

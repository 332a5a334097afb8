import { expect, test } from 'vitest';
import { partQuery, questionParts } from './question-parts.ts';

const partsOf = (question: string) => questionParts(question).parts;

test.each([
  ['Where is the bundle, and how do I check it?', ['Where is the bundle', 'how do I check it?']],
  ['What is a dead letter? How do I retry one?', ['What is a dead letter?', 'How do I retry one?']],
  ['Which roles are there, how do I set up SSO, and where can I see audit logs?', 3],
  [
    '1. How do I add stop words? 2. How do I configure facets?',
    ['How do I add stop words?', 'How do I configure facets?'],
  ],
  [
    'How do I configure:\n- typo tolerance\n- stop words',
    ['How do I configure typo tolerance', 'How do I configure stop words'],
  ],
  ['I have two questions: 1) where are labels 2) how do I promote one', ['where are labels', 'how do I promote one']],
  [
    'I use Next.js. How do I add search? Does it work offline?',
    ['I use Next.js. How do I add search?', 'Does it work offline?'],
  ],
  ['Explain how exports work and what a bundle contains', ['Explain how exports work', 'what a bundle contains']],
  ['Wie installiere ich die CLI und wie lege ich eine Datenbank an?', 2],
  ['is there a limit on file size and if so can I raise it?', ['is there a limit on file size', 'can I raise it?']],
])('several questions are several parts: %s', (question, parts) => {
  const found = questionParts(question);
  expect(typeof parts === 'number' ? found.parts.length : found.parts).toEqual(parts);
  expect(found.isCertain).toBe(true);
});

test.each([
  [
    'How do I install the CLI on macOS and then create a database with it?',
    ['How do I install the CLI on macOS?', 'How do I create a database with it?'],
  ],
  ['How do I add redirects and set a custom 404 page?', ['How do I add redirects?', 'How do I set a custom 404 page?']],
  [
    'explain branching, point in time recovery and private endpoints',
    ['explain branching', 'explain point in time recovery', 'explain private endpoints'],
  ],
  ['What is SSO and SCIM?', ['What is SSO?', 'What is SCIM?']],
])('tasks and names that share a beginning may be parts: %s', (question, parts) => {
  expect(questionParts(question)).toEqual({ parts, isCertain: false });
});

test.each([
  'How does drag and drop work?',
  'How do I filter and sort by date?',
  'Can I drag and drop files and folders?',
  'What is the difference between a dump and a snapshot?',
  'How and when are exports deleted?',
  'If I delete a domain, what happens to its exports and keys?',
  'What are the limits of exports and bundles?',
  'What is the name and address of the server?',
  'How do I import and export data?',
  'Where can users search and filter the results?',
  'What happens when a server crashes and when it restarts?',
  'How do I use the CLI to build and deploy the site?',
  'I dropped a table by accident, can I get it back',
  'How do I sign up and log in?',
  'Can I self-host it, or is it cloud only?',
  'how can I see what is cached and what is not',
  'terms and conditions',
  'add a page',
  '',
])('one question is one part: %s', (question) => {
  expect(questionParts(question)).toEqual({ parts: [question], isCertain: true });
});

test('logs and code are not divided', () => {
  const log = `Error: failed? ${'at line 3. What now? '.repeat(100)}`;
  expect(partsOf(log)).toHaveLength(1);
  expect(partsOf('What is this?\n```\nwhat? how?\n```')).toHaveLength(1);
});

test('divides long and strange texts at once', () => {
  for (const text of [
    'and '.repeat(250),
    ', '.repeat(500),
    'how do I a, '.repeat(80),
    `what is ${'a and '.repeat(150)}`,
    '1. '.repeat(300),
  ])
    expect(partsOf(text).length).toBeGreaterThan(0);
});

test.each([
  ['What is a bundle, and how do I check it?', 'how do I check it?\na bundle'],
  [
    'How do I install the CLI on macOS and then create a database with it?',
    'How do I create a database with it?\nthe CLI',
  ],
  ['What plans exist? How do I revoke an API token?', 'How do I revoke an API token?'],
  ['Can I use it with Python? And with Rust?', 'with Rust?\nCan I use it'],
])('a part that refers back is searched with the subject of the part before it: %s', (question, query) => {
  expect(partQuery(partsOf(question), 1, [])).toBe(query);
});

test('the first part is searched with the questions before it, if it refers to them', () => {
  const earlier = [{ role: 'user' as const, text: 'How do I make a bundle?' }];
  expect(partQuery(['Where is it stored?', 'how do I delete it?'], 1, earlier)).toBe(
    'how do I delete it?\nWhere is it stored?\nHow do I make a bundle?',
  );
});

import { expect, test } from 'vitest';
import { extractAnswer } from './extract-answer.ts';
import { notInDocumentation, type PromptPassage } from './prompt-passages.ts';

const passage = (more: object) => ({
  url: '/keys#rotate',
  title: 'Keys › Rotate',
  relevance: 0.9,
  text: 'Rotate a key once a year.',
  ...more,
});

/** The answer to a question of one part. */
const answerTo = (question: string, passages: readonly PromptPassage[], ...earlier: string[]): string =>
  extractAnswer(question, [{ question, passages }], earlier);

test('quotes what answers, with a link to it', () => {
  expect(answerTo('How do I rotate a key?', [passage({})])).toBe(
    'Rotate a key once a year.\n\n[Keys › Rotate](/keys#rotate)',
  );
});

test('says so plainly when nothing is good enough, and names the nearest pages', () => {
  expect(answerTo('What is the capital of France?', [passage({ relevance: 0.45 })])).toBe(
    `${notInDocumentation}\n\nThe nearest pages are:\n\n- [Keys › Rotate](/keys#rotate)`,
  );
  expect(answerTo('Anything?', [])).toBe(notInDocumentation);
});

test('a section that is called like the question needs fewer words of it', () => {
  const found = [passage({ title: 'Master key › Resetting the master key', relevance: 0.43 })];
  expect(answerTo('I lost the master key', found)).toContain('once a year');
});

test('quotes a page once, its better section, and only links to others', () => {
  const answer = answerTo('rotate key', [
    passage({ url: '/keys', title: 'Keys', relevance: 0.5, text: 'About keys.' }),
    passage({ relevance: 1 }),
    passage({ url: '/other', title: 'Other', relevance: 0.9, text: 'Something else.' }),
  ]);
  expect(answer).toBe('Rotate a key once a year.\n\n[Keys › Rotate](/keys#rotate)\n\nSee also [Other](/other).');
});

test('the page that was found best is quoted, also where another has more of the words', () => {
  const answer = answerTo('rotate key', [
    passage({ relevance: 0.45, url: '/rotation', title: 'Changing', text: 'Change it.' }),
    passage({ relevance: 1 }),
  ]);
  expect(answer).toMatch(/^Change it\./);
});

test('prerequisites and further links of a page are not quoted, unless they were asked for', () => {
  const found = [
    passage({ url: '/keys#prerequisites', title: 'Keys › Prerequisites', text: 'You need an account.' }),
    passage({ url: '/keys', title: 'Keys', relevance: 0.8 }),
  ];
  expect(answerTo('use a key', found)).toContain('once a year');
  expect(answerTo('prerequisites of keys', found)).toContain('an account');
});

test('a question about how to start gets a page from its start', () => {
  const answer = answerTo('How do I get started?', [
    passage({ url: '/quickstart#stop', title: 'Quickstart › How to stop it', text: 'Ctrl-C stops the services.' }),
    passage({ url: '/quickstart', title: 'Quickstart', relevance: 0.2, text: 'Run this:\n\n```sh\nnpm start\n```' }),
  ]);
  expect(answer).toBe('Run this:\n\n```sh\nnpm start\n```\n\n[Quickstart](/quickstart)');
});

test('a follow-up is answered from the section that is called by its own words', () => {
  const found = [
    passage({ url: '/add', title: 'Add keys', text: 'Add a key.' }),
    passage({ url: '/all', title: 'All › Add a key', text: 'Add it.' }),
    passage({ url: '/all#delete', title: 'All › Delete keys', text: 'Delete a key.', relevance: 0.6 }),
  ];
  const earlier = 'How do I add a key?';
  expect(answerTo('and delete it?', found, earlier)).toMatch(/^Delete a key\./);
  const other = found.with(
    2,
    passage({ url: '/all#delete', title: 'All › Delete users', text: 'Delete a user.', relevance: 0.6 }),
  );
  expect(answerTo('and delete it?', other, earlier)).toMatch(/^Add/);
  expect(answerTo('and where is it?', found, earlier)).toMatch(/^Add/);
});

test('a question in another language is answered only from what is called so', () => {
  const found = [passage({ title: 'Headers › Encoding', text: 'The header indicates the type of it.', relevance: 1 })];
  expect(answerTo('¿Qué es un índice?', found)).toMatch(/^This is not in the documentation/);
  const called = [passage({ title: 'The bundle', text: 'A bundle is what you can unpack.', relevance: 1 })];
  expect(answerTo('Was ist ein Bundle?', called)).toMatch(/^A bundle is/);
});

test('a name is answered from the page that has a row for it', () => {
  const found = [
    passage({ url: '/api', title: 'API', text: 'Answers `invalid_key` and more.' }),
    passage({ url: '/errors', title: 'Errors', text: '| code | means |\n|---|---|\n| `invalid_key` | It is wrong. |' }),
  ];
  expect(answerTo('invalid_key', found)).toContain('| `invalid_key` | It is wrong. |');
  expect(answerTo('invalid keys', found)).toMatch(/^Answers/);
});

test('a whole page is quoted from its start, also where a later section has more of the words', () => {
  const text = '# Keys\n\n## macOS\n\nPress it.\n\n## Windows\n\nRotate the key here.';
  expect(answerTo('How do I rotate a key?', [passage({ url: '/keys', title: 'Keys', text })])).toBe(
    '**macOS**\n\nPress it.\n\n**Windows**\n\nRotate the key here.\n\n[Keys](/keys)',
  );
});

test('"this page" is answered with its sections, too', () => {
  const text = `# Keys\n\n> All about keys.\n\n## Make one\n\n${'It is long. '.repeat(200)}\n\n## Rotate\n\nPress.`;
  expect(answerTo('What is on this page?', [passage({ url: '/keys', title: 'Keys', text })])).toBe(
    '> All about keys.\n\nSections: Make one · Rotate\n\n[Keys](/keys)',
  );
});

test('"this page" is answered from its start', () => {
  const page = passage({
    url: '/keys',
    title: 'Keys',
    relevance: 1,
    text: '# Keys\n\n> All about keys.\n\nThey open doors.',
  });
  expect(answerTo('What is on this page?', [page])).toBe('> All about keys.\n\nThey open doors.\n\n[Keys](/keys)');
});

test('the text of a link cannot end it', () => {
  const answer = answerTo('rotate key', [passage({ title: 'Keys](https://example.com) [x' })]);
  expect(answer).toContain('[Keys\\](https://example.com) \\[x](/keys#rotate)');
});

test('one rare word of a question is not enough, if it is about half of it', () => {
  const franc = passage({ title: 'Dependencies', text: 'A package `franc` finds languages.', relevance: 0.52 });
  expect(answerTo('What is the capital of France?', [franc])).toContain(notInDocumentation);
  expect(answerTo('What is France?', [franc])).toContain('A package `franc`');
  const laptop = passage({ title: 'Quickstart', text: 'Start it on a laptop.', relevance: 0.7 });
  expect(answerTo('How do I try it on my laptop?', [laptop])).toContain('Start it');
});

test('a question in another language hears so, in an answer and where there is none', () => {
  const notice = 'Die gefundenen Seiten sind auf Englisch und werden nicht übersetzt.';
  const text = 'You can rotate a key once a year with the command.';
  const question = 'Wie kann ich einen key mit `rotate` tauschen?';
  expect(answerTo(question, [passage({ text })])).toBe(`${text}\n\n[Keys › Rotate](/keys#rotate)\n\n${notice}`);
  expect(answerTo(question, [passage({ text, relevance: 0.1 })])).toBe(
    `${notInDocumentation}\n\n${notice}\n\nThe nearest pages are:\n\n- [Keys › Rotate](/keys#rotate)`,
  );
});

test('each part of a question is answered from its own passages', () => {
  const make = passage({ url: '/make', title: 'Make a key', text: 'A key is made once.', relevance: 1 });
  const parts = [
    { question: 'What is a key?', passages: [make] },
    { question: 'how do I rotate it?', passages: [passage({}), make] },
    { question: 'how do I eat it?', passages: [passage({ relevance: 0.1, title: 'Other', url: '/other' })] },
  ];
  expect(extractAnswer('What is a key, how do I rotate it and how do I eat it?', parts)).toBe(
    [
      '**What is a key?**\n\nA key is made once.\n\n[Make a key](/make)',
      '**how do I rotate it?**\n\nRotate a key once a year.\n\n[Keys › Rotate](/keys#rotate)',
      '**how do I eat it?**\n\nNothing in the documentation answers this part.',
      'See also [Other](/other).',
    ].join('\n\n'),
  );
  const none = parts.map(({ question }) => ({ question, passages: [passage({ relevance: 0.1, title: 'Other' })] }));
  expect(extractAnswer('a and b', none)).toMatch(/^This is not in the documentation/);
});

test('parts with the same answer share it', () => {
  const found = [passage({ text: 'A key opens doors. Rotate it with the menu.' })];
  const parts = ['What is a key?', 'how do I rotate a key?'].map((question) => ({ question, passages: found }));
  const answer = extractAnswer('What is a key, and how do I rotate a key?', parts);
  expect(answer).toMatch(/^\*\*What is a key\?\*\*\\\n\*\*how do I rotate a key\?\*\*\n\nA key opens/);
  expect(answer.split('opens doors')).toHaveLength(2);
});

test('says which parts it leaves out', () => {
  const asked = Array.from({ length: 7 }, (_, at) => `What is key${at}?`);
  const parts = asked
    .slice(0, 5)
    .map((question) => ({ question, passages: [passage({ title: question, text: question })] }));
  expect(extractAnswer(asked.join(' '), parts)).toMatch(
    /The question has 7 parts. The first 5 are answered; ask the others again\.$/,
  );
});

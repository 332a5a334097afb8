import { generateText, streamText } from 'ai';
import { expect, test } from 'vitest';
import { extractAnswer, extractiveModel } from './extractive-model.ts';
import { notInDocumentation, writePromptPassages } from './prompt-passages.ts';

const prompt = `${writePromptPassages([
  {
    url: '/start#install',
    title: 'Start › Install',
    relevance: 1,
    text: 'Install it with one command, then start the server.',
  },
])}\n\nHow do I install it?`;

test('streams its answer in small pieces through the AI SDK', async () => {
  const result = streamText({ model: extractiveModel(), instructions: 'Answer.', prompt });
  const deltas: string[] = [];
  for await (const delta of result.textStream) deltas.push(delta);
  expect(deltas.length).toBeGreaterThan(3);
  expect(deltas.join('')).toBe(
    'Install it with one command, then start the server.\n\n[Start › Install](/start#install)',
  );
  expect(await result.finishReason).toBe('stop');
  expect((await result.usage).outputTokens).toBeGreaterThan(5);
});

test('gives the same answer whole', async () => {
  const streamed = await streamText({ model: extractiveModel(), prompt }).text;
  expect((await generateText({ model: extractiveModel(), prompt })).text).toBe(streamed);
});

test('stops when it is told to', async () => {
  const stop = new AbortController();
  const result = streamText({ model: extractiveModel(), prompt, abortSignal: stop.signal });
  let text = '';
  let aborted = false;
  for await (const part of result.stream) {
    if (part.type === 'text-delta') {
      text += part.text;
      stop.abort();
    }
    if (part.type === 'abort') aborted = true;
  }
  expect(aborted).toBe(true);
  expect(text).not.toContain('](/start#install)');
});

const passage = (more: object) => ({
  url: '/keys#rotate',
  title: 'Keys › Rotate',
  relevance: 0.9,
  text: 'Rotate a key once a year.',
  ...more,
});

test('quotes what answers, with a link to it', () => {
  expect(extractAnswer('How do I rotate a key?', [passage({})])).toBe(
    'Rotate a key once a year.\n\n[Keys › Rotate](/keys#rotate)',
  );
});

test('says so plainly when nothing is good enough, and names the nearest pages', () => {
  expect(extractAnswer('What is the capital of France?', [passage({ relevance: 0.45 })])).toBe(
    `${notInDocumentation}\n\nThe nearest pages are:\n\n- [Keys › Rotate](/keys#rotate)`,
  );
  expect(extractAnswer('Anything?', [])).toBe(notInDocumentation);
});

test('a section that is called like the question needs fewer words of it', () => {
  const found = [passage({ title: 'Master key › Resetting the master key', relevance: 0.43 })];
  expect(extractAnswer('I lost the master key', found)).toContain('once a year');
});

test('quotes a page once, its better section, and only links to others', () => {
  const answer = extractAnswer('rotate key', [
    passage({ url: '/keys', title: 'Keys', relevance: 0.5, text: 'About keys.' }),
    passage({ relevance: 1 }),
    passage({ url: '/other', title: 'Other', relevance: 0.9, text: 'Something else.' }),
  ]);
  expect(answer).toBe('Rotate a key once a year.\n\n[Keys › Rotate](/keys#rotate)\n\nSee also [Other](/other).');
});

test('the page that was found best is quoted, also where another has more of the words', () => {
  const answer = extractAnswer('rotate key', [
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
  expect(extractAnswer('use a key', found)).toContain('once a year');
  expect(extractAnswer('prerequisites of keys', found)).toContain('an account');
});

test('a question about how to start gets a page from its start', () => {
  const answer = extractAnswer('How do I get started?', [
    passage({ url: '/quickstart#stop', title: 'Quickstart › How to stop it', text: 'Ctrl-C stops the services.' }),
    passage({ url: '/quickstart', title: 'Quickstart', relevance: 0.2, text: 'Run this:\n\n```sh\nnpm start\n```' }),
  ]);
  expect(answer).toBe('Run this:\n\n```sh\nnpm start\n```\n\n[Quickstart](/quickstart)');
});

test('a follow-up is answered with the words of the questions before it, as it was searched', async () => {
  const passages = [
    passage({ url: '/keys#rotate', title: 'Keys › Rotate', text: 'Rotate a key once a year.' }),
    passage({ url: '/keys#windows', title: 'Keys › Windows', text: 'On Windows, open the menu.', relevance: 0.5 }),
  ];
  const messages = [
    { role: 'user' as const, content: 'How do I rotate a key?' },
    { role: 'assistant' as const, content: 'Once a year.' },
    { role: 'user' as const, content: `${writePromptPassages(passages)}\n\nCan you do it?` },
  ];
  const { text } = await generateText({ model: extractiveModel(), messages });
  expect(text).toMatch(/^Rotate a key once a year\./);
});

test('a follow-up is answered from the section that is called by its own words', () => {
  const found = [
    passage({ url: '/add', title: 'Add keys', text: 'Add a key.' }),
    passage({ url: '/all', title: 'All › Add a key', text: 'Add it.' }),
    passage({ url: '/all#delete', title: 'All › Delete keys', text: 'Delete a key.', relevance: 0.6 }),
  ];
  const searched = 'and delete it?\nHow do I add a key?';
  expect(extractAnswer('and delete it?', found, searched)).toMatch(/^Delete a key\./);
  const other = found.with(
    2,
    passage({ url: '/all#delete', title: 'All › Delete users', text: 'Delete a user.', relevance: 0.6 }),
  );
  expect(extractAnswer('and delete it?', other, searched)).toMatch(/^Add/);
  expect(extractAnswer('and where is it?', found, 'and where is it?\nHow do I add a key?')).toMatch(/^Add/);
});

test('a question in another language is answered only from what is called so', () => {
  const found = [passage({ title: 'Headers › Encoding', text: 'The header indicates the type of it.', relevance: 1 })];
  expect(extractAnswer('¿Qué es un índice?', found)).toMatch(/^This is not in the documentation/);
  const called = [passage({ title: 'The bundle', text: 'A bundle is what you can unpack.', relevance: 1 })];
  expect(extractAnswer('Was ist ein Bundle?', called)).toMatch(/^A bundle is/);
});

test('a name is answered from the page that has a row for it', () => {
  const found = [
    passage({ url: '/api', title: 'API', text: 'Answers `invalid_key` and more.' }),
    passage({ url: '/errors', title: 'Errors', text: '| code | means |\n|---|---|\n| `invalid_key` | It is wrong. |' }),
  ];
  expect(extractAnswer('invalid_key', found)).toContain('| `invalid_key` | It is wrong. |');
  expect(extractAnswer('invalid keys', found)).toMatch(/^Answers/);
});

test('a whole page is quoted from its start, also where a later section has more of the words', () => {
  const text = '# Keys\n\n## macOS\n\nPress it.\n\n## Windows\n\nRotate the key here.';
  expect(extractAnswer('How do I rotate a key?', [passage({ url: '/keys', title: 'Keys', text })])).toBe(
    '**macOS**\n\nPress it.\n\n**Windows**\n\nRotate the key here.\n\n[Keys](/keys)',
  );
});

test('"this page" is answered with its sections, too', () => {
  const text = `# Keys\n\n> All about keys.\n\n## Make one\n\n${'It is long. '.repeat(200)}\n\n## Rotate\n\nPress.`;
  expect(extractAnswer('What is on this page?', [passage({ url: '/keys', title: 'Keys', text })])).toBe(
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
  expect(extractAnswer('What is on this page?', [page])).toBe('> All about keys.\n\nThey open doors.\n\n[Keys](/keys)');
});

test('the text of a link cannot end it', () => {
  const answer = extractAnswer('rotate key', [passage({ title: 'Keys](https://example.com) [x' })]);
  expect(answer).toContain('[Keys\\](https://example.com) \\[x](/keys#rotate)');
});

test('a question in another language hears so, in an answer and where there is none', () => {
  const notice =
    'The question seems to be in German, and the passages that were found are in English. Names, codes and identifiers are found in any language; for other words, ask in English.';
  const text = 'You can rotate a key once a year with the command.';
  const question = 'Wie kann ich einen key mit `rotate` tauschen?';
  expect(extractAnswer(question, [passage({ text })])).toBe(`${text}\n\n[Keys › Rotate](/keys#rotate)\n\n${notice}`);
  expect(extractAnswer(question, [passage({ text, relevance: 0.1 })])).toBe(
    `${notInDocumentation}\n\n${notice}\n\nThe nearest pages are:\n\n- [Keys › Rotate](/keys#rotate)`,
  );
});

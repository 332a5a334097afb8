import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { newFolder } from '../../../test/support/new-folder.ts';
import { askedPage } from './domain-site.ts';
import { type AskedPage, readQuestions, siteQuestions, someOfEach } from './questions.ts';

let folder: string;
beforeAll(async () => {
  folder = newFolder();
});

async function read(text: string) {
  const file = join(folder, 'questions.jsonl');
  await writeFile(file, text);
  return readQuestions(file);
}

test('a file has a question a line, with one page or several', async () => {
  const lines = [
    { query: 'rotate a key', target: '/guides/keys' },
    {
      query: 'start',
      pages: ['/', '/start.html#a'],
      exclude: ['/x/'],
      kind: 'newcomer',
      language: 'en',
      site: 's',
      more: 1,
    },
  ];
  expect(await read(`${lines.map((line) => JSON.stringify(line)).join('\n')}\n\n`)).toEqual([
    { query: 'rotate a key', pages: ['guides/keys', 'guides/keys/index'], exclude: [], kind: 'question' },
    {
      ...{ query: 'start', pages: ['index', 'start', 'start/index'], exclude: ['x', 'x/index'] },
      ...{ kind: 'newcomer', language: 'en', site: 's' },
    },
  ]);
});

test.each([
  ['{"query":"a","target":"/b"}\nnonsense', /^Line 2 of .*questions\.jsonl is not a question: /],
  ['{"query":"a"}', /^Line 1 of .* is not a question: it must have "pages" or "target"\.$/],
  ['{"query":"","target":"/b"}', /^Line 1 of .* is not a question: "query" /],
  ['{"query":"a","pages":[7]}', /^Line 1 of .* is not a question: "pages\.0" /],
  ['\n', /has no questions\. Write one per line/],
])('%j is refused with a sentence', async (text, sentence) => {
  await expect(read(text)).rejects.toThrow(sentence);
});

test('a file that is not there is refused with a sentence', async () => {
  const file = join(folder, 'none.jsonl');
  await expect(readQuestions(file)).rejects.toThrow(`The questions in ${file} cannot be read: there is no such file.`);
});

const page = (path: string, title: string, more: Partial<AskedPage> = {}): AskedPage => ({
  path,
  title,
  links: [],
  ...more,
});

test('a site asks for its pages by links to them, titles and descriptions, where only one page is meant', () => {
  const description = 'Rotate and revoke the credentials of your workspace.';
  const questions = siteQuestions([
    page('index', 'Welcome', {
      links: [
        { to: 'keys', text: 'Rotating credentials' },
        { to: 'keys', text: 'API keys' },
        { to: 'keys', text: 'here' },
        { to: 'limits', text: 'the same words' },
        { to: 'index', text: 'back to myself' },
        { to: 'gone', text: 'a page that is gone' },
      ],
    }),
    page('guide', 'Guide', {
      links: [
        { to: 'keys', text: 'rotating  credentials' },
        { to: 'keys', text: 'the same words' },
      ],
    }),
    page('keys', 'API keys', { description }),
    page('limits', 'Limits', { description: 'Limits.' }),
    page('de/limits', 'Limits', { language: 'de' }),
    page('v1/guide', 'Guide'),
  ]);
  expect(questions).toEqual([
    // Both pages with the link are excluded for this question.
    { query: 'Rotating credentials', pages: ['keys'], exclude: ['index', 'guide'], kind: 'link-text' },
    { query: 'Welcome', pages: ['index'], exclude: [], kind: 'title' },
    { query: 'API keys', pages: ['keys'], exclude: [], kind: 'title' },
    { query: 'Limits', pages: ['limits'], exclude: [], kind: 'title' },
    { query: 'Limits', pages: ['de/limits'], exclude: [], kind: 'title', language: 'de' },
    { query: description, pages: ['keys'], exclude: [], kind: 'description' },
  ]);
});

test('some of many questions are asked, taken evenly from all', () => {
  const questions = ['a', 'b'].flatMap((kind) =>
    Array.from({ length: 10 }, (_, at) => ({ query: String(at), pages: ['p'], exclude: [], kind })),
  );
  expect(someOfEach(questions, 3).map(({ kind, query }) => kind + query)).toEqual(['a0', 'a3', 'a6', 'b0', 'b3', 'b6']);
  expect(someOfEach(questions, 99)).toHaveLength(20);
});

test('the Markdown of a page says its title, its description, and where it links to', () => {
  const markdown =
    '# Keys of `acme`\n\n> Rotate them\n> often.\n\nSee [the *limits*](/limits.md#a), [next](next?x=1), [out](https://x.example), [up](../start/), [mail](mailto:a@b.c).\n\n```\n[no](/no)\n```\n';
  expect(askedPage('guides/keys', markdown)).toEqual({
    ...{ path: 'guides/keys', title: 'Keys of acme', description: 'Rotate them\noften.' },
    links: [
      { to: 'limits', text: 'the limits' },
      { to: 'guides/next', text: 'next' },
      { to: 'start', text: 'up' },
    ],
  });
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { callerSchema } from '#shared/interfaces/internal/caller.ts';
import type { SearchIndex, SearchPage } from '#shared/search/search-index.ts';
import { sqliteSearchIndex } from '#shared/search/sqlite/sqlite-search-index.ts';
import { conceptVector } from '#shared/search/vectors/search-vectors.contract.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { findPassages } from './find-passages.ts';

const scope = { organization: 'acme', domain: 'docs', contentVersion: 'one' };
const caller = callerSchema.parse({
  requestId: 'req_1',
  organization: 'acme',
  organizationPlan: 'enterprise',
  domain: 'docs',
  groupTrust: 'claimed',
  trustedGroups: 'named',
  actor: { kind: 'service', id: 'test' },
  address: '127.0.0.1',
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
});

/** Each section is its heading and its text. */
function pageOf(path: string, title: string, ...sections: [heading: string, text: string][]): SearchPage {
  const shown = sections.map(([heading, text]) => (heading === '' ? text : `## ${heading}\n\n${text}`));
  return {
    ...{ path, key: path, title, names: [], keywords: [], groups: [], boost: 1, links: [] },
    markdown: [`# ${title}`, ...shown].join('\n\n'),
    passages: sections.map(([heading, text]) => ({ anchor: heading.toLowerCase(), heading, text })),
  };
}

let folder: string;
let searchIndex: SearchIndex;
beforeAll(async () => {
  folder = newFolder();
  searchIndex = sqliteSearchIndex(folder);
  const build = await searchIndex.startBuild(scope);
  const about = 'Rotate a key.';
  await build.add([
    pageOf('keys', 'Rotate a key', ['', about], ['Rotated', about], ['Rotates', about], ['Rotating', about]),
    pageOf('tokens', 'Rotate tokens', ['', about], ['Rotated', about], ['Rotating', about]),
    pageOf('audit', 'Audit', ['', 'Who did rotate which key is kept for long, with the time and the address.']),
    pageOf('cakes', 'Welcome to cakes', ['Gas', 'Bake a cake.'], ['Wood', 'Bake a cake.'], ['Power', 'Bake a cake.']),
    {
      ...pageOf('tutorial', 'Tutorial', ['', 'Bring a piano.'], ['Tune', 'Tune it with care.']),
      markdown: '# Tutorial\n\nTell nobody of the piano.',
      peoplesMarkdown: '# Tutorial\n\nBring a *piano*.\n\n## Tune\n\nTune it with **care**.',
    },
    pageOf('quickstart', 'Quickstart', ['', 'Bring a laptop.'], ['Start', 'Run this.'], ['Stop', 'Stop it.']),
  ]);
  await build.commit();
});
afterAll(() => searchIndex.close());

const find = async (text: string, retrievalPageSize?: number) => {
  const body = { context: null, currentPath: null, filter: null, retrievalPageSize };
  const { passages } = await findPassages({ searchIndex }, caller, scope, body, [{ role: 'user', text }]);
  return passages;
};

/** The passages that are found for the last question, after answers to the earlier ones. */
const findAfter = async (...said: [question: string, answer: string][]) => {
  const turns = said.flatMap(([question, answer]) => [
    { role: 'user' as const, text: question },
    { role: 'assistant' as const, text: answer },
  ]);
  const body = { context: null, currentPath: null, filter: null };
  const more = { role: 'user' as const, text: 'Tell me more about that' };
  const { passages } = await findPassages({ searchIndex }, caller, scope, body, [...turns, more]);
  return passages.map(({ url }) => url);
};

test('three pages are among what is found, however many sections of the best one fit', async () => {
  const urls = (await find('rotate a key')).map(({ url }) => url);
  expect(urls).toHaveLength(5);
  expect(new Set(urls.map((url) => url.split('#')[0]))).toEqual(new Set(['/keys', '/tokens', '/audit']));
  expect(await find('rotate a key', 2)).toHaveLength(2);
});

test('"what is" reads the page that is called so from its start', async () => {
  expect((await find('What are cakes?'))[0]).toMatchObject({
    url: '/cakes',
    text: expect.stringMatching(/^# Welcome/),
  });
});

test('answers rest on what people read, not on what is for agents', async () => {
  expect((await find('how do I get started with a piano'))[0]?.text).toMatch(/^# Tutorial\n\nBring a \*piano\*\./);
  expect((await find('tune with care'))[0]).toMatchObject({ url: '/tutorial#tune', text: 'Tune it with **care**.' });
});

test('sections that say as much as each other, and are not called like the question, are the whole page', async () => {
  const [first, ...others] = await find('bake a cake');
  expect(first).toMatchObject({ url: '/cakes', text: expect.stringContaining('## Gas\n\nBake a cake.') });
  expect(others.map(({ url }) => url)).not.toContain('/cakes#gas');
  expect((await find('bake a cake with gas'))[0]?.url).toBe('/cakes#gas');
});

test('more of what was asked comes from pages that are new, also if an answer named them to read on', async () => {
  const answer = 'Press it.\n\n[Rotate a key](/keys)\n\nSee also [Rotate tokens](/tokens), [Audit](/audit).';
  const urls = await findAfter(['rotate a key', answer]);
  expect(urls[0]).toMatch(/^\/tokens/);
  expect(urls).toContain('/tokens');
  expect(urls).not.toContain('/keys');
});

test('a question about how to start gets the best page from its start, with all its headings', async () => {
  const [first] = await find('how do I get started on my laptop');
  expect(first).toMatchObject({ url: '/quickstart', text: expect.stringContaining('## Start\n\nRun this.') });
});

test('a question is compared by its meaning, too, where it has a vector', async () => {
  const own = { ...scope, contentVersion: 'vectors' };
  const build = await searchIndex.startBuild(own);
  await build.add([
    pageOf('garage', 'Garage', ['', 'Where cars are parked.']),
    pageOf('pets', 'Pets', ['', 'Dogs bark.']),
    pageOf('billing', 'Billing', ['', 'Invoices are sent.']),
  ]);
  await build.commit();
  const vectors = await searchIndex.startVectors?.(own, 'concepts');
  await vectors?.add(new Map([...vectors.missing].map(([digest, text]) => [digest, conceptVector(text)])));
  await vectors?.commit();
  const body = { context: null, currentPath: null, filter: null };
  const asked: string[] = [];
  const embedQuestion = async (question: string) => {
    asked.push(question);
    return { model: 'concepts', vector: conceptVector(question) };
  };
  const turns = [{ role: 'user' as const, text: 'Room for an automobile?' }];
  const byWords = await findPassages({ searchIndex }, caller, own, body, turns);
  expect(byWords.passages).toEqual([]);
  const late = await findPassages({ searchIndex, embedQuestion: async () => undefined }, caller, own, body, turns);
  expect(late.passages).toEqual([]);
  const { passages } = await findPassages({ searchIndex, embedQuestion }, caller, own, body, turns);
  expect(passages.map(({ url }) => url)).toEqual(['/garage']);
  expect(asked).toEqual(['Room for an automobile?']);
});

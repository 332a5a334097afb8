import pino from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Embedder, EmbedderRefused, EmbedderUnavailable, TextsRefused } from '#shared/embedding/embedder.ts';
import { NewerMessage } from '#shared/runtime/failures.ts';
import { contentLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { type SearchIndex, type SearchPage, SearchUnavailable } from '#shared/search/search-index.ts';
import { conceptVector } from '#shared/search/vectors/search-vectors.contract.ts';
import { sqliteSearchIndex } from '#shared/search/sqlite/sqlite-search-index.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { type VectorContext, vectorKeeper } from './keep-vectors.ts';

const never = new AbortController().signal;
const domain = 'docs';

let folder: string;
let index: SearchIndex;
/** The searched versions, by organization. */
let searched: Map<string, string>;
let sent: string[];
/** Simulates a failure of the embedder; it gets the texts of a call. */
let trouble: ((texts: readonly string[]) => Error | undefined) | undefined;
let time: number;
let logged: string;
let keeper: ReturnType<typeof vectorKeeper>;

beforeEach(async () => {
  folder = newFolder();
  index = sqliteSearchIndex(folder);
  [searched, sent, trouble, time, logged] = [new Map(), [], undefined, 0, ''];
  keeper = vectorKeeper(contextOf(index));
});
afterEach(checkLog);
afterEach(() => index.close());

/** The log must not contain texts of pages. */
function checkLog(): void {
  expect(logged).not.toContain('parked');
}

const embedder: Embedder = {
  ...{ name: 'concepts', dimensions: undefined, limits: { texts: 4, characters: 10_000 } },
  async embed(texts) {
    const error = trouble?.(texts);
    if (error !== undefined) throw error;
    sent.push(...texts);
    return texts.map(conceptVector);
  },
};

function contextOf(searchIndex: SearchIndex): VectorContext {
  const { startVectors = () => expect.unreachable() } = searchIndex;
  const content = {
    subjects: async () => [...searched.keys()].map((organization) => contentLogSubject(organization, domain)),
    last: async (subject: string) => {
      if (subject === contentLogSubject('unreadable', domain))
        throw new NewerMessage('It has an event of a newer version.');
      const [organization, contentVersion] =
        [...searched].find(([each]) => contentLogSubject(each, domain) === subject) ?? [];
      return { commit: { data: { state: { organization, domain, searched: contentVersion } } } };
    },
  };
  const logger = pino({}, { write: (line: string) => void (logged += line) });
  const bus = { content } as unknown as VectorContext['bus'];
  return { bus, searchIndex: { startVectors }, embedder, logger, now: () => time };
}

const pageOf = (path: string, ...texts: string[]): SearchPage => ({
  ...{ path, title: path, names: [], keywords: [], groups: [], boost: 1, key: texts.join(), links: [], markdown: '' },
  passages: texts.map((text, at) => ({ anchor: `a${at}`, heading: '', text })),
});

/** Publishes as the indexer does: from then on the version is searched by words. */
async function publish(organization: string, contentVersion: string, ...pages: SearchPage[]): Promise<void> {
  const build = await index.startBuild({ organization, domain, contentVersion }, { from: searched.get(organization) });
  await build.add(pages);
  await build.commit();
  searched.set(organization, contentVersion);
}

const meaning = { model: 'concepts', vector: conceptVector('automobile') };
const found = async (organization: string, query = 'automobile'): Promise<string[]> => {
  const scope = { organization, domain, contentVersion: searched.get(organization) ?? '' };
  return (await index.search({ ...scope, query, meaning, limit: 10 })).map(({ path }) => path);
};

const site = [pageOf('driving', 'Cars are parked.'), pageOf('pets', 'Dogs bark.', 'Dogs eat.')];

test('searched versions get vectors, and each text is sent once, also for later versions', async () => {
  await publish('acme', 'cv_1', ...site, pageOf('more', 'Cars are parked.'));
  expect(await found('acme')).toEqual([]);
  expect(await keeper.round(never)).toBe(10_000);
  expect(await found('acme')).toEqual(['driving', 'more']);
  expect(sent.toSorted()).toEqual([
    'driving\nCars are parked.',
    'more\nCars are parked.',
    'pets\nDogs bark.',
    'pets\nDogs eat.',
  ]);
  await keeper.round(never);
  expect(sent).toHaveLength(4);
  await publish('acme', 'cv_2', ...site, pageOf('more', 'Cars are washed.'));
  await keeper.round(never);
  expect(sent.slice(4)).toEqual(['more\nCars are washed.']);
  expect(logged).toContain('searched by meaning');
});

test('while the embedder is away, words are searched; vectors follow when it is back, and what was made before is not made again', async () => {
  await publish('acme', 'cv_1', ...site, pageOf('a', 'Parked one.', 'Parked two.', 'Parked three.'));
  let calls = 0;
  trouble = () => {
    calls += 1;
    return calls > 1 ? new EmbedderUnavailable('away') : undefined;
  };
  const pauses = [await keeper.round(never), await keeper.round(never), await keeper.round(never)];
  expect(pauses).toEqual([5_000, 10_000, 20_000]);
  expect(sent).toHaveLength(4);
  expect(await found('acme', 'bark')).toContain('pets');
  expect(await found('acme')).toEqual(['driving']);
  trouble = () => new EmbedderUnavailable('busy', 77_000);
  expect(await keeper.round(never)).toBe(77_000);
  trouble = undefined;
  expect(await keeper.round(never)).toBe(10_000);
  expect(new Set(sent).size).toBe(sent.length);
  expect(sent).toHaveLength(6);
});

test('a refusal is said once in a while, and words are searched meanwhile', async () => {
  await publish('acme', 'cv_1', ...site);
  trouble = () => new EmbedderRefused('The embedder answered 401.');
  expect(await keeper.round(never)).toBe(900_000);
  expect(await found('acme', 'bark')).toEqual(['pets']);
  expect(logged).toContain('answered 401');
});

test('a fault of one organization does not delay others', async () => {
  const broken: SearchIndex = {
    ...index,
    startVectors: async (scope, model) => {
      if (scope.organization === 'broken') throw new SearchUnavailable('This file cannot be read.');
      return index.startVectors?.(scope, model);
    },
  };
  keeper = vectorKeeper(contextOf(broken));
  searched.set('unreadable', 'cv_1');
  for (const organization of ['broken', 'poisonous', 'well']) await publish(organization, 'cv_1', ...site);
  await publish('poisonous', 'cv_2', pageOf('poison', 'Poison for cars.'));
  trouble = (texts) =>
    texts.some((text) => text.includes('Poison')) ? new EmbedderUnavailable('It dies.') : undefined;
  await keeper.round(never);
  await keeper.round(never);
  expect(await found('well')).toEqual(['driving']);
  expect(await found('poisonous', 'poison')).toEqual(['poison']);
  expect(await found('broken', 'bark')).toEqual(['pets']);
  const before = sent.length;
  keeper = vectorKeeper(contextOf(index));
  trouble = undefined;
  await keeper.round(never);
  expect(await found('broken')).toEqual(['driving']);
  expect(await found('poisonous')).toEqual(['poison']);
  expect(sent.length).toBe(before + 4);
});

test('a large site does not keep a small one waiting, and one that is published meanwhile has its turn', async () => {
  const large = Array.from({ length: 20 }, (_, at) =>
    pageOf(`p${at}`, ...Array.from({ length: 60 }, (__, part) => `Cars parked at ${at} ${part}.`)),
  );
  await publish('large', 'cv_1', ...large);
  await publish('small', 'cv_1', ...site);
  await publish('late', 'cv_1', pageOf('late', 'Late and parked.'));
  searched.delete('late');
  trouble = () => void (sent.length >= 600 && searched.set('late', 'cv_1'));
  await keeper.round(never);
  expect(sent.findIndex((text) => text.startsWith('driving'))).toBe(512);
  expect(sent.findIndex((text) => text.startsWith('late'))).toBe(1_027);
  expect(sent).toHaveLength(1_204);
});

test('a text that is refused is left out; a model that refuses all is wrong', async () => {
  await publish('acme', 'cv_1', ...site, pageOf('odd', 'Odd and parked.'));
  trouble = (texts) => (texts.some((text) => text.startsWith('odd')) ? new TextsRefused('not this') : undefined);
  expect(await keeper.round(never)).toBe(10_000);
  expect(await found('acme')).toEqual(['driving']);
  expect(sent).toHaveLength(3);
  time += 3_600_000;
  trouble = undefined;
  await keeper.round(never);
  expect(sent).toHaveLength(3);
  const many = Array.from({ length: 12 }, (_, at) => `Cars parked ${at}.`);
  await publish('globex', 'cv_1', pageOf('many', ...many));
  trouble = () => new TextsRefused('none');
  const patient = vectorKeeper({
    ...contextOf(index),
    embedder: { ...embedder, limits: { texts: 32, characters: 9_999 } },
  });
  expect(await patient.round(never)).toBe(900_000);
  trouble = undefined;
  await patient.round(never);
  expect(await found('globex')).toEqual([
    'many',
    'many',
    'many',
    'many',
    'many',
    'many',
    'many',
    'many',
    'many',
    'many',
  ]);
});

test('ends when it is told to', async () => {
  await publish('acme', 'cv_1', ...site);
  const stop = new AbortController();
  trouble = () => {
    stop.abort(new Error('The service stops.'));
    return new EmbedderUnavailable('cut');
  };
  await expect(keeper.round(stop.signal)).rejects.toThrow('The service stops.');
});

import { expect, test } from 'vitest';
import { heldBytes } from '../../../test/support/held-bytes.ts';
import { elasticsearchCandidates } from './elasticsearch-candidates.ts';
import type { ElasticsearchCall, ElasticsearchIndex } from './elasticsearch-connection.ts';
import type { PassageDocument, VersionDocument } from './elasticsearch-schema.ts';

const scope = { organization: 'acme', domain: 'docs', contentVersion: 'cv_1' };
const none = { title: 0, path: 0, heading: 0, text: 0 };
const version: VersionDocument = {
  ...scope,
  ...{
    kind: 'searched',
    build: 'b',
    shape: 9,
    documentCount: 1,
    passageCount: 1,
    averageLength: none,
    averagePageLength: 1,
  },
  facets: { versions: [], languages: [], tags: [] },
};
const pageCount = 100;

/** The cluster's answer: a passage of each page, and no link. */
const passage = (at: number): PassageDocument => ({
  ...scope,
  ...{ kind: 'passage', build: 'b', position: 0 },
  filters: { path: `p${at}`, language: '', version: '', groups: [] },
  terms: { title: 'page', path: 'p', heading: '', text: 'word' },
  rank: { path: `p${at}`, boost: 1, title: 'page', names: '', keywords: '', textLength: 1 },
  shown: { title: 'Page', anchor: '', heading: '', text: 'word' },
});
const answers: Record<string, unknown> = {
  'send documents': undefined,
  'count links': { aggregations: { targets: { buckets: [] } } },
};
const found = Array.from({ length: pageCount }, (_, at) => ({
  fields: { 'filters.path': [`p${at}`], position: [0] },
}));

test('readers who name many groups with long names take little memory', async () => {
  const call = (async (what, _within, ask) => {
    if (what === 'send documents') {
      const client = {
        mget: async ({ ids }: { ids: string[] }) => ({
          docs: ids.map((_id, at) => ({ _id, found: true, _source: passage(at) })),
        }),
      };
      return ask(client as never, {} as never);
    }
    if (what !== 'search') return answers[what];
    const client = {
      search: async ({ query }: { query: { bool: { must?: object } } }) => ({
        hits: { hits: JSON.stringify(query.bool.must).includes('terms.link') ? [] : found },
      }),
    };
    return ask(client as never, {} as never);
  }) as ElasticsearchCall;
  const index: ElasticsearchIndex = {
    call,
    alias: 'alias',
    signal: undefined,
    writeWithinMs: 1_000,
    until: () => index,
  };
  const candidates = elasticsearchCandidates('elasticsearch', 1_000);
  const search = async (reader: number) => {
    const groups = Array.from({ length: 100 }, (_, at) => `${reader}-${at} `.padEnd(200, 'x'));
    const query = { ...scope, query: 'word', limit: 10, filter: { groups } };
    return candidates.find(index, version, ['word'], query);
  };
  expect(await search(0)).toHaveLength(pageCount);
  const before = heldBytes();
  for (let reader = 1; reader <= 50; reader += 1) await search(reader);
  // There are 5,000 cached counts of links. When each key contained the names of the reader's groups, they took 100 MB.
  expect(heldBytes() - before).toBeLessThan(20_000_000);
});

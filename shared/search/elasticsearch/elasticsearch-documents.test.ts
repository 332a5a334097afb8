import { expect, test } from 'vitest';
import { SearchUnavailable } from '#shared/search/search-index.ts';
import type { ElasticsearchIndex } from './elasticsearch-connection.ts';
import { everyHit } from './elasticsearch-documents.ts';

const scope = { organization: 'acme', domain: 'docs', contentVersion: 'cv_1' };

/** An index whose searches get these answers in turn, and then the last one again. */
function answering(...answers: object[]): ElasticsearchIndex {
  let asked = 0;
  const search = async () => {
    asked += 1;
    if (asked > 100) expect.unreachable('the list has no end');
    return answers[Math.min(asked, answers.length) - 1];
  };
  const call: ElasticsearchIndex['call'] = (_what, _withinMs, ask) => ask({ search } as never, {} as never);
  const index: ElasticsearchIndex = { call, alias: 'x', signal: undefined, writeWithinMs: 1_000, until: () => index };
  return index;
}
const page = (...names: string[]) => ({ hits: { hits: names.map((name) => ({ _source: name, sort: [name] })) } });

async function all(index: ElasticsearchIndex): Promise<unknown[]> {
  const found: unknown[] = [];
  const request = { size: 2, sort: [{ 'filters.path': 'asc' as const }] };
  for await (const { _source } of everyHit(index, scope, 'read passages', 1_000, request)) found.push(_source);
  return found;
}

test('a list is read page by page to its end', async () => {
  expect(await all(answering(page('a', 'b'), page('c', 'd'), page('e')))).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(await all(answering(page()))).toEqual([]);
});

test.each([
  ['the same page again and again', [page('a', 'b')]],
  ['two pages in turn', [page('a', 'b'), page('c', 'd'), page('a', 'b')]],
  ['no list', [{}]],
  ['something else in the list', [{ hits: { hits: [null] } }]],
])('a cluster that sends %s is unavailable', async (_, answers) => {
  await expect(all(answering(...answers))).rejects.toThrow(SearchUnavailable);
});

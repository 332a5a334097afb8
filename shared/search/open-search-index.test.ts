import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '#shared/runtime/config.ts';
import { openSearchIndex, searchSettings } from './open-search-index.ts';
import { SearchUnavailable } from './search-index.ts';

const open = (environment: Record<string, string>) => openSearchIndex(loadConfig(searchSettings, environment));

test('without settings it is in the data folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bindery-open-search-'));
  const index = await open({ BINDERY_DATA: folder });
  await index.check('build');
  await index.close();
  await rm(folder, { recursive: true });
});

test('settings that do not go together are refused, with the variable that is missing', async () => {
  const elasticsearch = { BINDERY_SEARCH_ENGINE: 'elasticsearch' };
  await expect(open(elasticsearch)).rejects.toThrow('needs BINDERY_ELASTICSEARCH_URL');
  const address = { ...elasticsearch, BINDERY_ELASTICSEARCH_URL: 'http://127.0.0.1:1' };
  await expect(open({ ...address, BINDERY_ELASTICSEARCH_USERNAME: 'x' })).rejects.toThrow(
    'needs BINDERY_ELASTICSEARCH_PASSWORD',
  );
  const user = { BINDERY_ELASTICSEARCH_USERNAME: 'x', BINDERY_ELASTICSEARCH_PASSWORD: 'y' };
  await expect(open({ ...address, ...user, BINDERY_ELASTICSEARCH_API_KEY: 'z' })).rejects.toThrow('not both');
});

test('addresses are those of nodes, without secrets in them', () => {
  const { schema } = searchSettings.elasticsearchUrl;
  for (const right of ['http://elasticsearch:9200', 'https://a.internal:9200, https://b.internal:9200'])
    expect(schema.parse(right)).toBe(right);
  for (const wrong of ['elasticsearch:9200', 'https://user:secret@a.internal', 'http://a,', ''])
    expect(schema.safeParse(wrong).success).toBe(false);
});

test.each(['elasticsearch', 'opensearch'])(
  'an %s that does not answer is unavailable, in every call',
  async (engine) => {
    const index = await open({ BINDERY_SEARCH_ENGINE: engine, BINDERY_ELASTICSEARCH_URL: 'http://127.0.0.1:1' });
    const scope = { organization: 'acme', domain: 'docs', contentVersion: 'cv_1' };
    const calls = [
      () => index.search({ ...scope, query: 'anything', limit: 5 }),
      () => index.findPage(scope, 'index', []),
      () => index.facets(scope),
      () => index.passageCount(scope),
      () => index.startBuild(scope),
      () => index.remove(scope),
      () => index.check('search'),
      () => index.check('build'),
    ];
    for (const call of calls) await expect(call()).rejects.toThrow(SearchUnavailable);
    await index.close();
  },
);

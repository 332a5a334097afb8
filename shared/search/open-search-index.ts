import { join } from 'node:path';
import { z } from 'zod';
import { dataFolderSettings } from '#shared/service/common-settings.ts';
import { type ConfigOf, secretSetting, setting, textOfFile, wholeNumber } from '#shared/runtime/config.ts';
import type { ElasticsearchSettings } from '#shared/search/elasticsearch/elasticsearch-connection.ts';
import type { SearchIndex } from './search-index.ts';

/**
 * Settings of the search index: SQLite files in the folder `search` of the data folder, or an Elasticsearch or OpenSearch cluster shared by
 * all machines.
 */
export const searchSettings = {
  ...dataFolderSettings,
  searchEngine: setting(
    'BINDERY_SEARCH_ENGINE',
    z.enum(['sqlite', 'elasticsearch', 'opensearch']).default('sqlite'),
    'search engine: sqlite (files in the data folder), elasticsearch or opensearch; the same for indexer and assistant',
  ),
  elasticsearchUrl: setting(
    'BINDERY_ELASTICSEARCH_URL',
    z
      .string()
      .refine(areNodeUrls, 'must be http:// or https:// addresses, comma-separated, without user and password')
      .optional(),
    'addresses of the nodes of Elasticsearch or OpenSearch, comma-separated',
  ),
  elasticsearchUsername: setting(
    'BINDERY_ELASTICSEARCH_USERNAME',
    z.string().optional(),
    'user of Elasticsearch or OpenSearch; if absent, none is sent',
  ),
  elasticsearchPassword: secretSetting(
    'BINDERY_ELASTICSEARCH_PASSWORD',
    z.string().optional(),
    'password of that user',
  ),
  elasticsearchApiKey: secretSetting(
    'BINDERY_ELASTICSEARCH_API_KEY',
    z.string().optional(),
    'encoded API key of Elasticsearch, instead of user and password',
  ),
  elasticsearchAuthoritiesFile: setting(
    'BINDERY_ELASTICSEARCH_CA_FILE',
    z.string().optional(),
    'file with the certificates (PEM) of the authorities that sign for Elasticsearch or OpenSearch; if absent, the authorities that Node trusts',
  ),
  elasticsearchPrefix: setting(
    'BINDERY_ELASTICSEARCH_INDEX_PREFIX',
    z
      .string()
      .regex(/^[a-z0-9][a-z0-9_-]{0,100}$/, 'must have lower-case letters, digits, hyphens and underscores')
      .default('bindery'),
    'prefix of the name of the index; different for each installation that shares a cluster',
  ),
  elasticsearchShards: setting(
    'BINDERY_ELASTICSEARCH_SHARDS',
    wholeNumber(1, 1_000).default(1),
    'number of shards of a new index; each domain is on one of them',
  ),
  elasticsearchReplicas: setting(
    'BINDERY_ELASTICSEARCH_REPLICAS',
    wholeNumber(0, 20).default(1),
    'number of replicas of each shard of a new index; 0 for a cluster of one node',
  ),
};

function areNodeUrls(text: string): boolean {
  return nodesOf(text).every((node) => {
    const url = URL.parse(node);
    return url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === '';
  });
}

const nodesOf = (text: string): string[] => text.split(',').map((node) => node.trim());

/**
 * Opens the search index that the settings name. Nothing is contacted: `check` tells whether it can be used.
 * @throws a sentence that names the variable when settings contradict each other or the file of authorities cannot be read
 */
export async function openSearchIndex(config: ConfigOf<typeof searchSettings>): Promise<SearchIndex> {
  // The modules are loaded on demand: reading the settings must not load SQLite, and the client costs memory.
  if (config.searchEngine === 'sqlite') {
    const { sqliteSearchIndex } = await import('#shared/search/sqlite/sqlite-search-index.ts');
    return sqliteSearchIndex(join(config.dataFolder, 'search'));
  }
  return (await import('#shared/search/elasticsearch/elasticsearch-search-index.ts')).elasticsearchSearchIndex(
    await elasticsearchSettings(config),
  );
}

/**
 * The connection settings of the configured cluster.
 * @throws as `openSearchIndex`
 */
export async function elasticsearchSettings(config: ConfigOf<typeof searchSettings>): Promise<ElasticsearchSettings> {
  const { elasticsearchAuthoritiesFile: file } = config;
  const product = config.searchEngine === 'opensearch' ? 'opensearch' : 'elasticsearch';
  if (config.elasticsearchUrl === undefined) {
    throw new Error(`BINDERY_SEARCH_ENGINE=${product} needs BINDERY_ELASTICSEARCH_URL: the addresses of its nodes`);
  }
  return {
    product,
    nodes: nodesOf(config.elasticsearchUrl),
    auth: authOf(config),
    authorities: file === undefined ? undefined : textOfFile('BINDERY_ELASTICSEARCH_CA_FILE', file),
    prefix: config.elasticsearchPrefix,
    shards: config.elasticsearchShards,
    replicas: config.elasticsearchReplicas,
  };
}

function authOf(config: ConfigOf<typeof searchSettings>) {
  const { elasticsearchUsername: username, elasticsearchPassword: password, elasticsearchApiKey: apiKey } = config;
  if (apiKey !== undefined && username !== undefined) {
    throw new Error('Set BINDERY_ELASTICSEARCH_API_KEY, or BINDERY_ELASTICSEARCH_USERNAME, but not both');
  }
  if (apiKey !== undefined) return { apiKey };
  // The folders of "bindery secrets" contain a password for the Elasticsearch of the Compose file. Without a user it is ignored.
  if (username === undefined) return undefined;
  if (password === undefined) throw new Error('BINDERY_ELASTICSEARCH_USERNAME needs BINDERY_ELASTICSEARCH_PASSWORD');
  return { username, password };
}

import { join } from 'node:path';
import { dataFolderSettings } from '#shared/runtime/common-settings.ts';
import type { ConfigOf } from '#shared/runtime/config.ts';
import type { SearchIndex } from './search-index.ts';

/** The embedded index is the folder `search` of the data folder. */
export const searchSettings = { ...dataFolderSettings };

/** Opens the search index that the settings name. */
export async function openSearchIndex(config: ConfigOf<typeof searchSettings>): Promise<SearchIndex> {
  // Loaded when needed: reading the settings must not load SQLite.
  const { sqliteSearchIndex } = await import('./sqlite-search-index.ts');
  return sqliteSearchIndex(join(config.dataFolder, 'search'));
}

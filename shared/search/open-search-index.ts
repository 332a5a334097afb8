import { join } from 'node:path';
import { dataFolderSettings } from '#shared/runtime/common-settings.ts';
import type { ConfigOf } from '#shared/runtime/config.ts';
import type { SearchIndex } from './search-index.ts';
import { sqliteSearchIndex } from './sqlite-search-index.ts';

/** The search index of the settings. */
export function openSearchIndex(config: ConfigOf<typeof searchSettings>): SearchIndex {
  return sqliteSearchIndex(join(config.dataFolder, 'search'));
}

/** The embedded index is the folder `search` of the data folder. */
export const searchSettings = { ...dataFolderSettings };

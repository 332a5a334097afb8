import { join } from 'node:path';
import type { ConfigOf } from '#shared/config/setting.ts';
import type { SearchIndex } from './search-index.ts';
import type { searchSettings } from './search-settings.ts';
import { sqliteSearchIndex } from './sqlite-search-index.ts';

/** The search index of the settings. */
export function openSearchIndex(config: ConfigOf<typeof searchSettings>): SearchIndex {
  return sqliteSearchIndex(join(config.dataFolder, 'search'));
}

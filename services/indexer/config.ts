import { embedderSettings } from '#shared/embedding/open-embedder.ts';
import { serviceSettings } from '#shared/service/common-settings.ts';
import { type ConfigOf, setting, wholeNumber } from '#shared/runtime/config.ts';
import { searchSettings } from '#shared/search/open-search-index.ts';

export const indexerSettings = {
  ...serviceSettings('indexer'),
  ...searchSettings,
  ...embedderSettings,
  slots: setting(
    'BINDERY_INDEXER_SLOTS',
    wholeNumber(1, 64).default(1),
    'pages that the indexer reads at the same time, each in its own child process',
  ),
};

export type IndexerConfig = ConfigOf<typeof indexerSettings>;

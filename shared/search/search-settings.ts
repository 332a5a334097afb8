import { dataFolderSettings } from '#shared/config/common-settings.ts';

/** The embedded index is the folder `search` of the data folder. */
export const searchSettings = { ...dataFolderSettings };

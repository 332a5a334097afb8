import type { ExportOptions } from '#shared/contracts/export-options.ts';

/** What of an export's options may show in bytes. An export plan fits as it is. The deployment type shows in `_bindery/config.js` only. */
export type RenderOptions = Pick<ExportOptions, 'onPageError' | 'allowTenantScripts' | 'deployment'> & {
  groups: readonly string[];
};

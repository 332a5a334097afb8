import { toApiError } from '#shared/http/errors.ts';
import type { DocsSource } from './docs-source.ts';

/** The sentence about an error that a reader may see. An error that is not the reader's is also reported. */
export function saidError(error: unknown, { onFailure }: Pick<DocsSource, 'onFailure'>): string {
  const said = toApiError(error);
  if (said.status >= 500) onFailure(error);
  return said.code === 'internal' ? 'Something failed on the server. Try again later.' : said.message;
}

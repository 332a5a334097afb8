import { existsSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const fastmcp = join(root, '../shared/corpus/fastmcp');

/** A real project of 444 pages where the corpus is at hand, else our own documentation. */
export const largestProject = existsSync(fastmcp)
  ? { name: 'fastmcp', folder: fastmcp }
  : { name: 'our own documentation', folder: join(root, 'infra/docs') };

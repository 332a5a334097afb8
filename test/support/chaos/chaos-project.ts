import { existsSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');
const mintlify = join(root, '../shared/corpus/mintlify-docs');

/** The project that long runs export: the largest of the corpus where that is at hand, else our own documentation. */
export const chaosProject = existsSync(mintlify)
  ? { name: 'mintlify-docs', folder: mintlify }
  : { name: 'our own documentation', folder: join(root, 'infra/docs') };

/* `npm run docs:reference` writes the pages of our documentation that are generated from the code; a test fails while they are out of date. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { referencePages } from './reference-pages.ts';

for (const [path, text] of Object.entries(await referencePages())) {
  const file = join(import.meta.dirname, '../../../infra/docs', path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  process.stdout.write(`infra/docs/${path}\n`);
}

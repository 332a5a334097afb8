/* `npm run docs:reference` writes the pages of our documentation that are made from code; a test says when it is time. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { referencePages } from './reference-pages.ts';

for (const [path, text] of Object.entries(await referencePages())) {
  const file = join(import.meta.dirname, '../docs', path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  process.stdout.write(`infra/docs/${path}\n`);
}
